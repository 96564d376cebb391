import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { tokenizerFromJson } from './tokenizer-json.ts'
import { createTokenizer } from './tokenizer.ts'

const { qwen2 } = JSON.parse(
  readFileSync(new URL('../golden/tokenizers.json', import.meta.url), 'utf8'),
) as Record<string, { json: unknown }>
const tokenizer = createTokenizer(tokenizerFromJson(JSON.stringify(qwen2.json)))
const size = tokenizer.vocabularySize
/** As of Qwen2.5, whose output matrix has rows that no token has; here they are most of all. */
const config = { ...tinyConfig, vocab_size: size + 2000, max_position_embeddings: 200 }

test('ids without a token give no text, end no row, and match no grammar', async () => {
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const [text] = ['the'].map((word) => tokenizer.encode(word))
  const options = { maxTokens: 60, stop: [], temperature: 1, seed: 2 }
  const requests = [0, 1, 2].map((key) => ({ prompt: text, key }))
  const outputs = await backend.sample(requests, { ...options, stopSequences: ['~~', 'e'] })
  const padded = outputs.flatMap(({ tokens }) => Array.from(tokens).filter((id) => id >= size))
  expect(padded.length).toBeGreaterThan(20)
  for (const { tokens, finish } of outputs) {
    const said = Array.from(tokens).filter((id) => id < size)
    expect(tokenizer.decode(tokens)).toBe(tokenizer.decode(said))
    expect(finish === 'stop').toBe(tokenizer.decode(tokens).includes('e'))
  }
  const grammar = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }
  for (const { tokens } of await backend.sample(requests, { ...options, grammar })) {
    expect(tokens.every((id) => id < size)).toBe(true)
    expect(JSON.parse(tokenizer.decode(tokens))).toEqual({ n: expect.any(Number) })
  }
  // What was said is read again.
  const [answer] = outputs
  const [next] = await backend.sample([{ prompt: answer.tokens, key: 0 }], { ...options, maxTokens: 1 })
  expect(next.tokens.length).toBe(1)
  await backend.dispose()
})
