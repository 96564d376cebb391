// Abuse of the Tinker protocol: calls that there are not, numbers that come twice, what belongs to others.
import { legal, parsed, recordOf, refused } from './judge.ts'
import { askAs, type Attempt, type Kind, judged, listOf, post, type Tried } from './kinds.ts'
import { api, calling, getting, placeOf } from './tinker-fields.ts'

/** Calls that there are not, and lists with bounds that make no sense. */
export const calls: Kind = listOf('calls that there are not', () => {
  const none = refused(/no such call|address/, 400, 404)
  const names = [
    'forward_backwards',
    'Forward',
    '__proto__',
    'constructor',
    'create_model/1',
    'telemetry%00',
    'eval',
    '..%2fetc',
  ]
  const foreign = [
    'publish_checkpoint',
    'archive',
    'billing',
    'projects',
    'sparse',
    'forward_backward_custom',
    'exec',
    '.git/config',
  ]
  return [
    ...[...names, ...foreign].map((name) => calling(name, none, name, {})),
    ...['healthz', 'training_runs', 'checkpoints', 'get_server_capabilities'].map((name) =>
      calling(`POST ${name}`, none, name, {}),
    ),
    ...['create_session', 'forward_backward', 'asample', 'optim_step'].map((name) => getting(name, none)),
    ...[
      'limit=-1',
      'limit=abc',
      'limit=1.5',
      'offset=-5',
      'offset=x',
      'limit=',
      'limit=1e400',
      'limit=5&offset=NaN',
    ].map((query) => getting(`training_runs?${query}`, refused(/limit|offset/))),
    ...['limit=0', 'limit=1000000', 'offset=1000000', 'limit=2&x=1'].map((query) =>
      getting(`training_runs?${query}`, legal()),
    ),
    ...['DELETE', 'PUT', 'PATCH'].map((method) => getting('checkpoints', none, method)),
  ]
})

/** Numbers of requests that come twice, and things of other sessions. */
export const numbers: Kind = {
  name: 'sequence numbers, and what belongs to others',
  async run(context) {
    const { target, random } = context
    const { abused, honest, session } = placeOf(context)
    const step = (seq_id: unknown, learning_rate = 0, model_id: unknown = abused): unknown => ({
      model_id,
      seq_id,
      adam_params: { learning_rate },
    })
    const from = 1_000_000 + random.int(1_000_000)
    const tried: Tried[] = []
    const send = async (attempt: Attempt): Promise<unknown> => {
      const time = Date.now()
      const reaction = await askAs(target, attempt.asked)
      tried.push(await judged(target, { ...attempt, reaction, time }))
      return 'ended' in reaction ? undefined : recordOf(parsed(reaction.body))['request_id']
    }
    for (let i = 0; i < 6; i++) {
      const number = [from, from + 5, from - 7, 2 ** 53 - 1, 3, from + 1][i]
      const first = await send(calling(`number ${number}`, legal(), 'optim_step', step(number)))
      const again = await send(calling(`number ${number} again`, legal(), 'optim_step', step(number)))
      if (first !== again)
        tried.push({
          what: `number ${number}`,
          how: 'twice',
          time: Date.now(),
          problem: 'a repeated request ran again',
        })
      await send(
        calling(
          `number ${number} for another request`,
          refused(/number/, 409),
          'optim_step',
          step(number, 1),
        ),
      )
      await send(
        calling(`number ${number} for another call`, refused(/number/, 409), 'save_weights', {
          model_id: abused,
          seq_id: number,
        }),
      )
    }
    const ids = [
      '__proto__',
      'constructor',
      `${honest}x`,
      honest.toUpperCase(),
      `${session}-99`,
      '../x',
      '0',
      'null',
      'x'.repeat(5000),
    ]
    for (const id of ids) {
      await send(calling(`model ${id.slice(0, 20)}`, refused(/model/, 404), 'optim_step', step(1, 0, id)))
      await send(
        calling(`session ${id.slice(0, 20)}`, refused(/session/, 404), 'session_heartbeat', {
          session_id: id,
        }),
      )
      await send(
        calling(`result ${id.slice(0, 20)}`, refused(/request/, 404, 410), 'retrieve_future', {
          request_id: id,
        }),
      )
      await send(
        calling(`sampler ${id.slice(0, 20)}`, refused(/sampling/, 404), 'asample', {
          sampling_session_id: id,
          prompt: { chunks: [{ tokens: [1] }] },
        }),
      )
    }
    // A model that was unloaded is gone, also for its owner.
    const asked = { session_id: session, model_seq_id: 5, base_model: 'served', lora_config: { rank: 4 } }
    const made = await send(calling('another rank', legal(), 'create_model', asked))
    const other = `${session}-5`
    await askAs(target, post(api('retrieve_future'), { request_id: made }))
    await send(
      calling('a checkpoint of another rank', refused(/rank|kind of training/), 'load_weights', {
        model_id: other,
        path: placeOf(context).checkpoint,
      }),
    )
    await send(calling('unload', legal(), 'unload_model', { model_id: other }))
    await send(calling('unload again', { status: [200, 404] }, 'unload_model', { model_id: other }))
    await send(calling('train what is unloaded', { status: [200, 404] }, 'optim_step', step(9, 0, other)))
    return tried
  },
}
