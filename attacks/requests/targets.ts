import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, type Section, startCli } from '../run-cli.ts'
import { type Stall, watchStalls, withoutStalls } from '../stalls.ts'
import type { Answer, Reaction } from './exchange.ts'
import { ask } from './exchange.ts'
import type { ErrorForm } from './judge.ts'
import { openAiErrors, parsed, recordOf, tinkerErrors } from './judge.ts'

/** A server that runs as users start it. */
export interface Target {
  name: string
  port: number
  running: Running
  /** Pauses of the machine while its main thread ran. */
  stalls: () => Stall[]
  form: ErrorForm
  /** What no answer and no line of the log may have. */
  secrets: readonly string[]
  /** Key and type of an honest request. */
  headers: Readonly<Record<string, string>>
  /** A body that is legal, and where it goes. */
  plain: { path: string; body: Readonly<Record<string, unknown>> }
  /** Asks what it always asks. Returns what may not change. */
  honest: () => Promise<string>
  /** What is wrong with what became of a request that was accepted. */
  follow?: (answer: Answer) => Promise<string | undefined>
  /** Models of the Tinker server: one is abused, the other belongs to the honest client. */
  tinker?: TinkerPlace
}

export interface TinkerPlace {
  session: string
  abused: string
  honest: string
  /** A checkpoint of the honest client's model. */
  checkpoint: string
}

export interface TargetOptions {
  /** The folder that it runs in. */
  folder: string
  name: string
  /** Whether clients need a key. Default: yes. */
  withKey?: boolean
  /** The folder of the model. Default: the base model. */
  model?: string
}

/** Starts `agoge serve`, and measures its sections from after the first honest requests. */
export async function startEndpoint(options: TargetOptions): Promise<Target> {
  const { running, stalls, port, secrets, key, begin } = await start(options, [])
  const path = '/v1/chat/completions'
  const messages = [{ role: 'user', content: 'hello' }]
  const body = { messages, max_tokens: 2, temperature: 0 }
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const send = (where: string, asked: unknown): Promise<Reaction> =>
    ask(port, { method: 'POST', path: where, headers, body: JSON.stringify(asked) })
  const honest = async (): Promise<string> => {
    const found = await send(path, { ...body, max_tokens: 6 })
    const text = { prompt: 'hello', max_tokens: 4, temperature: 0, return_token_ids: true }
    const more = await send('/v1/completions', text)
    return [found, more].map(choicesOf).join(' ')
  }
  const form = openAiErrors
  const target = { name: options.name, port, running, stalls, form, secrets, headers, honest }
  // What is compiled or loaded for the first request of its sort is no abuse.
  await honest()
  await send(path, { ...body, stream: true, n: 20, temperature: 1, stop: ['x'] })
  await send(path, { ...body, response_format: { type: 'json_object' } })
  await send(path, { ...body, response_format: { type: 'json_object' }, n: 64, top_logprobs: 5 })
  await send('/v1/completions', { prompt: Array.from({ length: 256 }, () => 'hello'), max_tokens: 2 })
  const tools = [{ type: 'function', function: { name: 'f' } }]
  await send(path, { ...body, tools })
  await send(path, { ...body, tools, tool_choice: 'required' })
  begin()
  return { ...target, plain: { path, body } }
}

function choicesOf(reaction: Reaction): string {
  if ('ended' in reaction) return reaction.ended
  const { choices } = recordOf(parsed(reaction.body))
  return reaction.status === 200
    ? JSON.stringify(choices)
    : `${reaction.status} ${reaction.body.slice(0, 200)}`
}

/** Starts `agoge serve --tinker` with two models in training, and measures from then on. */
export async function startTinker(options: TargetOptions): Promise<Target> {
  const store = join(options.folder, 'store')
  const { running, stalls, port, secrets, key, begin } = await start(options, ['--tinker', '--store', store])
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'x-api-key': key }),
  }
  const call = async (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const asked = { method: 'POST', path: `/api/v1/${path}`, headers, body: JSON.stringify(body) }
    for (const until = Date.now() + 240_000; ;) {
      const found = await ask(port, asked)
      if (!('ended' in found) && found.status === 408 && Date.now() < until) continue
      return 'ended' in found ? { error: found.ended } : recordOf(parsed(found.body))
    }
  }
  const result = async (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const taken = await call(path, body)
    const { request_id } = taken
    return request_id === undefined ? taken : call('retrieve_future', { request_id })
  }
  const { session_id } = await call('create_session', {})
  const session = String(session_id)
  const make = async (number: number): Promise<string> => {
    const lora_config = { rank: 2 }
    const asked = { session_id, model_seq_id: number, base_model: 'served', lora_config }
    const { model_id, ...others } = await result('create_model', asked)
    if (typeof model_id !== 'string') throw new Error(`no model: ${JSON.stringify(others)}`)
    return model_id
  }
  const [abused, own] = [await make(0), await make(1)]
  const data = [datum([9, 10, 11, 12])]
  const honest = async (): Promise<string> => {
    const sampling_params = { max_tokens: 4, temperature: 0 }
    const prompt = { chunks: [{ tokens: [9, 10, 11] }] }
    const { sequences } = await result('asample', { base_model: 'served', prompt, sampling_params })
    const tokens = Array.isArray(sequences) ? sequences.map((each) => recordOf(each)['tokens']) : sequences
    const forward_input = { data, loss_fn: 'cross_entropy' }
    const { metrics, error } = await result('forward', { model_id: own, forward_input })
    const loss = recordOf(metrics)['loss:sum']
    return JSON.stringify([tokens ?? 'none', typeof loss === 'number' ? loss.toFixed(4) : (error ?? 'none')])
  }
  const sampled = { logprobs: { data: [0, 0, 0] }, advantages: { data: [1, 1, 1] } }
  const saved = await result('save_weights', { model_id: own, path: 'kept' })
  // What is compiled or loaded for the first request of its sort is no abuse.
  for (const loss_fn of ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro']) {
    const asked = {
      data: [datum([9, 10, 11, 12], loss_fn === 'cross_entropy' ? {} : sampled)],
      loss_fn,
      ...(loss_fn === 'dro' && { loss_fn_config: { beta: 1 } }),
    }
    await result('forward_backward', { model_id: abused, forward_backward_input: asked })
  }
  const many = { data: Array.from({ length: 64 }, () => data[0]), loss_fn: 'cross_entropy' }
  await result('forward_backward', { model_id: abused, forward_backward_input: many })
  await result('optim_step', { model_id: abused, adam_params: { learning_rate: 0 } })
  await ask(port, {
    method: 'POST',
    path: '/api/v1/forward_backward',
    headers: { ...headers, 'content-type': 'application/x-protobuf' },
    body: Buffer.from([0xff]),
  })
  await honest()
  begin()
  return {
    name: options.name,
    port,
    running,
    stalls,
    form: tinkerErrors,
    secrets,
    headers,
    plain: { path: '/api/v1/create_session', body: { tags: [], user_metadata: null, sdk_version: 'x' } },
    honest,
    follow: (answer) => outcomeProblem(answer, result, secrets),
    tinker: { session, abused, honest: own, checkpoint: String(saved['path']) },
  }
}

/** A training sequence of the protocol. */
export const datum = (
  tokens: readonly number[],
  inputs: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
  loss_fn_inputs: { target_tokens: { data: tokens.slice(1), dtype: 'int64' }, ...inputs },
})

/** An accepted request may fail later, but not by a fault of the server. */
async function outcomeProblem(
  { body }: Answer,
  result: (path: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>,
  secrets: readonly string[],
): Promise<string | undefined> {
  const { request_id } = recordOf(parsed(body))
  if (typeof request_id !== 'string') return undefined
  const outcome = await result('retrieve_future', { request_id })
  const text = JSON.stringify(outcome)
  if (secrets.some((secret) => text.includes(secret))) return 'its outcome shows the key'
  if (outcome['type'] === 'try_again') return 'it never ends'
  if (outcome['error'] === undefined || outcome['category'] === 'user') return undefined
  return `its outcome is a fault of the server: ${text.slice(0, 160)}`
}

interface Started {
  running: Running
  stalls: () => Stall[]
  port: number
  key: string | undefined
  secrets: string[]
  /** Begins to measure sections. */
  begin: () => void
}

async function start(
  { folder, name, withKey = true, model }: TargetOptions,
  options: readonly string[],
): Promise<Started> {
  const key = withKey ? `tml-${randomBytes(16).toString('hex')}` : undefined
  const sectionsAfter = join(folder, `${name.replaceAll(/\W+/g, '-')}.begun`)
  const args = [
    'serve',
    ...(model === undefined ? [] : [model]),
    ...options,
    '--port',
    '0',
    '--name',
    'served',
  ]
  const running = startCli(args, { cwd: folder, env: { AGOGE_SERVE_KEY: key ?? '' }, sectionsAfter })
  const [, port] = await running.printed(/http:\/\/127\.0\.0\.1:(\d+)/)
  return {
    running,
    stalls: watchStalls(running.pid ?? Number.NaN, folder),
    port: Number(port),
    key,
    secrets: key === undefined ? [] : [key],
    begin: () => writeFileSync(sectionsAfter, ''),
  }
}

/** Sections of more than 10 ms that ended since then (`clock.mjs`; default: ever), without pauses of the machine. */
export const sectionsOf = ({ running, stalls }: Target, since?: number): Section[] =>
  withoutStalls(running.sections(since), stalls())

/** Ends a server as Ctrl-C does. Returns what is wrong with how it ended, or with what it has printed. */
export async function endTarget({ running, secrets }: Target): Promise<string | undefined> {
  running.send('SIGINT')
  const late = sleep(60_000, undefined, { ref: false }).then(() => undefined)
  const ended = await Promise.race([running.ended, late])
  if (ended === undefined) {
    running.kill()
    return 'it does not end within a minute after Ctrl-C'
  }
  const log = `${ended.stdout}\n${ended.stderr}`
  if (ended.code !== 0) return `it ends with ${ended.code ?? ended.signal}: ${ended.stderr.slice(-200)}`
  if (secrets.some((secret) => log.includes(secret))) return 'its log has the key'
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(log)) return 'its log has control characters'
  const trace = /.*\n\s+at \S.*/.exec(log)?.[0]
  return trace === undefined ? undefined : `its log has a stack trace: ${trace.slice(0, 300)}`
}
