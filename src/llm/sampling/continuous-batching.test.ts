import { afterAll, expect, test } from 'vitest'
import { validateArguments } from '../../untrusted/validate.ts'
import type { SampleOptions, SampleRequest } from '../model-backend.ts'
import { trainTokenizer } from '../tokenizer/bpe-train.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { specialTokens } from '../tokenizer/template.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'

const tokenizer = createTokenizer(
  trainTokenizer(['{"name":"read","arguments":{"path":"a/b.txt"}} the file says no'], {
    vocabularySize: 290,
    specialTokens,
  }),
)
const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 128 }
const backend = createLocalBackend({ config, seed: 3, tokenizer, threads: 2 })
afterAll(() => backend.dispose())

const end = tokenizer.special('<|end|>')
const options: SampleOptions = { maxTokens: 30, stop: [end], temperature: 1, seed: 2 }
const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, n: { type: 'integer' } },
  required: ['path'],
}
const requests: SampleRequest[] = Array.from({ length: 24 }, (_, row) => ({
  prompt: tokenizer.encode(`the file ${'no '.repeat(row % 5)}says ${row}`),
  key: row,
  ...(row % 2 === 0 && { grammar: { schema } }),
}))

test('concurrent calls share the threads, stream, and give the same as single calls', async () => {
  const expected = await backend.sample(requests, options)
  const streamed = requests.map((): number[] => [])
  const outputs = await Promise.all(
    requests.map(async (request, i) => {
      const onToken = (_row: number, token: number): void => void streamed[i].push(token)
      return (await backend.continuousBatching([request], { ...options, onToken }))[0]
    }),
  )
  expect(outputs.map(({ tokens }) => [...tokens])).toEqual(expected.map(({ tokens }) => [...tokens]))
  expect(streamed).toEqual(expected.map(({ tokens }) => [...tokens]))
  for (const [i, { tokens, finish }] of outputs.entries()) {
    if (i % 2 === 1) continue
    expect(finish).toBe('stop')
    expect(
      validateArguments(schema, JSON.parse(tokenizer.decode(tokens, { skipSpecial: true }))),
    ).toBeUndefined()
  }
})

test('training waits for active samples, and an abort ends one call', async () => {
  const version = backend.weightVersion
  const controller = new AbortController()
  const aborted = backend.continuousBatching([requests[1]], {
    ...options,
    stop: [],
    signal: controller.signal,
  })
  const sampling = backend.continuousBatching(requests, options)
  const step = backend.optimStep({ learningRate: 0.1 })
  const later = backend.continuousBatching([requests[1]], options)
  controller.abort()
  await expect(aborted).rejects.toThrow(/abort/i)
  expect((await sampling).every(({ weightVersion }) => weightVersion === version)).toBe(true)
  await step
  expect((await later)[0].weightVersion).toBe(version + 1)
})

test('log-probabilities of prompts are those of the forward pass', async () => {
  const asking = { ...requests[3], promptLogprobs: true }
  const [with_, without] = await backend.sample([asking, requests[5]], { ...options, temperature: 0.5 })
  const [expected] = await backend.forward([asking.prompt])
  expect(with_.promptLogprobs).toEqual(expected)
  expect(without).not.toHaveProperty('promptLogprobs')
})

test('requests that need texts are refused without a tokenizer', async () => {
  const bare = createLocalBackend({ config, seed: 3, threads: 1 })
  await expect(bare.sample([requests[0]], options)).rejects.toThrow('cannot be used')
  await bare.dispose()
})
