import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import type { SampleOptions, SampleRequest } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createLearner } from '../backend/learner.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createSampler } from './sampler.ts'

const config: TransformerConfig = {
  vocab_size: 40,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  rope_theta: 10_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  max_position_embeddings: 256,
}
const parameters = initialiseParameters(config, 7)
const random = createRandom(1)
for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.25 * random.normal()
const learner = createLearner({ config, parameters, tokenBudget: 4096 })
const fresh = (cacheBytes = 2 ** 26) => createSampler({ config, parameters, cacheBytes })
const sampler = fresh()
afterAll(async () => {
  await learner.dispose()
  await sampler.dispose()
})

const options: SampleOptions = { maxTokens: 24, stop: [1], temperature: 1, seed: 5 }
const prompt = (length: number, seed: number) => {
  const numbers = createRandom(seed, 'prompt')
  return Int32Array.from({ length }, () => 2 + numbers.int(38))
}
const join = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]))

/** Lengths from one token to more than a chunk, with repeated prompts among them. */
const requests: SampleRequest[] = [3, 30, 1, 150, 30, 64, 7, 33].map((length, i) => ({
  prompt: prompt(length, i === 4 ? 1 : i),
  key: `row ${i}`,
}))

test('log-probabilities of cached sampling are those of the whole forward pass', async () => {
  for (const temperature of [1, 0]) {
    sampler.clear()
    const outputs = await sampler.sample(requests, { ...options, temperature }, 3)
    const whole = await learner.forward(outputs.map(({ tokens }, i) => join(requests[i].prompt, tokens)))
    for (const [i, { tokens, logprobs, finish, weightVersion }] of outputs.entries()) {
      expect(weightVersion).toBe(3)
      expect(finish).toBe(tokens.at(-1) === 1 ? 'stop' : 'length')
      expect(tokens.length).toBeLessThanOrEqual(24)
      const expected = whole[i].subarray(requests[i].prompt.length)
      for (let t = 0; t < tokens.length; t++) expect(Math.abs(logprobs[t] - expected[t])).toBeLessThan(1e-4)
    }
    // Rows must end at different times, or compaction is not tried.
    expect(new Set(outputs.map(({ tokens }) => tokens.length)).size).toBeGreaterThan(
      temperature === 1 ? 2 : 0,
    )
  }
})

test('a row draws the same alone, in a batch, and in waves of a small cache', async () => {
  sampler.clear()
  const batched = await sampler.sample(requests, options, 0)
  for (const [i, request] of requests.entries()) {
    sampler.clear()
    const [alone] = await sampler.sample([request], options, 0)
    expect(alone.tokens).toEqual(batched[i].tokens)
  }
  const small = fresh(300_000)
  const inWaves = await small.sample(requests, options, 0)
  expect(inWaves.map(({ tokens }) => tokens)).toEqual(batched.map(({ tokens }) => tokens))
  await small.dispose()
  const [other] = await sampler.sample([{ ...requests[1], key: 'another' }], options, 0)
  expect(other.tokens).not.toEqual(batched[1].tokens)
})

test('equal prompts share their prefill and differ by key', async () => {
  sampler.clear()
  const group = Array.from({ length: 8 }, (_, i) => ({ prompt: requests[3].prompt, key: i }))
  const outputs = await sampler.sample(group, options, 0)
  expect(new Set(outputs.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(4)
  const whole = await learner.forward(outputs.map(({ tokens }) => join(requests[3].prompt, tokens)))
  outputs.forEach(({ tokens, logprobs }, i) => {
    const expected = whole[i].subarray(requests[3].prompt.length)
    for (let t = 0; t < tokens.length; t++) expect(Math.abs(logprobs[t] - expected[t])).toBeLessThan(1e-4)
  })
})

test('continuing cached rows gives the same as a fresh sampler for any order and number of rows', async () => {
  sampler.clear()
  let turn = [...requests, ...requests.map((request, i) => ({ ...request, key: `again ${i}` }))]
  for (let round = 0; round < 4; round++) {
    const kept = await sampler.sample(turn, options, 0)
    const anew = fresh()
    const expected = await anew.sample(turn, options, 0)
    await anew.dispose()
    expect(kept.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens))
    kept.forEach(({ logprobs }, i) =>
      logprobs.forEach((value, t) => expect(Math.abs(value - expected[i].logprobs[t])).toBeLessThan(1e-4)),
    )
    // Every row gets a result and continues; some leave, the rest are shuffled, one history is continued twice.
    const next = turn.map(({ prompt: before }, i) => ({
      prompt: join(before, kept[i].tokens, prompt(1 + ((i * 7) % 11), 100 + i + round)),
      key: `${round} ${i}`,
    }))
    const kept2 = createRandom(round, 'order')
      .shuffle(next.filter(({ prompt: p }) => p.length < 230))
      .slice(0, 11)
    turn = [...kept2, { prompt: join(kept2[0].prompt, Int32Array.of(9, 9)), key: 'fork' }]
  }
})

test('the window ends a row, bad requests are refused, and an abort stops a call', async () => {
  sampler.clear()
  const [long] = await sampler.sample([{ prompt: prompt(250, 3), key: 0 }], { ...options, stop: [] }, 0)
  expect(long.tokens.length).toBe(6)
  expect(long.finish).toBe('length')
  await expect(sampler.sample([{ prompt: new Int32Array(0), key: 0 }], options, 0)).rejects.toThrow('window')
  await expect(sampler.sample([{ prompt: prompt(256, 3), key: 0 }], options, 0)).rejects.toThrow('window')
  await expect(sampler.sample([{ prompt: Int32Array.of(40), key: 0 }], options, 0)).rejects.toThrow(
    'vocabulary',
  )
  await expect(sampler.sample(requests, { ...options, temperature: -1 }, 0)).rejects.toThrow('options')
  await expect(sampler.sample(requests, { ...options, signal: AbortSignal.abort() }, 0)).rejects.toThrow(
    'abort',
  )
  expect(await sampler.sample([], options, 0)).toEqual([])
})

test('tokens are drawn in proportion to their probabilities', async () => {
  sampler.clear()
  const asked = Int32Array.from(requests[5].prompt)
  const candidates = Array.from({ length: 38 }, (_, id) => join(asked, Int32Array.of(id)))
  const logprobs = (await learner.forward(candidates)).map((row) => row.at(-1)!)
  const many = Array.from({ length: 2000 }, (_, key) => ({ prompt: asked, key }))
  const outputs = await sampler.sample(many, { ...options, maxTokens: 1 }, 0)
  for (const [id, logprob] of logprobs.entries()) {
    const probability = Math.exp(logprob)
    const seen = outputs.filter(({ tokens }) => tokens[0] === id).length / many.length
    // Five standard deviations of a binomial share.
    expect(Math.abs(seen - probability)).toBeLessThan(
      5 * Math.sqrt((probability * (1 - probability)) / many.length) + 1e-3,
    )
  }
})
