import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { trainTokenizer } from './bpe-train.ts'
import { specialTokens } from './template.ts'
import { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'
import { createTokenizer } from './tokenizer.ts'

const corpus = [
  '<|user|>copy the notes of march into the folder plans<|end|>',
  '<|assistant|><|call|>{"name":"copy_note","arguments":{"from":"/notes/march.txt","to":"/plans/march.txt"}}<|end|>',
  '<|tool|>the note was copied into the folder<|end|>',
  '<|assistant|>The notes of march are in the folder plans now.<|end|>',
  'naïve cafés, 日本語 and ٣ digits; the aaaa of aaaaaaaa and the banana bandana',
]
const model = trainTokenizer(corpus, { vocabularySize: 330, specialTokens })
const tokenizer = createTokenizer(model)

// The ids are those of `tokenizers` 0.23.2 (Python) reading the JSON of this very model.
const golden: [string, number[]][] = JSON.parse(
  String.raw`[["", []], ["the notes of march  are\n\nin /plans/march.txt", [267, 40, 287, 40, 283, 40, 276, 40, 40, 268, 109, 18, 18, 280, 40, 55, 291, 55, 276, 54, 304]], ["{\"name\":\"copy_note\",\"arguments\":{}}", [298, 295, 294, 288, 302, 103, 271, 303, 268, 111, 125, 294, 118, 296, 272, 131, 133, 133]], ["aaaaaaa banana aaaaa", [275, 264, 105, 40, 106, 265, 299, 40, 275, 105]], ["na\u00efve \u65e5\u672c\u8a9e 1\u0968\u0663 \u2167 \u00e9", [295, 203, 183, 126, 109, 40, 238, 159, 173, 238, 164, 180, 240, 178, 166, 40, 57, 232, 173, 176, 225, 171, 40, 234, 141, 175, 40, 203, 177]], ["\ud83d\udc69\u200d\ud83d\udc67 tab\there\r\n", [248, 167, 153, 177, 234, 136, 149, 248, 167, 153, 175, 40, 124, 105, 106, 17, 266, 122, 109, 21, 18]], ["a\u00a0b\u2028c\u0085d", [105, 202, 168, 106, 234, 136, 176, 107, 202, 141, 108]]]`,
)

test.each(golden)('encodes %j as Hugging Face tokenizers does', (text, ids) => {
  expect([...tokenizer.encode(text)]).toEqual(ids)
})

test('every text survives, and no text gives a special token', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(...corpus, '\ufeff<|call|>'),
      ),
      (text) => {
        const ids = tokenizer.encode(text)
        expect(tokenizer.decode(ids)).toBe(text)
        expect(ids.every((id) => id >= specialTokens.length)).toBe(true)
      },
    ),
  )
})

test('the JSON round trip keeps the model, and training is deterministic', () => {
  expect(tokenizerFromJson(tokenizerToJson(model))).toEqual(model)
  expect(trainTokenizer(corpus, { vocabularySize: 330, specialTokens })).toEqual(model)
})

test('words become single tokens, digits and spaces stay separate, long runs end', () => {
  expect(tokenizer.encode('folder')).toHaveLength(1)
  expect(tokenizer.encode('the folder')).toHaveLength(3)
  expect(tokenizer.encode('2024')).toHaveLength(4)
  expect(tokenizer.encode('a'.repeat(20_000)).length).toBeLessThan(10_001)
})

test('special tokens are found by name and can be skipped', () => {
  const ids = [tokenizer.special('<|user|>'), ...tokenizer.encode('hi'), tokenizer.special('<|end|>')]
  expect(ids[0]).toBe(3)
  expect(tokenizer.decode(ids)).toBe('<|user|>hi<|end|>')
  expect(tokenizer.decode(ids, { skipSpecial: true })).toBe('hi')
  expect(tokenizer.isSpecial(1)).toBe(true)
  expect(tokenizer.isSpecial(8)).toBe(false)
  expect(() => tokenizer.special('<|nope|>')).toThrow('not a special token')
  // Ids beyond the last token, which models have rows for, are no text.
  expect(tokenizer.decode([...ids.slice(1, -1), 330, 5000])).toBe('hi')
  expect(() => tokenizer.decode([-1])).toThrow('no token -1')
  expect(() => tokenizer.decode([0.5])).toThrow('no token 0.5')
})

test('a tokenizer of another kind is refused with the name of the field', () => {
  const json = JSON.parse(tokenizerToJson(model))
  const refused = (change: object) => () => tokenizerFromJson(JSON.stringify({ ...json, ...change }))
  expect(() => tokenizerFromJson('{')).toThrow('not JSON')
  expect(refused({ model: { ...json.model, type: 'WordLevel' } })).toThrow('model.type')
  const merged = { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithNext' }
  expect(refused({ pre_tokenizer: merged })).toThrow('pre_tokenizer')
  expect(refused({ model: { ...json.model, merges: [['a']] } })).toThrow('model.merges[0]')
  expect(() => createTokenizer({ ...model, merges: [['zz', 'q']] })).toThrow('no token "zz"')
  expect(() => trainTokenizer([], { vocabularySize: 100, specialTokens })).toThrow('no room')
})
