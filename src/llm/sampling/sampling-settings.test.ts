import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import { createLearner } from '../backend/learner.ts'
import { packTexts, textOf } from '../grammar/cursor.ts'
import type { SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { createSampler } from './sampler.ts'

// Tokens 0 and 1 are markers, the others stand for these texts.
const alphabet = Array.from('{}[]":,.-0123456789 abcdefghtrulsn\\xyz')
const words = [
  ...alphabet,
  '{"',
  '":',
  'true',
  '"}',
  'ab',
  'bc',
  '1.5',
  '",',
  'null',
  ':"',
  '},{',
  '[[',
  'x"',
]
const texts = packTexts([undefined, undefined, ...words.map((word) => new TextEncoder().encode(word))])
const config = { ...tinyConfig, vocab_size: 64, max_position_embeddings: 256 }
const parameters = initialiseParameters(config, 4)
const random = createRandom(2)
for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.25 * random.normal()
const cacheBytes = 2 ** 24
const learner = createLearner({ config, parameters, tokenBudget: 4096 })
const sampler = createSampler({ config, parameters, cacheBytes })
sampler.setTexts(texts)
afterAll(() => Promise.all([learner.dispose(), sampler.dispose()]))

const options: SampleOptions = { maxTokens: 20, stop: [], temperature: 1, seed: 1 }
const promptOf = (row: number): Int32Array =>
  Int32Array.from({ length: 3 + row }, (_, i) => 2 + ((row * 17 + i * 5) % 50))
const requestsOf = (count: number): SampleRequest[] =>
  Array.from({ length: count }, (_, row) => ({ prompt: promptOf(row), key: row }))
const textOfRow = ({ tokens }: SampleOutput): string =>
  Buffer.concat([...tokens].map((id) => textOf(texts, id))).toString()

/** Log-probabilities [position][token] of the whole distribution at a temperature, by the learner. */
async function distributions(prompt: Int32Array, tokens: Int32Array, temperature: number) {
  const rows = []
  for (let at = 0; at < tokens.length; at++) {
    const before = [...prompt, ...tokens.subarray(0, at)]
    const all = Array.from({ length: config.vocab_size }, (_, id) => Int32Array.from([...before, id]))
    const logprobs = (await learner.forward(all)).map((row) => row.at(-1)! / temperature)
    const most = Math.max(...logprobs)
    const whole = most + Math.log(logprobs.reduce((sum, value) => sum + Math.exp(value - most), 0))
    rows.push(logprobs.map((value) => value - whole))
  }
  return rows
}

test('requests of one call keep their own settings and draw the same as alone', async () => {
  const [a, b, c, d, e, f] = requestsOf(6)
  const mixed: SampleRequest[] = [
    a,
    { ...b, temperature: 0.5, seed: 9 },
    { ...c, temperature: 0, maxTokens: 3 },
    { ...d, topK: 1 },
    { ...e, temperature: 1.7, topP: 0.6, stop: [5, 6, 7, 8, 9] },
    { ...f, prompt: e.prompt, temperature: 0.8, minP: 0.3 },
  ]
  sampler.clear()
  const batched = await sampler.sample(mixed, options, 0)
  for (const [i, request] of mixed.entries()) {
    sampler.clear()
    const [alone] = await sampler.sample([request], options, 0)
    expect(batched[i].tokens).toEqual(alone.tokens)
    batched[i].logprobs.forEach((value, t) => expect(value).toBeCloseTo(alone.logprobs[t], 3))
  }
  expect(batched.map(({ tokens }) => tokens.length).slice(0, 4)).toEqual([20, 20, 3, 20])
  const [greedy] = await sampler.sample([{ ...d, temperature: 0 }], options, 0)
  expect(batched[3].tokens).toEqual(greedy.tokens)
  const [other] = await sampler.sample([{ ...b, temperature: 0.5, seed: 10 }], options, 0)
  expect(other.tokens).not.toEqual(batched[1].tokens)
})

test('log-probabilities are those of the whole tempered distribution, and of what was drawn from', async () => {
  const request = { ...requestsOf(1)[0], temperature: 0.7, topK: 6, topP: 0.8, topLogprobs: 4 }
  const [output] = await sampler.sample([request], { ...options, maxTokens: 8 }, 0)
  const whole = await distributions(request.prompt, output.tokens, 0.7)
  for (const [t, token] of output.tokens.entries()) {
    const order = whole[t].map((_, id) => id).sort((x, y) => whole[t][y] - whole[t][x])
    expect(output.logprobs[t]).toBeCloseTo(whole[t][token], 3)
    expect(output.topLogprobs![t].map(({ token: id }) => id)).toEqual(order.slice(0, 4))
    output.topLogprobs![t].forEach(({ token: id, logprob }) => expect(logprob).toBeCloseTo(whole[t][id], 3))
    const six = order.slice(0, 6)
    const mass = (ids: number[]): number => ids.reduce((sum, id) => sum + Math.exp(whole[t][id]), 0)
    let count = 1
    while (mass(six.slice(0, count)) < 0.8 * mass(six)) count++
    expect(six.slice(0, count)).toContain(token)
    expect(output.drawnLogprobs![t]).toBeCloseTo(whole[t][token] - Math.log(mass(six.slice(0, count))), 3)
  }
  const [plain] = await sampler.sample(requestsOf(1), options, 0)
  expect(plain).not.toHaveProperty('drawnLogprobs')
  expect(plain).not.toHaveProperty('topLogprobs')
})

test('truncated draws are in proportion (chi-square)', async () => {
  const prompt = promptOf(7)
  const [whole] = await distributions(prompt, Int32Array.of(2), 1.3)
  const many = Array.from({ length: 4000 }, (_, key) => ({ prompt, key }))
  const settings = { ...options, maxTokens: 1, temperature: 1.3, topK: 5 }
  const outputs = await sampler.sample(many, settings, 0)
  const kept = whole
    .map((_, id) => id)
    .sort((a, b) => whole[b] - whole[a])
    .slice(0, 5)
  const mass = kept.reduce((sum, id) => sum + Math.exp(whole[id]), 0)
  const statistic = kept.reduce((sum, id) => {
    const expected = (many.length * Math.exp(whole[id])) / mass
    return sum + (outputs.filter(({ tokens }) => tokens[0] === id).length - expected) ** 2 / expected
  }, 0)
  // Four degrees of freedom: more than this has a probability of 0.001.
  expect(statistic).toBeLessThan(18.47)
  expect(outputs.every(({ tokens }) => kept.includes(tokens[0]))).toBe(true)
})

test('sequences of tokens and texts end a row, wherever they begin', async () => {
  const [request] = requestsOf(1)
  const [free] = await sampler.sample([request], { ...options, maxTokens: 40 }, 0)
  const run = [...free.tokens.subarray(7, 10)]
  const ended = async (stopSequences: (number[] | string)[]) =>
    (await sampler.sample([{ ...request, stopSequences }], { ...options, maxTokens: 40 }, 0))[0]
  const first = (length: number) => free.tokens.slice(0, length)
  const byTokens = await ended([[63, 63, 63], run])
  expect(byTokens.finish).toBe('stop')
  expect([...byTokens.tokens.subarray(-3)]).toEqual(run)
  expect(byTokens.tokens).toEqual(first(byTokens.tokens.length))
  const text = textOfRow(free)
  const part = text.slice(9, 13)
  const byText = await ended([part])
  expect(byText.finish).toBe('stop')
  expect(byText.tokens).toEqual(first(byText.tokens.length))
  expect(textOfRow(byText)).toContain(part)
  expect(textOfRow({ ...byText, tokens: byText.tokens.subarray(0, -1) })).not.toContain(part)
  expect((await ended(['never said'])).tokens).toEqual(free.tokens)
})

test('every row under a grammar is valid, whatever the rest of the batch', async () => {
  const schemas = [
    { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'boolean' } }, required: ['a'] },
    { type: 'array', items: { enum: ['x', 1, null] }, minItems: 1 },
    {
      type: 'object',
      properties: { text: { type: 'string' }, n: { type: 'number', minimum: 2 } },
      required: ['n'],
    },
    { anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'string', maxLength: 4 } }] },
  ]
  const rows: SampleRequest[] = Array.from({ length: 40 }, (_, row) => ({
    prompt: promptOf(row % 9),
    key: row,
    temperature: [1, 0.2, 3, 0][row % 4],
    ...(row % 5 < 4 && { grammar: { schema: schemas[row % 5] } }),
    ...(row % 3 === 0 && { topP: 0.9 }),
  }))
  const settings = { ...options, maxTokens: 24, stop: [1] }
  const outputs = await sampler.sample(rows, settings, 0)
  for (const [i, output] of outputs.entries()) {
    if (i % 5 === 4) continue
    expect(output.finish).toBe('stop')
    expect(output.tokens.at(-1)).toBe(1)
    const value: unknown = JSON.parse(textOfRow(output))
    const schema = { type: 'object', properties: { value: schemas[i % 5] } }
    expect(validateArguments(schema, { value }), textOfRow(output)).toBeUndefined()
    output.drawnLogprobs!.forEach((value_, t) =>
      expect(value_).toBeGreaterThanOrEqual(output.logprobs[t] - 1e-4),
    )
  }
  sampler.clear()
  const [alone] = await sampler.sample([rows[2]], settings, 0)
  expect(alone.tokens).toEqual(outputs[2].tokens)
  const [whole] = await distributions(rows[2].prompt, alone.tokens.slice(0, 1), 3)
  expect(alone.logprobs[0]).toBeCloseTo(whole[alone.tokens[0]], 3)
  // Without stop ids a row ends where nothing can follow; choices and expressions are grammars too.
  const [word] = await sampler.sample(
    [{ ...requestsOf(1)[0], grammar: { choice: ['abc', 'null'] } }],
    options,
    0,
  )
  expect(word.finish).toBe('stop')
  expect(['abc', 'null']).toContain(textOfRow(word))
  const [expression] = await sampler.sample(
    [{ ...requestsOf(1)[0], grammar: { regex: '[a-c]{3}\\d' } }],
    options,
    0,
  )
  expect(textOfRow(expression)).toMatch(/^[a-c]{3}\d$/)
})

test('a row without stop ids ends complete before its limit would cut it', async () => {
  const grammar = { sequence: ['a', { repeat: 'bc"x', least: 0 }] }
  const rows = Array.from({ length: 20 }, (_, key) => ({ ...requestsOf(1)[0], key, grammar }))
  const outputs = await sampler.sample(rows, { ...options, maxTokens: 12 }, 0)
  for (const output of outputs) expect(textOfRow(output)).toMatch(/^a(bc"x)*$/)
  expect(outputs.every(({ finish }) => finish === 'length')).toBe(true)
})

test('invalid settings are refused by name', async () => {
  const bad: Partial<SampleRequest>[] = [
    { topK: 0 },
    { topP: 0 },
    { minP: 2 },
    { temperature: NaN },
    { maxTokens: 0 },
    { stopSequences: [[]] },
    { topLogprobs: 1.5 },
  ]
  for (const settings of bad)
    await expect(sampler.sample([{ ...requestsOf(1)[0], ...settings }], options, 0)).rejects.toThrow(
      'request 0',
    )
  const without = createSampler({ config, parameters, cacheBytes })
  for (const settings of [{ grammar: 'a' }, { stopSequences: ['a'] }])
    await expect(without.sample([{ ...requestsOf(1)[0], ...settings }], options, 0)).rejects.toThrow(
      'cannot be used',
    )
  await without.dispose()
})
