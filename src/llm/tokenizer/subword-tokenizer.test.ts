import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'
import { createTokenizer } from './tokenizer.ts'

/** text, ids, ids where no text is an added token, decoded, decoded without special tokens */
type Case = [string, number[], number[], string, string]

// Made with Hugging Face's `tokenizers`; make_subword_tokenizers.py beside it says how.
const golden = JSON.parse(
  readFileSync(new URL('../golden/subword-tokenizers.json', import.meta.url), 'utf8'),
) as Record<'unigram' | 'llama2' | 'wordpiece', { json: Record<string, object>; cases: Case[] }>
const make = (json: unknown) => createTokenizer(tokenizerFromJson(JSON.stringify(json)))

for (const [name, { json, cases }] of Object.entries(golden)) {
  const tokenizer = make(json)

  test(`${name}: ids and texts are those of the reference`, () => {
    expect(cases.length).toBeGreaterThan(50)
    for (const [text, ids, withoutAdded, decoded, skipped] of cases) {
      expect([...tokenizer.encode(text, { addedTokens: true })], JSON.stringify(text)).toEqual(ids)
      expect([...tokenizer.encode(text)], JSON.stringify(text)).toEqual(withoutAdded)
      expect(tokenizer.decode(ids)).toBe(decoded)
      expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(skipped)
    }
  })

  test(`${name}: no text produces a special or added token by default, except the unknown one`, () => {
    const unknown = tokenizer.special(name === 'wordpiece' ? '[UNK]' : '<unk>')
    const added = new Set((json['added_tokens'] as { id: number }[]).map(({ id }) => id))
    const names = (json['added_tokens'] as { content: string }[]).map(({ content }) => content)
    const noise = fc
      .array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...names, ' ')))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(noise, (text) => {
        for (const id of tokenizer.encode(text)) expect(id === unknown || !added.has(id)).toBe(true)
      }),
    )
  })

  test(`${name}: the joined bytes of tokens are the text; the file is written unchanged`, () => {
    for (const [, ids, , decoded] of cases) {
      const bytes = ids.flatMap((id) => [...tokenizer.bytes(id)])
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))
      // WordPiece tidies spaces up over whole texts, and the space in front of a text is dropped.
      if (name !== 'wordpiece') expect([text, text.replace(/^ /, '')]).toContain(decoded)
    }
    const text = JSON.stringify(json, null, 2)
    expect(tokenizerToJson(tokenizerFromJson(text))).toBe(text)
  })
}

test('ids without tokens give no text, and lengths are limited', () => {
  const tokenizer = make(golden.llama2.json)
  const ids = tokenizer.encode('the cat')
  expect(tokenizer.decode([...ids, tokenizer.vocabularySize + 7])).toBe('the cat')
  expect(tokenizer.bytes(tokenizer.vocabularySize)).toHaveLength(0)
  expect(() => tokenizer.decode([-1])).toThrow('no token')
  expect([...tokenizer.encode('')]).toEqual([])
  expect(tokenizer.decode([])).toBe('')
  const tooLong = expect.objectContaining({ code: 'sequence-too-long' }) as Error
  expect(() => tokenizer.encode('the cat', { most: ids.length - 1 })).toThrow(tooLong)
  expect(() => tokenizer.encode('a'.repeat(50_000_000), { most: 100 })).toThrow(tooLong)
})

test('settings that the library would read differently are refused with the name of the field', () => {
  const { json } = golden.unigram
  const refused = (change: object) => () => make({ ...json, ...change })
  const split = { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithNext', invert: false }
  expect(refused({ pre_tokenizer: split })).toThrow('pre_tokenizer')
  expect(refused({ model: { ...json['model'], type: 'WordLevel' } })).toThrow('model.type')
  expect(refused({ model: { ...json['model'], vocab: [] } })).toThrow('model.vocab')
})

test('a model with such a tokenizer follows a grammar byte by byte', async () => {
  const tokenizer = make(golden.llama2.json)
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 300 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const properties = { city: { enum: ['Zürich', '日本'] }, n: { type: 'integer' } }
  const grammar = { schema: { type: 'object', properties, required: ['city', 'n'] } }
  const requests = [0, 1, 2].map((key) => ({ prompt: tokenizer.encode('the cat'), key }))
  const outputs = await backend.sample(requests, {
    maxTokens: 120,
    stop: [],
    temperature: 1,
    seed: 4,
    grammar,
  })
  for (const { tokens } of outputs) {
    const said = JSON.parse(tokenizer.decode(tokens)) as { city: string; n: number }
    expect(properties.city.enum).toContain(said.city)
    expect(Number.isInteger(said.n)).toBe(true)
  }
  await backend.dispose()
})

test('pieces that are no pairs are refused', () => {
  const { json } = golden.unigram
  for (const entry of [0, null, {}, [], [1, 2], 'a'])
    expect(() => make({ ...json, model: { ...json['model'], vocab: [['a', -1], entry] } })).toThrow(
      expect.objectContaining({
        code: 'bad-tokenizer',
        message: expect.stringContaining('model.vocab[1]') as string,
      }),
    )
})
