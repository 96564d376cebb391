import { limitedWork, readPattern, WorkLimit } from '../../src/untrusted/linear-pattern.ts'
import { bomb } from './bomb.ts'
import type { Bomb } from './bomb.ts'
import { schemaTargets } from './schema-targets.ts'

/** Steps that a match may take, as for the arguments of a call. */
const mostSteps = 1_000_000

const pattern = (name: string, make: () => string, text: () => string): Bomb =>
  bomb(
    `pattern: ${name}`,
    () => ({ source: make(), text: text() }),
    (given) => ({
      pattern: () => matchOf(given.source, given.text),
      ...schemaTargets(
        { type: 'object', properties: { a: { type: 'string', pattern: given.source } }, required: ['a'] },
        { a: given.text },
      ),
    }),
  )

function matchOf(source: string, text: string): string {
  const read = readPattern(source)
  if ('unusable' in read) return `refused: ${read.unusable}`
  try {
    return read.test(text, limitedWork(mostSteps)) ? 'matches' : 'does not match'
  } catch (error) {
    if (!(error instanceof WorkLimit)) throw error
    return `refused: ${error.message}`
  }
}

const a = (length: number) => (): string => `${'a'.repeat(length)}!`
const nested = (depth: number, open: string, core: string, close: string): string =>
  `${open.repeat(depth)}${core}${close.repeat(depth)}`

const words = (count: number): string => Array.from({ length: count }, (_, i) => `word${i}`).join('|')
const unicode = (): string => 'aß漢字😀Ж'.repeat(5000)

function ranges(count: number): string {
  return Array.from({ length: count }, (_, i) => String.fromCodePoint(0x10000 + 2 * i)).join('')
}

function classes(count: number): string {
  return Array.from({ length: count }, (_, i) => `[\\u{${(0x1000 + i).toString(16)}}-\\u{10ffff}]`).join('|')
}

export const patternBombs: readonly Bomb[] = [
  pattern('(a+)+', () => '^(a+)+$', a(100_000)),
  pattern('(a|a)*', () => '^(a|a)*$', a(100_000)),
  pattern('(a|aa)+', () => '^(a|aa)+$', a(100_000)),
  pattern('(.*)*x, 20 in a row', () => `^${'(.*)*x'.repeat(20)}$`, a(50_000)),
  pattern('(?:a?){200}a{200}', () => '^(?:a?){200}a{200}$', a(10_000)),
  pattern('quantifiers 150 deep', () => nested(150, '(?:', 'a', ')+'), a(50_000)),
  pattern('groups 10,000 deep', () => nested(10_000, '(', 'a', ')'), a(10)),
  pattern('a{1,100000}', () => '^a{1,100000}$', a(50_000)),
  pattern('counts in counts: 10^16', () => '^((((a{1,9999}){1,9999}){1,9999}){1,9999})$', a(50_000)),
  pattern('counts of nothing', () => '^(?:(?:(?:){1,99999}){1,99999}){1,99999}$', a(10)),
  pattern('counts of an edge', () => '^(?:\\b{1}){1}(?:(?:$){9999}){9999}', a(10)),
  pattern('a count of 400 digits', () => `a{${'9'.repeat(400)}}`, a(10)),
  pattern('an alternation of 50,000 words', () => `^(?:${words(50_000)})$`, a(1000)),
  pattern('an alternation of 3,000 words against 50,000 characters', () => `(?:${words(3000)})$`, a(50_000)),
  pattern('alternations in alternations', () => nested(100, '(?:a|b|', 'c', '|d|e)'), a(50_000)),
  pattern('an alternation of 2,000 words', () => `^(?:${words(2000)})$`, a(50_000)),
  pattern('unicode classes', () => `^(?:[\\p{L}\\p{N}\\p{Emoji}]|\\p{Script=Han}|[^\\p{Lu}])+$`, unicode),
  pattern('a class of 50,000 ranges', () => `^[${ranges(50_000)}]+$`, unicode),
  pattern('a class of 9,000 ranges', () => `^[${ranges(9000)}]+$`, unicode),
  pattern('a class of 9,000 escapes', () => `^[${'\\w'.repeat(9000)}]+$`, a(1000)),
  pattern('a class of 200,000 escapes', () => `^[${'\\w'.repeat(200_000)}]+$`, a(1000)),
  pattern('3,000 different classes', () => `^(?:${classes(3000)})+$`, unicode),
  pattern('800 different classes', () => `^(?:${classes(800)})+$`, unicode),
  pattern('looking ahead, 60 deep', () => nested(60, '(?=a', 'a', ')'), a(50_000)),
  pattern('2,000 lookarounds in a row', () => `^${'(?=a)(?<=a)(?!b)'.repeat(2000)}a`, a(10_000)),
  pattern('looking behind in a loop', () => '^(?:(?<=(?:a|b)*)a(?=(?:a|c)*!))*$', a(100_000)),
  pattern('back references', () => '^(a+)(a+)\\1\\2(?:\\k<x>)?$', a(50_000)),
  pattern('braces that are no counts', () => `${'a{'.repeat(9_000)}}`, a(10)),
  pattern(
    'backslashes',
    () => '\\\\'.repeat(100_000),
    () => '\\'.repeat(50_000),
  ),
  pattern('100,000 dots', () => '.'.repeat(100_000), a(10)),
  pattern('a pattern of 1,000,000 characters', () => 'ab'.repeat(500_000), a(10)),
  pattern(
    'lone surrogates',
    () => `^(?:\\ud83d|\\ude00|\ud83d|[\\ud800-\\udfff])+$`,
    () => '\ud83d'.repeat(50_000),
  ),
  pattern(
    'a.{n} that needs 2^n states',
    () => 'a.{30}$',
    () => 'ab'.repeat(20_000),
  ),
  pattern(
    'edges at every place',
    () => `^(?:${'\\b'.repeat(500)}a|${'\\B'.repeat(500)}b)*$`,
    () => 'ab '.repeat(10_000),
  ),
]
