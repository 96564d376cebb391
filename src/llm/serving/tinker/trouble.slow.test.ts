import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { AgogeError } from '../../../error.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import type { TinkerBackend, TinkerBackendOptions } from '../../backend/tinker/tinker-backend.ts'
import type { TinkerServer } from './server.ts'
import { randomRows } from './testing/rows.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'
import { startTroubledProxy } from './testing/troubled-proxy.ts'
import type { Trouble, TroubledProxy } from './testing/troubled-proxy.ts'

let house: TinyHouse
let server: TinkerServer
let expected: unknown[]
const rows = randomRows(1, 3, { rl: true })
const tokens = rows.map((row) => row.tokens)
const quick: Partial<TinkerBackendOptions> = {
  backoffSeconds: 0.01,
  patienceSeconds: 120,
  timeoutSeconds: 20,
}
const open: { close(): Promise<void> }[] = []

/** Two training steps with sampling in between. */
async function schedule(
  backend: Pick<TinkerBackend, 'sample' | 'forward' | 'forwardBackward' | 'optimStep'>,
) {
  const sampling = { maxTokens: 4, stop: [], temperature: 1, seed: 1 }
  const prompts = [0, 1, 2].map((key) => ({ prompt: Int32Array.of(4, 5 + key), key }))
  const seen: unknown[] = []
  for (let step = 0; step < 2; step++) {
    seen.push(await backend.forwardBackward(rows, { name: 'ppo' }))
    seen.push(await backend.optimStep({ learningRate: 0.05 }))
    seen.push(await backend.sample(prompts, sampling))
  }
  return [...seen, await backend.forward(tokens)]
}

async function through(
  trouble: (path: string, count: number) => Trouble | undefined,
  options: Partial<TinkerBackendOptions> = {},
  rewrite?: (path: string, answer: string) => string,
): Promise<{ backend: TinkerBackend; proxy: TroubledProxy }> {
  const proxy = await startTroubledProxy(server.url, trouble, rewrite)
  open.push(proxy)
  const backend = await createTinkerBackend({ baseUrl: proxy.url, ...quick, ...options })
  open.unshift({ close: () => backend.dispose() })
  return { backend, proxy }
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

beforeAll(async () => {
  house = await openTinyHouse()
  server = await house.serve()
  expected = await schedule(await house.local())
})

afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

afterAll(() => house.close())

const troubles: Trouble[] = [
  { status: 408, body: '{"type":"try_again","request_id":"?","queue_state":"active"}' },
  { status: 429, headers: { 'retry-after': '0.01' } },
  { status: 429 },
  { status: 500, body: 'Internal Server Error' },
  { status: 503, body: '<html>' },
  { drop: 'early' },
  { drop: 'late' },
  { half: 'ends' },
  { half: 'breaks' },
]

test('every trouble, one after the other, at the first requests for everything: tried again, and carried out once', async () => {
  const { backend, proxy } = await through((_path, count) => troubles[count], { backoffSeconds: 0 })
  expect(await schedule(backend)).toEqual(expected)
  for (const path of ['forward_backward', 'optim_step'])
    expect(proxy.log.filter((line) => line.startsWith(`${path} `) || line === path).length).toBe(
      troubles.length + 2,
    )
})

test('silence is broken off and tried again', async () => {
  const unanswered = ['create_session', 'forward_backward', 'asample', 'retrieve_future']
  const { backend } = await through(
    (path, count) => (unanswered.includes(path) && count === 0 ? 'silence' : undefined),
    { timeoutSeconds: 2 },
  )
  expect(await schedule(backend)).toEqual(expected)
})

test('a server that falls silent while a result is waited for is waited for no longer than patience, and a note says so', async () => {
  const notes: string[] = []
  const { backend } = await through(
    (path, count) => (path === 'retrieve_future' && count > 0 ? 'silence' : undefined),
    {
      timeoutSeconds: 2,
      patienceSeconds: 3,
      deadlineSeconds: 3600,
      onTrouble: (text) => notes.push(text),
    },
  )
  const began = performance.now()
  expect(await failure(backend.forward(tokens))).toMatchObject({
    code: 'tinker-unreachable',
    given: 'no answer in 2 s',
  })
  expect(performance.now() - began).toBeGreaterThan(3000)
  expect(notes).toEqual([expect.stringContaining('retrieve_future: no answer in 2 s')])
})

test('aborting one sampler does not affect others that wait for the same weights', async () => {
  const { backend } = await through((path, count) =>
    path === 'save_weights_for_sampler' && count === 0 ? { drop: 'late' } : undefined,
  )
  const prompts = [{ prompt: Int32Array.of(4, 5), key: 0 }]
  const sampling = { maxTokens: 4, stop: [], temperature: 1, seed: 1 }
  const stop = new AbortController()
  const first = failure(backend.sample(prompts, { ...sampling, signal: stop.signal }))
  const second = backend.sample(prompts, sampling)
  stop.abort(new Error('enough'))
  expect(await first).toMatchObject({ message: 'enough' })
  expect((await second)[0].tokens.length).toBe(4)
})

test('a pass of which one part is refused leaves a gradient that nobody knows', async () => {
  const { backend } = await through(
    () => undefined,
    {},
    (path, answer) =>
      path === 'client/config'
        ? answer.replace('"fwdbwd_max_chunk_len":4096', '"fwdbwd_max_chunk_len":1')
        : answer,
  )
  const folder = join(house.root, 'halves', 'saved')
  await backend.save(folder)
  const foreign = { ...rows[1], tokens: rows[1].tokens.map(() => 999) }
  const pass = backend.forwardBackward([rows[0], foreign], { name: 'ppo' })
  expect(await failure(pass)).toMatchObject({ code: 'tinker-request-failed' })
  expect(await failure(backend.optimStep({ learningRate: 0.1 }))).toMatchObject({
    code: 'tinker-state-unknown',
  })
  await backend.load(folder)
  // Equal up to rounding: the parts are summed in another order.
  const [mine, whole] = [await schedule(backend), expected].map((seen) =>
    (seen.at(-1) as Float32Array[]).map((row) => [...row]),
  )
  for (const [i, row] of mine.entries()) row.forEach((value, t) => expect(value).toBeCloseTo(whole[i][t], 4))
})

test('after the last retry, the error quotes the server and says what to do', async () => {
  const cases: [Trouble, string, string][] = [
    [{ status: 429, body: '{"detail":"full"}' }, 'tinker-overloaded', 'full'],
    [{ status: 500, body: '{"detail":"broken"}' }, 'tinker-server-error', 'broken'],
    [{ drop: 'early' }, 'tinker-unreachable', ''],
    ['silence', 'tinker-unreachable', 'no answer in'],
    [{ half: 'ends' }, 'tinker-bad-answer', 'not JSON'],
  ]
  for (const [trouble, code, said] of cases) {
    const { backend } = await through((path) => (path === 'optim_step' ? trouble : undefined), {
      patienceSeconds: 0.2,
      // Far longer than an answer takes on a busy machine.
      ...(trouble === 'silence' ? { timeoutSeconds: 8 } : {}),
    })
    const prompts = [{ prompt: Int32Array.of(4, 5), key: 0 }]
    const sample = () => backend.sample(prompts, { maxTokens: 1, stop: [], temperature: 1, seed: 1 })
    await sample()
    const error = await failure(backend.optimStep({ learningRate: 0.1 }))
    expect(error).toMatchObject({ code })
    expect(String((error as AgogeError).given)).toContain(said)
    expect((error as AgogeError).hint).not.toBe('')
    // It is unknown whether the step was taken. Continuing would train an unknown model.
    expect(await failure(backend.forward(tokens))).toMatchObject({ code: 'tinker-state-unknown' })
    expect(await failure(sample())).toMatchObject({ code: 'tinker-state-unknown' })
    await backend.dispose()
  }
})

test('training continues after a checkpoint is loaded', async () => {
  let broken = false
  const { backend } = await through(
    (path) => (broken && path === 'optim_step' ? { drop: 'late' } : undefined),
    {
      patienceSeconds: 0.2,
    },
  )
  const folder = join(house.root, 'trouble', 'saved')
  await backend.save(folder)
  broken = true
  expect(await failure(backend.optimStep({ learningRate: 0.1 }))).toMatchObject({
    code: 'tinker-unreachable',
  })
  broken = false
  await backend.load(folder)
  expect(await schedule(backend)).toEqual(expected)
})

test('a server that dies in the middle of a run, and comes back without its memory', async () => {
  const store = join(house.root, 'mortal')
  const mortal = await house.serve({ store })
  const port = Number(new URL(mortal.url).port)
  const backend = await createTinkerBackend({ baseUrl: mortal.url, ...quick, patienceSeconds: 0.5 })
  const folder = join(house.root, 'mortal-run', 'saved')
  await backend.save(folder)
  await backend.forwardBackward(rows, { name: 'ppo' })
  await mortal.close()
  expect(await failure(backend.optimStep({ learningRate: 0.1 }))).toMatchObject({
    code: 'tinker-unreachable',
  })
  await house.serve({ store, port })
  // Its checkpoints exist, but not the session and the model, so another backend is needed.
  const next = await createTinkerBackend({ baseUrl: mortal.url, ...quick })
  await next.load(folder)
  expect(await schedule(next)).toEqual(expected)
  const lost = await failure(backend.load(folder))
  expect(lost).toMatchObject({ code: 'tinker-not-found' })
  expect((lost as AgogeError).hint).toContain('--resume')
  await next.dispose()
  await backend.dispose()
})

test('an abort ends the waiting at once, with its reason', async () => {
  const { backend } = await through(
    (path, count) => (path === 'retrieve_future' && count > 0 ? 'silence' : undefined),
    {
      timeoutSeconds: 3600,
    },
  )
  const stop = new AbortController()
  const work = failure(backend.forwardBackward(rows, { name: 'ppo' }, { signal: stop.signal }))
  const reason = new Error('enough')
  setTimeout(() => stop.abort(reason), 50)
  expect(await work).toBe(reason)
  // The gradient is unknown, the weights are not.
  expect(await failure(backend.optimStep({ learningRate: 1 }))).toMatchObject({
    code: 'tinker-state-unknown',
  })
})

test('a result that does not come runs into the deadline', async () => {
  const pending: Trouble = { status: 408, body: '{"type":"try_again"}' }
  const { backend } = await through(
    (path, count) => (path === 'retrieve_future' && count > 0 ? pending : undefined),
    {
      deadlineSeconds: 3,
    },
  )
  expect(await failure(backend.forwardBackward(rows, { name: 'ppo' }))).toMatchObject({
    code: 'tinker-deadline',
  })
})

test('addresses and keys that do not fit', async () => {
  const make = (options: Partial<TinkerBackendOptions>) =>
    failure(createTinkerBackend({ baseUrl: server.url, ...quick, ...options }))
  expect(await make({ baseUrl: 'nonsense' })).toMatchObject({ code: 'bad-tinker-url' })
  const secret = await make({ baseUrl: 'http://user:hidden@127.0.0.1:1' })
  expect(secret).toMatchObject({ code: 'bad-tinker-url' })
  expect(JSON.stringify(secret)).not.toContain('hidden')
  expect(await make({ baseUrl: 'http://127.0.0.1:9', patienceSeconds: 0 })).toMatchObject({
    code: 'tinker-unreachable',
  })
  expect(await make({ model: 'another' })).toMatchObject({ code: 'tinker-not-found' })
  const withFileErrors = await house.serve({ apiKey: 'tml-secret' })
  expect(await make({ baseUrl: withFileErrors.url, apiKey: '' })).toMatchObject({
    code: 'tinker-unauthorised',
  })
  const wrong = await make({ baseUrl: withFileErrors.url, apiKey: 'tml-wrong' })
  expect(wrong).toMatchObject({ code: 'tinker-unauthorised' })
  expect(JSON.stringify(wrong)).not.toContain('tml-')
  const right = await createTinkerBackend({ baseUrl: withFileErrors.url, apiKey: 'tml-secret', ...quick })
  expect(await schedule(right)).toEqual(expected)
  await right.dispose()
})
