import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgogeError } from '../../../error.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import { requireModel } from '../../backend/base-model.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { LossSettings, SampleOptions } from '../../model-backend.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import type { TinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import type { TinkerServer } from './server.ts'
import { randomRows } from './testing/rows.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'

let house: TinyHouse
let server: TinkerServer
let remote: TinkerBackend
let local: LocalBackend

beforeAll(async () => {
  house = await openTinyHouse()
  server = await house.serve()
  remote = await createTinkerBackend({ baseUrl: server.url })
  local = await house.local()
})

afterAll(async () => {
  await remote.dispose()
  await house.close()
})

const sampling: SampleOptions = { maxTokens: 6, stop: [7, 9], temperature: 1, seed: 11 }
const requests = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    prompt: Int32Array.of(5, 17, 3 + Math.floor(i / 3)),
    key: `row ${i}`,
  }))

/** A request of any client, and its result. */
async function callServer(url: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const post = (to: string, what: unknown) =>
    fetch(`${url}/api/v1/${to}`, { method: 'POST', headers, body: JSON.stringify(what) })
  const fields = (await (await post(path, body)).json()) as Record<string, unknown>
  if (fields['request_id'] === undefined) return fields
  return (await (await post('retrieve_future', { request_id: fields['request_id'] })).json()) as Record<
    string,
    unknown
  >
}

const losses: { loss: LossSettings; rows: ReturnType<typeof randomRows> }[] = [
  { loss: { name: 'cross_entropy' }, rows: randomRows(1, 5, { ce: true }) },
  { loss: { name: 'cross_entropy' }, rows: randomRows(2, 3, { ce: true, kl: true }) },
  { loss: { name: 'importance_sampling' }, rows: randomRows(3, 4, { rl: true }) },
  { loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 }, rows: randomRows(4, 6, { rl: true }) },
  { loss: { name: 'ppo' }, rows: randomRows(5, 4, { rl: true, ce: true, kl: true }) },
  { loss: { name: 'cispo', clipHigh: 0.5 }, rows: randomRows(6, 4, { rl: true }) },
]

test('every verb gives the same result over the server as in this process, bit for bit', async () => {
  for (const [i, { loss, rows }] of losses.entries()) {
    const tokens = rows.map((row) => row.tokens)
    expect(await remote.forward(tokens)).toEqual(await local.forward(tokens))
    expect(await remote.forwardBackward(rows, loss), loss.name).toEqual(
      await local.forwardBackward(rows, loss),
    )
    const step = {
      learningRate: 0.01,
      clip: 0.5,
      weightDecay: 0.1,
      ...(i % 2 === 0 ? {} : { optimizer: 'muon' as const }),
    }
    expect(await remote.optimStep(step)).toEqual(await local.optimStep(step))
    expect(await remote.sample(requests(8), sampling)).toEqual(await local.sample(requests(8), sampling))
  }
  expect(remote.weightVersion).toBe(losses.length)
  const greedy = { ...sampling, temperature: 0 }
  expect(await remote.sample(requests(4), greedy)).toEqual(await local.sample(requests(4), greedy))
})

test('saved weights load with or without the optimiser, and the note contains no weights and no key', async () => {
  const folder = join(house.root, 'run', 'step-6')
  await remote.save(folder)
  await local.save(`${folder}-local`)
  const note = readFileSync(join(folder, 'tinker.json'), 'utf8')
  expect(JSON.parse(note)).toMatchObject({ baseModel: 'tiny', weightVersion: losses.length, loraRank: 0 })

  const rows = randomRows(7, 4, { ce: true })
  const step = { learningRate: 0.02 }
  const both = async (): Promise<void> => {
    expect(await remote.forwardBackward(rows, { name: 'cross_entropy' })).toEqual(
      await local.forwardBackward(rows, { name: 'cross_entropy' }),
    )
    expect(await remote.optimStep(step)).toEqual(await local.optimStep(step))
    expect(await remote.forward([rows[0].tokens])).toEqual(await local.forward([rows[0].tokens]))
  }
  await both()
  await remote.load(folder)
  await local.load(`${folder}-local`)
  expect(remote.weightVersion).toBe(losses.length)
  await both()
  remote.resetOptimizer()
  local.resetOptimizer()
  await both()
})

test('a folder that only tells of weights says where they are, to who wants a model of it', async () => {
  const folder = join(house.root, 'run', 'step-6')
  const { path } = JSON.parse(readFileSync(join(folder, 'tinker.json'), 'utf8')) as { path: string }
  expect(() => requireModel(folder)).toThrow(expect.objectContaining({ code: 'remote-model', given: path }))
})

test('an overwritten checkpoint goes away on the server too', async () => {
  const folder = join(house.root, 'run', 'again')
  await remote.save(folder)
  const { path: first } = JSON.parse(readFileSync(join(folder, 'tinker.json'), 'utf8')) as { path: string }
  const where = join(house.root, 'store', first.slice('tinker://'.length))
  expect(existsSync(where)).toBe(true)
  await remote.save(folder)
  expect(existsSync(where)).toBe(false)
})

test('several models at once do not disturb one another', async () => {
  const [one, other] = await Promise.all([0, 1].map(() => createTinkerBackend({ baseUrl: server.url })))
  const rows = randomRows(8, 3, { ce: true })
  const before = await other.forward([rows[0].tokens])
  await one.forwardBackward(rows, { name: 'cross_entropy' })
  await one.optimStep({ learningRate: 0.1 })
  expect(await other.forward([rows[0].tokens])).toEqual(before)
  expect(await one.forward([rows[0].tokens])).not.toEqual(before)
  await Promise.all([one.dispose(), other.dispose()])
})

test('samplers keep their weights while training continues', async () => {
  const backend = await createTinkerBackend({ baseUrl: server.url })
  const wave = backend.sample(requests(6), sampling)
  const before = await wave
  const rows = randomRows(9, 3, { ce: true })
  // The step is requested while the second wave is being sampled.
  const second = backend.sample(requests(6), sampling)
  await backend.forwardBackward(rows, { name: 'cross_entropy' })
  await backend.optimStep({ learningRate: 0.3 })
  expect(await second).toEqual(before)
  expect(await backend.sample(requests(6), sampling)).not.toEqual(before)
  await backend.dispose()
})

test('a request may be sent before the results of earlier ones arrive', async () => {
  const backend = await createTinkerBackend({ baseUrl: server.url })
  const alone = await house.local()
  const rows = randomRows(10, 3, { ce: true })
  const loss = { name: 'cross_entropy' } as const
  const all = await Promise.all([
    backend.forwardBackward(rows, loss),
    backend.forwardBackward(rows.slice(1), loss),
    backend.optimStep({ learningRate: 0.1 }),
    backend.forwardBackward(rows, loss),
  ])
  expect(all).toEqual([
    await alone.forwardBackward(rows, loss),
    await alone.forwardBackward(rows.slice(1), loss),
    await alone.optimStep({ learningRate: 0.1 }),
    await alone.forwardBackward(rows, loss),
  ])
  await backend.dispose()
})

test('unsupported requests fail with the server’s message, and training can continue', async () => {
  const backend = await createTinkerBackend({ baseUrl: server.url })
  const [row] = randomRows(11, 1, { ce: true })
  const foreign = { ...row, tokens: row.tokens.map(() => 999) }
  const refused = await backend
    .forwardBackward([foreign], { name: 'cross_entropy' })
    .catch((error: unknown) => error)
  expect(AgogeError.isInstance(refused)).toBe(true)
  expect(refused).toMatchObject({ code: 'tinker-request-failed' })
  expect(String((refused as AgogeError).given)).toContain('ids from 0 to 63')
  expect((await backend.forwardBackward([row], { name: 'cross_entropy' })).tokens).toBeGreaterThan(0)
  await expect(
    backend.sample([{ prompt: Int32Array.of(1), key: 0 }], { ...sampling, minP: 0.1 }),
  ).rejects.toMatchObject({
    code: 'unsupported-sampling',
  })
  await expect(backend.load(house.model)).rejects.toMatchObject({ code: 'bad-checkpoint' })
  await backend.dispose()
})

test('sampling by path uses the present weights, after an overwrite and after a delete and a new save', async () => {
  const post = (path: string, body: unknown): Promise<Record<string, unknown>> =>
    callServer(server.url, path, body)
  const { session_id } = await post('create_session', { tags: [] })
  const { model_id } = await post('create_model', { session_id, base_model: 'tiny' })
  const drawn = async (where: object): Promise<number[]> => {
    const prompt = { chunks: [{ tokens: [1, 2, 3] }] }
    const said = await post('asample', {
      ...where,
      prompt,
      sampling_params: { max_tokens: 12, temperature: 1, seed: 1 },
    })
    return (said['sequences'] as { tokens: number[] }[])[0].tokens
  }
  const move = async (): Promise<void> => {
    const [row] = randomRows(4, 1, {})
    const model_input = { chunks: [{ tokens: Array.from(row.tokens.slice(0, -1)) }] }
    const data = [
      { model_input, loss_fn_inputs: { target_tokens: { data: Array.from(row.tokens.slice(1)) } } },
    ]
    await post('forward_backward', { model_id, forward_backward_input: { data, loss_fn: 'cross_entropy' } })
    await post('optim_step', { model_id, adam_params: { learning_rate: 0.3 } })
  }
  /** Samples with the present weights, whatever their name. */
  let other = 0
  const fresh = async (): Promise<number[]> => {
    const { path } = await post('save_weights_for_sampler', { model_id, path: `other-${other++}` })
    return drawn({ model_path: path })
  }
  const { path } = await post('save_weights', { model_id, path: 'same' })
  const { sampling_session_id } = await post('create_sampling_session', {
    session_id,
    sampling_session_seq_id: 0,
    model_path: path,
  })
  const first = await drawn({ model_path: path })
  await move()
  await post('save_weights', { model_id, path: 'same', overwrite: true })
  const second = await drawn({ model_path: path })
  expect(second).not.toEqual(first)
  expect(second).toEqual(await fresh())
  expect(await drawn({ sampling_session_id })).toEqual(second)
  await move()
  const remove = (): Promise<Response> =>
    fetch(`${server.url}/api/v1/training_runs/${String(model_id)}/checkpoints/weights/same`, {
      method: 'DELETE',
    })
  await remove()
  await post('save_weights', { model_id, path: 'same' })
  const third = await drawn({ model_path: path })
  expect(third).not.toEqual(second)
  expect(third).toEqual(await fresh())
  await remove()
  const gone = {
    sampling_session_id,
    prompt: { chunks: [{ tokens: [1] }] },
    sampling_params: { max_tokens: 1 },
  }
  expect(String((await post('asample', gone))['error'])).toContain('was deleted')
})

test('samples of more weights than are kept say that these are gone', async () => {
  const call = (path: string, body: unknown) => callServer(server.url, path, body)
  const { session_id } = await call('create_session', { tags: [] })
  const { model_id } = await call('create_model', { session_id, base_model: 'tiny' })
  const sampled = async (sampler: unknown): Promise<Record<string, unknown>> =>
    call('asample', {
      sampling_session_id: sampler,
      prompt: { chunks: [{ tokens: [1, 2, 3] }] },
      sampling_params: { max_tokens: 8, temperature: 1, seed: 1 },
    })
  const samplers: unknown[] = []
  const first: unknown[] = []
  for (let step = 0; step < 10; step++) {
    const saved = await call('save_weights_for_sampler', { model_id, sampling_session_seq_id: step })
    samplers.push(saved['sampling_session_id'])
    if (step > 1) first.push((await sampled(samplers[step]))['sequences'])
    const [row] = randomRows(step, 1, {})
    const data = [
      {
        model_input: { chunks: [{ tokens: Array.from(row.tokens.slice(0, -1)) }] },
        loss_fn_inputs: { target_tokens: { data: Array.from(row.tokens.slice(1)) } },
      },
    ]
    await call('forward_backward', { model_id, forward_backward_input: { data, loss_fn: 'cross_entropy' } })
    await call('optim_step', { model_id, adam_params: { learning_rate: 0.1 } })
  }
  expect(String((await sampled(samplers[0]))['error'])).toContain('the last 8')
  for (const [i, sequences] of first.entries()) {
    const again = (await sampled(samplers[i + 2]))['sequences'] as { tokens: number[] }[]
    expect(again[0].tokens).toEqual((sequences as { tokens: number[] }[])[0].tokens)
  }
})

test('samples at other temperatures are scored and trained as in this process, including custom losses', async () => {
  for (const wish of [{ rl: true }, { ce: true, kl: true }]) {
    const name = 'rl' in wish ? ('ppo' as const) : ('cross_entropy' as const)
    const rows = randomRows(8, 4, wish).map((row, i) => {
      const temperatures = row.advantages.map((_, t) => (t === 0 ? 1 : 0.5 + 0.25 * i))
      return i === 0 ? row : { ...row, temperatures }
    })
    const scored = await scoreSequences(local, rows)
    expect(scored).not.toEqual(await local.forward(rows.map(({ tokens }) => tokens)))
    expect(await scoreSequences(remote, rows)).toEqual(scored)
    expect(await remote.forwardBackward(rows, { name })).toEqual(await local.forwardBackward(rows, { name }))
    const own: CustomLoss = (logprobs) => ({
      loss: 0,
      gradients: logprobs.map((values) => values.map(Math.sin)),
    })
    expect(await forwardBackward(remote, rows, own)).toEqual(await forwardBackward(local, rows, own))
    expect(await remote.optimStep({ learningRate: 0 })).toEqual(await local.optimStep({ learningRate: 0 }))
  }
})
