import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import type { SampleOptions, SampleRequest } from '../model-backend.ts'
import { bytesPerToken } from '../sampling/key-value-cache.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createSampler } from '../sampling/sampler.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

const config = { ...tinyConfig, max_position_embeddings: 256 }
const parameters = initialiseParameters(config, 4)
const random = createRandom(2)
for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.25 * random.normal()
const sampler = createSampler({ config, parameters, cacheBytes: 2 ** 24 })
afterAll(() => sampler.dispose())

const options: SampleOptions = { maxTokens: 60, stop: [0, 1], temperature: 1, seed: 3 }
const beginning = Array.from({ length: 20 }, (_, i) => 2 + i)
/** Prompts of many lengths. Every third has the same prefix; some are equal. */
const requestsOf = (count: number, from = 0): SampleRequest[] =>
  Array.from({ length: count }, (_, i) => {
    const row = from + (i % 7 === 6 ? i - 1 : i)
    const own = Array.from({ length: 1 + ((row * 5) % 23) }, (_unused, t) => 2 + ((row * 13 + t * 7) % 60))
    return { prompt: Int32Array.from(row % 3 === 0 ? [...beginning, ...own] : own), key: from + i }
  })
const tokensOf = (outputs: readonly { tokens: Int32Array }[]) => outputs.map(({ tokens }) => [...tokens])

test('waiting rows replace finished rows and draw the same tokens as otherwise', async () => {
  const requests = requestsOf(40)
  sampler.clear()
  const expected = await sampler.sample(requests, options, 0)
  expect(new Set(expected.map(({ tokens }) => tokens.length)).size).toBeGreaterThan(8)
  const order: number[] = []
  const small = createSampler({ config, parameters, cacheBytes: 6 * 128 * bytesPerToken(config) })
  const onToken = (row: number): void => void order.push(row)
  const outputs = await small.sample(requests, { ...options, onToken }, 0)
  expect(tokensOf(outputs)).toEqual(tokensOf(expected))
  outputs.forEach(({ logprobs }, i) =>
    logprobs.forEach((value, t) => expect(value).toBeCloseTo(expected[i].logprobs[t], 3)),
  )
  // Later rows start while earlier ones are still decoding.
  const last = (row: number): number => order.lastIndexOf(row)
  const overtaking = requests.filter(
    (_, row) =>
      row > 6 && order.indexOf(row) < Math.max(last(0), last(1), last(2), last(3), last(4), last(5)),
  )
  expect(overtaking.length).toBeGreaterThan(0)
  // A second call on the same sampler, whose cache holds rows in disorder.
  expect(tokensOf(await small.sample(requests, options, 0))).toEqual(tokensOf(expected))
  await small.dispose()
})

test('a call that arrives during decoding joins at the next token', async () => {
  const [early, late] = [requestsOf(5), requestsOf(9, 100)]
  sampler.clear()
  const alone = [await sampler.sample(early, options, 0), await sampler.sample(late, options, 0)]
  sampler.clear()
  const seen: string[] = []
  const longer = { ...options, stop: [], maxTokens: 60 }
  let joining: Promise<unknown> | undefined
  const first = sampler.sample(
    early,
    {
      ...longer,
      onToken: (row) => {
        seen.push(`early ${row}`)
        if (seen.length === 40)
          joining = sampler.sample(
            late,
            { ...options, onToken: (other) => seen.push(`late ${other}`) },
            0,
            true,
          )
      },
    },
    0,
    true,
  )
  const outputs = await first
  expect(tokensOf(await (joining as Promise<{ tokens: Int32Array }[]>))).toEqual(tokensOf(alone[1]))
  outputs.forEach(({ tokens }, i) =>
    expect([...tokens.subarray(0, alone[0][i].tokens.length)]).toEqual([...alone[0][i].tokens]),
  )
  const begun = seen.findIndex((name) => name.startsWith('late'))
  expect(begun).toBeLessThan(60)
  expect(seen.lastIndexOf('early 0')).toBeGreaterThan(begun)
})

test('any order of arrival gives each call the tokens it draws alone; aborted calls disturb none', async () => {
  const all = requestsOf(30)
  sampler.clear()
  const expected = await sampler.sample(all, options, 0)
  const numbers = createRandom(5)
  for (let round = 0; round < 3; round++) {
    const small = createSampler({ config, parameters, cacheBytes: 9 * 128 * bytesPerToken(config) })
    const running = all.map(async (request, i) => {
      for (let wait = numbers.int(40); wait > 0; wait--) await new Promise(setImmediate)
      const controller = new AbortController()
      const isAborted = (i + round) % 6 === 0
      let count = 0
      const onToken = (): void => {
        if (isAborted && ++count === 2) controller.abort()
      }
      const found = small.sample([request], { ...options, signal: controller.signal, onToken }, 0, true)
      if (!isAborted || expected[i].tokens.length <= 2)
        return expect(tokensOf(await found)).toEqual(tokensOf([expected[i]]))
      await expect(found).rejects.toThrow(/abort/i)
    })
    await Promise.all(running)
    await small.dispose()
  }
})

test('clearing between calls or during decoding drops the cache', async () => {
  const requests = requestsOf(6)
  sampler.clear()
  const expected = await sampler.sample(requests, options, 0)
  // Directly after a call, as in training: identical to a fresh sampler to the last bit.
  for (let round = 0; round < 3; round++) {
    sampler.clear()
    expect(await sampler.sample(requests, options, 0)).toEqual(expected)
  }
  const controller = new AbortController()
  const aborted = sampler.sample(requests, { ...options, signal: controller.signal }, 0)
  await new Promise(setImmediate)
  controller.abort()
  sampler.clear()
  const next = sampler.sample(requests, options, 0)
  await expect(aborted).rejects.toThrow(/abort/i)
  expect(tokensOf(await next)).toEqual(tokensOf(expected))
})

test('a listener that throws ends only its own call', async () => {
  const [one, two] = requestsOf(2)
  const failing = sampler.sample(
    [one],
    {
      ...options,
      onToken: () => {
        throw new Error('listener')
      },
    },
    0,
    true,
  )
  const other = sampler.sample([two], options, 0, true)
  await expect(failing).rejects.toThrow('listener')
  expect((await other)[0].tokens.length).toBeGreaterThan(0)
})
