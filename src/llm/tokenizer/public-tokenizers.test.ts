import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSplitter } from './tokenizer-layout.ts'
import { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'
import { createTokenizer } from './tokenizer.ts'

/** text, ids, ids where no added tokens are known, decoded, decoded without special tokens */
type Case = [string, number[], number[], string, string]

// Made with Hugging Face's `tokenizers`; make_tokenizers.py beside it says how.
const golden = JSON.parse(
  readFileSync(new URL('../golden/tokenizers.json', import.meta.url), 'utf8'),
) as Record<string, { json: Record<string, object>; cases: Case[] }>
const make = (json: unknown) => createTokenizer(tokenizerFromJson(JSON.stringify(json)))

for (const [name, { json, cases }] of Object.entries(golden)) {
  const tokenizer = make(json)

  test(`${name}: ids and texts are those of the reference`, () => {
    expect(cases.length).toBeGreaterThan(60)
    for (const [text, ids, withoutAdded, decoded, skipped] of cases) {
      expect([...tokenizer.encode(text, { addedTokens: true })], JSON.stringify(text)).toEqual(ids)
      expect([...tokenizer.encode(text)], JSON.stringify(text)).toEqual(withoutAdded)
      expect(tokenizer.decode(ids)).toBe(decoded)
      expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(skipped)
    }
  })

  test(`${name}: every text survives, and none produces an added token by default`, () => {
    const normal = (text: string) => (name === 'qwen2' ? text.normalize('NFC') : text)
    const first = Math.min(...tokenizer.model.layout!.added.map(({ id }) => id))
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...cases.map(([text]) => text))),
        (text) => {
          const ids = tokenizer.encode(text)
          expect(tokenizer.decode(ids)).toBe(normal(text))
          expect(Math.max(-1, ...ids)).toBeLessThan(first)
        },
      ),
    )
  })

  test(`${name}: the file is written unchanged`, () => {
    const text = JSON.stringify(json, null, 2)
    expect(tokenizerToJson(tokenizerFromJson(text))).toBe(text)
  })
}

test('special tokens are distinguished from other added tokens', () => {
  const tokenizer = make(golden['qwen2'].json)
  const call = tokenizer.special('<tool_call>')
  const end = tokenizer.special('<|im_end|>')
  expect([tokenizer.isSpecial(call), tokenizer.isSpecial(end)]).toEqual([false, true])
  expect(tokenizer.decode([call, end], { skipSpecial: true })).toBe('<tool_call>')
})

test('normalised added tokens are found in the normalised text', () => {
  const { json } = golden['qwen2']
  const id = tokenizerFromJson(JSON.stringify(json)).tokens.length
  const added = [
    ...(json['added_tokens'] as object[]),
    { id, content: 'caf\u00e9', special: false, normalized: true },
  ]
  const tokenizer = make({ ...json, added_tokens: added })
  expect([...tokenizer.encode('cafe\u0301', { addedTokens: true })]).toEqual([id])
})

test('unsupported settings are refused with the name of the field', () => {
  const { json } = golden['qwen2']
  const refused = (change: object) => () => make({ ...json, ...change })
  const model = json['model']
  expect(refused({ normalizer: { type: 'Lowercase' } })).toThrow('normalizer')
  expect(refused({ pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true } })).toThrow('pre_tokenizer')
  expect(refused({ model: { ...model, byte_fallback: true } })).toThrow('byte_fallback')
  expect(refused({ model: { ...model, unk_token: '<unk>' } })).toThrow('unk_token')
  const token = { id: 3, content: 'x', lstrip: true }
  expect(refused({ added_tokens: [token] })).toThrow('lstrip')
  for (const pattern of ['a++', '(?>a)', 'a.b', '[a[b]]', '\\w+', '(?i:[a-c])', '('])
    expect(() => createSplitter(pattern), pattern).toThrow('pattern')
})

test('patterns of strangers split texts as the native engine would, and never without end', () => {
  const llama = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
  const text = "I've  12345 naïve\r\n\n 漢字kana 😀!!\n\t x"
  const pieces = createSplitter(llama)(text)
  expect(pieces).toEqual(text.match(new RegExp(llama, 'gu')))
  expect(createSplitter(String.raw`(?:a+)+b|\s+x`)('a'.repeat(50_000))).toEqual(['a'.repeat(50_000)])
  // From each place it looks to the end of the text.
  expect(() => createSplitter('a*b|a')('a'.repeat(100_000))).toThrow(
    expect.objectContaining({ code: 'bad-tokenizer' }),
  )
})
