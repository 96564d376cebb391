import { afterAll, expect, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import type { ModelBackend } from '../model-backend.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { createSampleQueue } from './sample-queue.ts'
import type { QueuedRequest } from './sample-queue.ts'

const config = { ...tinyConfig, max_position_embeddings: 400 }
const backend = createLocalBackend({ config, seed: 1, threads: 1 })
afterAll(() => backend.dispose())
const never = new AbortController().signal

/** The backend with a record of its calls. `meanwhile` runs before each call. */
function watched(meanwhile: (call: number) => void = () => {}) {
  const calls: { rows: number; maxTokens: (number | undefined)[] }[] = []
  const sample: ModelBackend['sample'] = (requests, options) => {
    calls.push({ rows: requests.length, maxTokens: requests.map(({ maxTokens }) => maxTokens) })
    meanwhile(calls.length)
    return backend.sample(requests, options)
  }
  return { sample, calls }
}
const request = (key: number, maxTokens: number, more: Partial<QueuedRequest> = {}): QueuedRequest => ({
  prompt: Int32Array.of(3, 1, 4, key),
  key,
  maxTokens,
  stop: [],
  temperature: 1,
  seed: 5,
  ...more,
})

test('rounds do not affect samples, up to the context window', async () => {
  const { sample, calls } = watched()
  const requests = [
    request(1, 150, { topLogprobs: 2 }),
    request(2, 9),
    request(3, 1000, { stop: [7] }),
    request(4, 1000),
  ]
  const heard: number[][] = [[], [], [], []]
  const outputs = await createSampleQueue({ sample }).sample(requests, {
    signal: never,
    onToken: (row, token) => heard[row].push(token),
  })
  const { maxTokens, stop, temperature, seed } = requests[0]
  const whole = await backend.sample(requests, { maxTokens, stop, temperature, seed })
  outputs.forEach((output, i) => {
    expect(output.tokens).toEqual(whole[i].tokens)
    expect(heard[i]).toEqual([...whole[i].tokens])
    expect(output.finish).toBe(whole[i].finish)
    expect(output.topLogprobs?.length).toBe(whole[i].topLogprobs?.length)
    output.logprobs.forEach((value, t) => expect(Math.abs(value - whole[i].logprobs[t])).toBeLessThan(1e-4))
  })
  expect(calls.length).toBe(7)
  expect(outputs[3].tokens.length).toBe(396)
})

test('a request joins while a long row is sampled, and finishes before it', async () => {
  const { sample, calls } = watched((call) => {
    if (call === 2) void queue.sample([request(2, 5)], { signal: never }).then(() => done.push('short'))
  })
  const queue = createSampleQueue({ sample })
  const done: string[] = []
  await queue.sample([request(1, 300)], { signal: never }).then(() => done.push('long'))
  expect(done).toEqual(['short', 'long'])
  expect(calls.map(({ rows }) => rows)).toEqual([1, 1, 2, 1, 1])
  expect(queue.load).toBe(0)
})

test('a disconnected client leaves the batch, the others continue', async () => {
  const controller = new AbortController()
  const { sample, calls } = watched((call) => {
    if (call === 2) controller.abort(new Error('gone'))
  })
  const queue = createSampleQueue({ sample })
  const left = queue
    .sample([request(1, 300)], { signal: controller.signal })
    .catch((error: Error) => error.message)
  const [stayed] = await queue.sample([request(2, 200)], { signal: never })
  expect(await left).toBe('gone')
  expect(stayed.tokens.length).toBe(200)
  expect(calls.map(({ rows }) => rows)).toEqual([2, 2, 1, 1])
})

test('an error in one client’s listener fails only that client and removes its rows', async () => {
  const { sample, calls } = watched()
  const queue = createSampleQueue({ sample })
  let heard = 0
  const deaf = queue
    .sample([request(1, 300)], {
      signal: never,
      onToken() {
        if (++heard === 3) throw new AgogeError('no more', { code: 'bad-argument' })
      },
    })
    .catch((error: Error) => error.message)
  const tokens: number[] = []
  const [other] = await queue.sample([request(2, 80)], {
    signal: never,
    onToken: (_, token) => tokens.push(token),
  })
  expect(await deaf).toBe('no more')
  expect(heard).toBe(3)
  expect(tokens).toEqual([...other.tokens])
  expect(tokens.length).toBe(80)
  expect(calls.map(({ rows }) => rows)).toEqual([2, 1])
  // Alone, it ends the call at once.
  const began = heard
  await expect(
    queue.sample([request(3, 300)], {
      signal: never,
      onToken() {
        heard++
        throw new Error('at once')
      },
    }),
  ).rejects.toThrow('at once')
  expect(heard).toBe(began + 1)
  expect(queue.load).toBe(0)
})

test('a request that cannot be sampled fails alone; too many are refused', async () => {
  const queue = createSampleQueue(backend, 2)
  const bad = queue
    .sample([request(1, 5, { topP: 2 })], { signal: never })
    .catch(({ code }: { code: string }) => code)
  const good = queue.sample([request(2, 5)], { signal: never })
  expect(() => queue.sample([request(3, 5)], { signal: never })).toThrow(
    expect.objectContaining({ code: 'overloaded' }),
  )
  expect(await bad).toBe('bad-sampling-options')
  expect((await good)[0].tokens.length).toBe(5)
})
