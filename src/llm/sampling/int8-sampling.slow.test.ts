import { afterEach, expect, test, vi } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { SampleOptions, SampleOutput } from '../model-backend.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { packTexts } from '../grammar/cursor.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createSampler } from './sampler.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

const config = { ...tinyConfig, hidden_size: 32, intermediate_size: 48 }
const options: SampleOptions = { maxTokens: 16, stop: [0], temperature: 1, seed: 4 }
const requests = Array.from({ length: 24 }, (_, row) => ({
  prompt: Int32Array.from({ length: 3 + (row % 5) }, (_unused, i) => (row * 7 + i * 5) % 64),
  key: row,
}))

/** Weights whose distributions are far from uniform. */
function sharp(seed = 7) {
  const parameters = initialiseParameters(config, seed)
  const random = createRandom(seed)
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.1 * random.normal()
  return parameters
}
const open = (samplingWeights: 'int8' | 'float32', threads = 1, seed = 7) =>
  createLocalBackend({ config, parameters: sharp(seed), threads, samplingWeights })
const whole = (outputs: readonly SampleOutput[], asked = requests): Int32Array[] =>
  outputs.map(({ tokens }, i) => Int32Array.from([...asked[i].prompt, ...tokens]))
const tokensOf = (outputs: readonly SampleOutput[]) => outputs.map(({ tokens }) => [...tokens])
const logprobsOf = (outputs: readonly SampleOutput[]) => outputs.map(({ logprobs }) => [...logprobs])

afterEach(() => vi.unstubAllEnvs())

/** Mean and largest distance of the reported values from those of float32. */
async function distance(backend: LocalBackend, outputs: readonly SampleOutput[], asked = requests) {
  const exact = await backend.forward(whole(outputs, asked))
  const distances = outputs.flatMap(({ logprobs }, i) =>
    [...logprobs].map((value, t) => Math.abs(value - exact[i][asked[i].prompt.length + t])),
  )
  return { mean: distances.reduce((a, b) => a + b, 0) / distances.length, most: Math.max(...distances) }
}

test('log-probabilities are nearly those of float32, in every architecture', async () => {
  const int8 = open('int8')
  const ofOurs = await distance(int8, await int8.sample(requests, options))
  expect(ofOurs.mean).toBeLessThan(0.03)
  expect(ofOurs.most).toBeLessThan(0.3)
  expect(ofOurs.mean).toBeGreaterThan(1e-4)
  await int8.dispose()
  for (const kind of ['qwen2', 'qwen3-bias', 'llama3']) {
    const checkpoint = await readCheckpoint(`src/llm/golden/checkpoints/${kind}`)
    const { config: own, parameters } = checkpoint
    const backend = createLocalBackend({ config: own, parameters, threads: 1, samplingWeights: 'int8' })
    const asked = requests.map(({ prompt, key }) => ({
      prompt: prompt.map((id) => id % own.vocab_size),
      key,
    }))
    const outputs = await backend.sample(asked, options)
    const { mean, most } = await distance(backend, outputs, asked)
    expect(mean, kind).toBeLessThan(0.03)
    expect(most, kind).toBeLessThan(0.3)
    await backend.dispose()
  }
})

test('prompts and tokens use one policy: a continued row draws the same', async () => {
  const int8 = open('int8')
  const outputs = await int8.sample(requests, { ...options, stop: [] })
  int8.clearCache()
  const taken = requests.map(({ key }, i) => ({ prompt: whole(outputs)[i].slice(0, -6), key }))
  const again = await int8.sample(taken, { ...options, stop: [], maxTokens: 6 })
  expect(tokensOf(again)).toEqual(tokensOf(outputs).map((tokens) => tokens.slice(-6)))
  for (const [i, { logprobs }] of again.entries())
    logprobs.forEach((value, t) => expect(Math.abs(value - outputs[i].logprobs[t + 10])).toBeLessThan(0.02))
  await int8.dispose()
})

test('one row, many rows and several threads draw the same repeatedly', async () => {
  const [one, two] = [open('int8'), open('int8', 2)]
  const expected = await one.sample(requests, options)
  const found = await two.sample(requests, options)
  expect(tokensOf(found)).toEqual(tokensOf(expected))
  for (const [i, { logprobs }] of found.entries())
    logprobs.forEach((value, t) => expect(Math.abs(value - expected[i].logprobs[t])).toBeLessThan(1e-3))
  one.clearCache()
  expect(logprobsOf(await one.sample(requests, options))).toEqual(logprobsOf(expected))
  one.clearCache()
  const [alone] = await one.sample(requests.slice(3, 4), options)
  expect([...alone.tokens]).toEqual([...expected[3].tokens])
  await Promise.all([one.dispose(), two.dispose()])
})

/** Trainer report on the samples. */
function sequenceOf(prompt: Int32Array, { tokens, logprobs }: SampleOutput): TrainingSequence {
  const length = prompt.length + tokens.length
  const behind = (values: ArrayLike<number>): Float32Array => {
    const all = new Float32Array(length)
    all.set(values, prompt.length)
    return all
  }
  const rl = behind(new Float32Array(tokens.length).fill(1))
  return {
    tokens: Int32Array.from([...prompt, ...tokens]),
    logprobs: behind(logprobs),
    advantages: behind(new Float32Array(tokens.length).fill(0.01)),
    weights: { rl, ce: new Float32Array(length), kl: new Float32Array(length) },
  }
}

test('the mismatch that training reports is that of the int8 sampler', async () => {
  for (const weights of ['float32', 'int8'] as const) {
    const backend = open(weights, 2)
    const outputs = await backend.sample(requests, options)
    const sequences = outputs.map((output, i) => sequenceOf(requests[i].prompt, output))
    const { meanDifference, kl } = await backend.forwardBackward(sequences, { name: 'importance_sampling' })
    const { mean } = await distance(backend, outputs)
    expect(meanDifference).toBeCloseTo(mean, 5)
    if (weights === 'int8') expect(kl).toBeGreaterThan(1e-6)
    else expect(meanDifference).toBeLessThan(1e-5)
    await backend.dispose()
  }
})

test('changed weights are quantised again in all threads', async () => {
  const [backend, other] = [open('int8', 2), open('int8', 2, 8)]
  const before = await backend.sample(requests, options)
  const expected = await other.sample(requests, options)
  expect(tokensOf(before)).not.toEqual(tokensOf(expected))
  backend.parameters.data.set(other.parameters.data)
  backend.weightsChanged()
  expect(logprobsOf(await backend.sample(requests, options))).toEqual(logprobsOf(expected))
  await backend.forwardBackward(
    expected.map((output, i) => sequenceOf(requests[i].prompt, output)),
    { name: 'importance_sampling' },
  )
  await backend.optimStep({ learningRate: 0.05 })
  const stepped = await backend.sample(requests, options)
  expect(logprobsOf(stepped)).not.toEqual(logprobsOf(expected))
  expect((await distance(backend, stepped)).mean).toBeLessThan(0.05)
  await Promise.all([backend.dispose(), other.dispose()])
})

test('truncation, greedy choice and top tokens use the same distribution', async () => {
  const int8 = open('int8')
  const asked = [{ topK: 1 }, { temperature: 0 }, { topK: 3, topLogprobs: 5 }].map((settings, key) => ({
    prompt: Int32Array.of(5, 9, 11),
    key,
    ...settings,
  }))
  const [first, greedy, three] = await int8.sample(asked, { ...options, stop: [] })
  expect([...first.tokens]).toEqual([...greedy.tokens])
  three.topLogprobs!.forEach((best, t) => {
    const place = best.findIndex(({ token }) => token === three.tokens[t])
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThan(3)
    expect(best[place].logprob).toBeCloseTo(three.logprobs[t], 5)
    const kept = best.slice(0, 3).reduce((mass, { logprob }) => mass + Math.exp(logprob), 0)
    expect(three.drawnLogprobs![t]).toBeCloseTo(three.logprobs[t] - Math.log(kept), 3)
  })
  await int8.dispose()
})

test('a grammar holds, and its rows report the whole distribution', async () => {
  const texts = packTexts([...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), undefined])
  const own = { ...config, vocab_size: 257 }
  const parameters = initialiseParameters(own, 3)
  const sampler = createSampler({ config: own, parameters, cacheBytes: 2 ** 22, samplingWeights: 'int8' })
  sampler.setTexts(texts)
  const grammar = { choice: ['yes', 'no', 'perhaps'] }
  const asked = requests.map(({ prompt, key }) => ({ prompt, key, ...(key % 2 === 0 && { grammar }) }))
  const outputs = await sampler.sample(asked, { ...options, stop: [256] }, 0)
  for (const [i, { tokens, logprobs, drawnLogprobs }] of outputs.entries()) {
    if (i % 2 === 1) continue
    expect(grammar.choice).toContain(Buffer.from(tokens.filter((id) => id < 256)).toString())
    // Of 257 nearly equal tokens, and of the few that are allowed.
    expect(logprobs[0]).toBeLessThan(-3)
    expect(drawnLogprobs![0]).toBeGreaterThan(-2.5)
  }
  await sampler.dispose()
})

test('devices other than the CPU are refused at once', () => {
  vi.stubEnv('AGOGE_DEVICE', 'webgpu')
  expect(() => open('int8')).toThrow(
    expect.objectContaining({ code: 'unsupported-device', expected: expect.stringContaining('cpu') }),
  )
})
