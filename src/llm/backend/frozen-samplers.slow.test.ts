import { afterAll, expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createLocalBackend } from './local-backend.ts'
import { tinyConfig as config } from '../testing/tiny-model.ts'

const backend = createLocalBackend({ config, seed: 3, threads: 2 })
afterAll(() => backend.dispose())

const requests = Array.from({ length: 24 }, (_, row) => ({
  prompt: Int32Array.from({ length: 3 + (row % 5) }, (_unused, i) => (row * 7 + i * 5) % 64),
  key: row,
}))
const options = { maxTokens: 30, stop: [0], temperature: 1, seed: 4 }
const row = (): TrainingSequence => {
  const tokens = Int32Array.from({ length: 12 }, (_, t) => (t * 11) % 64)
  const zeros = new Float32Array(12)
  return {
    tokens,
    logprobs: zeros,
    advantages: zeros,
    weights: { rl: zeros, ce: new Float32Array(12).fill(0.1, 1), kl: zeros },
  }
}
const train = async (): Promise<void> => {
  await backend.forwardBackward([row()], { name: 'cross_entropy' })
  await backend.optimStep({ learningRate: 0.1 })
}

test('a frozen sampler draws the same as the backend bit for bit, also while the backend trains', async () => {
  await train()
  backend.clearCache()
  const expected = await backend.sample(requests, options)
  backend.clearCache()
  const few = await backend.sample(requests.slice(0, 3), options)
  const frozen = await backend.freeze()
  const again = await backend.freeze()
  expect(frozen.weightVersion).toBe(backend.weightVersion)
  // The threads take a moment to start.
  await again.sample(requests.slice(0, 1), { ...options, maxTokens: 1 })
  const events: string[] = []
  const sampling = frozen.sample(requests, { ...options, onToken: () => events.push('token') })
  const sampled = sampling.finally(() => events.push('sampled'))
  do {
    events.push('begun')
    await train()
    events.push('trained')
  } while (!events.includes('sampled'))
  expect(await sampled).toEqual(expected)
  // Tokens were drawn during an optimiser step.
  expect(events.join(' ')).toMatch(/begun token .*trained/)
  // The older weights again, after the threads had held others.
  const newer = await backend.freeze()
  const moved = await newer.sample(requests, options)
  expect(moved[0].weightVersion).toBe(backend.weightVersion)
  expect(moved).not.toEqual(expected)
  expect(await again.sample(requests.slice(0, 3), options)).toEqual(few)
  const asked = [{ ...requests[0], promptLogprobs: true }]
  const [{ promptLogprobs }] = await newer.sample(asked, options)
  const [forward] = await backend.forward([requests[0].prompt])
  promptLogprobs!.forEach((value, t) => expect(value).toBeCloseTo(forward[t], 5))
})

test('an abort ends a call, and later calls work', async () => {
  const frozen = await backend.freeze()
  const stop = new AbortController()
  const sampling = frozen.sample(requests, { ...options, stop: [], signal: stop.signal })
  stop.abort()
  await expect(sampling).rejects.toThrow(/abort/i)
  await expect(frozen.sample([{ ...requests[0], topP: 3 }], options)).rejects.toMatchObject({
    code: 'bad-sampling-options',
  })
  expect(await frozen.sample(requests, options)).toHaveLength(24)
})
