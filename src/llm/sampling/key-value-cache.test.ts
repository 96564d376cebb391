import { expect, test } from 'vitest'
import { tinyConfig } from '../testing/tiny-model.ts'
import { createRandom } from '../../engine/random/index.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { SampleRequest } from '../model-backend.ts'
import { bytesPerToken, createKeyValueCache, joinRows } from './key-value-cache.ts'
import { createSampler } from './sampler.ts'

const none = { slot: 0, length: 0 }

test('many short rows that follow a long one take no more memory than there is', () => {
  const cache = createKeyValueCache(tinyConfig)
  const most = 8 * 64
  const thatFit = (capacity: number): number => Math.floor(most / capacity)
  cache.arrange([none, none, none], 64)
  cache.append(0, [1, 2, 3], emptyRun(3), 0)
  cache.append(
    1,
    Array.from({ length: 40 }, () => 4),
    emptyRun(40),
    0,
  )
  joinRows(cache, 1, [none, none, none], 32, thatFit)
  // Four rows fit as long as they were, and what is left is kept.
  expect([cache.slots, cache.capacity]).toEqual([8, 64])
  expect([...cache.lengths.subarray(0, 5)]).toEqual([3, 0, 0, 0, 40])
  joinRows(
    cache,
    1,
    Array.from({ length: 15 }, () => none),
    32,
    thatFit,
  )
  // Sixteen do only if they are shorter, for which the row of 40 tokens goes.
  expect([cache.slots, cache.capacity]).toEqual([16, 32])
  expect([...cache.lengths.subarray(0, 5)]).toEqual([3, 0, 0, 0, 0])
  const numbers = [...cache.keys, ...cache.values].reduce((sum, { length }) => sum + length, 0)
  expect(4 * numbers).toBe(most * bytesPerToken(tinyConfig))
})

function emptyRun(chunk: number) {
  const layers = Array.from({ length: tinyConfig.num_hidden_layers }, () => new Float32Array(64 * chunk))
  return { keys: layers, values: layers, chunk }
}

test('rows that join an active one get the same tokens, however long the rows before them were', async () => {
  const config = { ...tinyConfig, max_position_embeddings: 256 }
  const parameters = initialiseParameters(config, 3)
  const random = createRandom(5)
  const request = (key: string, length: number): SampleRequest => ({
    key,
    prompt: Int32Array.from({ length }, () => 2 + random.int(config.vocab_size - 2)),
  })
  const long = request('long', 200)
  const active = request('active', 20)
  const many = Array.from({ length: 12 }, (_, i) => request(`short ${i}`, 5 + i))
  const options = { maxTokens: 24, stop: [], temperature: 1, seed: 2 }
  const roomy = createSampler({ config, parameters, cacheBytes: 2 ** 26 })
  const tight = createSampler({ config, parameters, cacheBytes: 700 * bytesPerToken(config) })
  const run = async (sampler: typeof roomy) => {
    const first = await sampler.sample([long], options, 1, true)
    const rest = await Promise.all([
      sampler.sample([active], options, 1, true),
      sampler.sample(many, options, 1, true),
      sampler.sample([long], options, 1, true),
    ])
    return [first, ...rest].flat().map(({ tokens }) => [...tokens])
  }
  expect(await run(tight)).toEqual(await run(roomy))
  await roomy.dispose()
  await tight.dispose()
})
