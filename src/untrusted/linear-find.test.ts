import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFinder } from './linear-find.ts'
import { limitedWork, WorkLimit } from './linear-pattern.ts'

const enough = () => limitedWork(50_000_000)

function find(source: string, text: string): [number, number][] {
  const finder = readFinder(source)
  if ('unusable' in finder) throw new Error(`${source}: ${finder.unusable}`)
  return finder.find(text, enough())
}

const natively = (source: string, text: string): [number, number][] =>
  Array.from(text.matchAll(new RegExp(source, 'gu')), ({ 0: found, index }): [number, number] => [
    index,
    index + found.length,
  ]).filter(([from, to]) => from < to)

const endings = "(?:'[sS\u017f]|'[tT]|'[rR][eE])"
const patterns = [
  // Of public tokenizers.
  String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  `${endings}|${String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`}`,
  String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]*[\p{Ll}\p{M}]+(?:'s)?|\p{N}{1,3}|\s+$|\s*[\r\n]|\s+`,
  // What is preferred: the first alternative, as much as possible, or as little.
  'a|ab|abc',
  'abc|ab|a',
  '(?:a|ab)(?:c|bcd)?',
  'a*?b|a+',
  'a{2,3}?|a',
  '(?:ab?)+?c|a',
  '(?:a|b)*a|b',
  '[ab]{2}|.',
  '',
  'a*',
  '(?<=a)b+|^a|b$',
  '(?=.*c)a+|(?!a)b',
  String.raw`\bab\b|\Ba`,
  '😀|é+|.',
]

test('finds what the native engine finds', () => {
  const pieces = fc.constantFrom(
    'a',
    'a',
    'b',
    'b',
    'c',
    ' ',
    '\n',
    '\t',
    '1',
    'x',
    'A',
    "'s",
    "'re",
    '😀',
    'é',
    'ab',
    '   ',
    '\r\n',
    '漢',
    '\ud83d',
  )
  const texts = fc.array(pieces, { maxLength: 24 }).map((list) => list.join(''))
  for (const source of patterns)
    fc.assert(
      fc.property(texts, (text) => {
        expect(find(source, text), source).toEqual(natively(source, text))
      }),
      { numRuns: 300 },
    )
})

test.each([
  ['(?:a+)+b', 'a'],
  [String.raw`(?:a|aa|\p{L})+(?=b)`, 'a'],
  [String.raw`\s*\s*\s*\s*x|\S`, ' '],
  ['(?:a?){30}a{30}b', 'a'],
])('%s takes a number of steps that grows with the text', (source, piece) => {
  const finder = readFinder(source)
  if ('unusable' in finder) throw new Error(finder.unusable)
  for (const length of [100, 1000])
    expect(finder.find(piece.repeat(length), limitedWork(200 * length))).toEqual([])
})

test('what would take quadratic time stops at the limit', () => {
  const finder = readFinder('a*b|a')
  if ('unusable' in finder) throw new Error(finder.unusable)
  expect(finder.find('a'.repeat(10), enough())).toHaveLength(10)
  expect(() => finder.find('a'.repeat(100_000), limitedWork(1_000_000))).toThrow(WorkLimit)
})

test('patterns that refer to a group are refused', () => {
  expect(readFinder(String.raw`(a)\1`)).toMatchObject({
    unusable: 'the pattern refers to a group of its own',
  })
})
