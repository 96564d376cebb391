import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { limitedWork, readingSteps, readPattern, WorkLimit } from './linear-pattern.ts'

const enough = () => limitedWork(50_000_000)

function matches(source: string, text: string): boolean {
  const pattern = readPattern(source)
  if ('unusable' in pattern) throw new Error(`${source}: ${pattern.unusable}`)
  return pattern.test(text, enough())
}

function natively(source: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch {
    return new RegExp(source)
  }
}

// What converters of schemas write for email, durations, host names and dates, among others.
const real = [
  String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
  String.raw`^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$`,
  String.raw`^(?=.{1,253}\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\.?$`,
  String.raw`^(?:(?:\d\d[2468][048]|\d\d[13579][26])-02-29|\d{4}-(?:0[1-9]|1[0-2])-\d{2})$`,
  String.raw`^[a-zA-Z0-9_./-]{1,2048}$`,
  String.raw`^\p{L}[\p{L}\p{N} _-]*$`,
  String.raw`^\/`,
  String.raw`^[\w\-]+\.(?:txt|md)$`,
  String.raw`\bfoo\b`,
  String.raw`^$|^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==)?$`,
  String.raw`(?<=\$)\d+(?<!13)$`,
  String.raw`^\ud83d\ude00.\u{1F600}?$`,
  String.raw`^[^\s@]+@[^\s@]+$`,
  String.raw`^a{,2}]$`,
]
const texts = `
a|ann@example.com|.ann@example.com|ann..b@example.com|P3W|P1DT2H|P1W2D|PT|P|example.com|-example.com|2024-02-29|2023-02-29
2023-13-01|x/y_z|Élan 3|a foo b|food|cost $12|cost $13|😀x😀|😀|/root|notes.md|notes.mdx|QUJD|QUI=|a{,2}]|a\u2028b
`.split(/[|]/)

test.each(real)('%s matches what the native engine says', (source) => {
  for (const text of texts) expect([text, matches(source, text)]).toEqual([text, natively(source).test(text)])
})

const leaf = fc.constantFrom(
  ...String.raw`a b ab . [ab] [^a] \w \s 😀 [] [^] \- ^ $ \b \B () \u{1F600} \x61 -`.split(' '),
  '',
)
const patterns = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.tuple(tie('node'), tie('node')).map((parts) => parts.join('')),
    fc.tuple(tie('node'), tie('node')).map((parts) => `(?:${parts.join('|')})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0}', '{2,}', '*?', '+?'))
      .map(([inner, often]) => `(${inner})${often}`),
    fc
      .tuple(fc.constantFrom('?=', '?!', '?<=', '?<!'), tie('node'))
      .map(([look, inner]) => `(${look}${inner})`),
  ),
})).node

test('random patterns match what the native engine says', () => {
  // Without surrogates: V8 also looks for matches between the two of a pair.
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', 'é', '\n', ' '), maxLength: 8 })
  fc.assert(
    fc.property(patterns, fc.array(text, { minLength: 4, maxLength: 4 }), (source, given) => {
      for (const one of given) expect(matches(source, one)).toBe(natively(source).test(one))
    }),
    { numRuns: 1500 },
  )
})

test.each([
  ['^(a+)+$', `${'a'.repeat(36)}!`],
  ['^(a|a)*$', `${'a'.repeat(1000)}!`],
  ['(x+x+)+y', 'x'.repeat(2000)],
  ['^(?=(a+)+$)', `${'a'.repeat(2000)}!`],
])('%s takes a number of steps that grows with the text', (source, text) => {
  const pattern = readPattern(source)
  if ('unusable' in pattern) throw new Error(pattern.unusable)
  expect(pattern.test(text, limitedWork(100 * text.length))).toBe(false)
})

test('matching a long text against a large pattern stops at the limit', () => {
  const pattern = readPattern('^(a|b)*a(a|b){900}$')
  if ('unusable' in pattern) throw new Error(pattern.unusable)
  expect(() => pattern.test('ab'.repeat(50_000), limitedWork(1_000_000))).toThrow(WorkLimit)
})

test.each([
  ['(', 'no regular expression'],
  ['(?i)a', 'no regular expression'],
  [String.raw`(a)\1`, 'refers to a group'],
  [String.raw`(?<x>a)\k<x>`, 'refers to a group'],
  ['((a{1000}){1000}){1000}', 'more than 20000 steps'],
  ['((){1000000000}){1000000000}a{1000000000}', 'more than 20000 steps'],
  [`${'('.repeat(1000)}a${')'.repeat(1000)}`, 'nested more than 200 deep'],
])('%s cannot be used, and says why', (source, reason) => {
  expect(readPattern(source)).toMatchObject({ unusable: expect.stringContaining(reason) as string })
})

test.each([
  ['a long text', 'ab'.repeat(10_001)],
  ['a long class', `[${'\\w'.repeat(10_000)}]`],
  ['a long alternation', Array.from({ length: 5000 }, (_, i) => `word${i}`).join('|')],
])('%s is refused before it is read', (_, source) => {
  expect(readPattern(source)).toEqual({ unusable: 'the pattern has more than 20000 characters', size: 0 })
})

test('braces that are no counts are read once', () => {
  // Each was searched for its end through the whole rest of the pattern.
  expect(readPattern(`${'a{'.repeat(9000)}}`)).toMatchObject({ size: 18_002 })
  expect(matches('^a{,2}{b{1c}$', 'a{,2}{b{1c}')).toBe(true)
  expect(readPattern(`a{${'9'.repeat(100)}}`)).toMatchObject({
    unusable: 'the pattern has more than 20000 steps',
  })
})

test('classes of Unicode, which the native engine works out anew each time, are limited', () => {
  expect(readPattern('\\p{Lu}'.repeat(200))).toMatchObject({ size: 201 })
  expect(readPattern('\\P{L}'.repeat(201))).toEqual({
    unusable: 'the pattern has more than 200 classes of Unicode',
    size: 0,
  })
  expect(readingSteps('a\\p{L}')).toBeGreaterThan(100 * readingSteps('a'))
})

test('a character of two halves behind a backslash is itself', () => {
  for (const text of ['😀', 'a😀b', 'a', '\ud83d']) expect(matches('\\😀', text)).toBe(/😀/.test(text))
})
