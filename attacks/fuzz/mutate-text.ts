import type { Random } from '../../src/engine/random/index.ts'
import { edgeTexts } from './edge-values.ts'

/** What a generator of texts draws from. */
export interface TextSource {
  /** Valid texts. */
  examples: readonly string[]
  /** Words and signs of the format. */
  words: readonly string[]
}

const untouched = 0.05
/** How often a piece is repeated very often, which finds readers that take quadratic time. */
const oftenRepeated = 0.004
/** Characters of a text that repeats a piece very often. */
const longest = 40_000

/** A text, mutated by its words, lines and characters. */
export function makeText(random: Random, source: TextSource): string {
  let text = random.pick(source.examples)
  if (random.next() < untouched) return text
  for (let count = 1 + random.int(3); count > 0; count--) text = mutateText(random, text, source)
  return text
}

/** Mutates a text once. */
export function mutateText(random: Random, text: string, { examples, words }: TextSource): string {
  if (random.next() < oftenRepeated) return repeated(random, text, words)
  const [from, to] = span(random, text)
  const [before, piece, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)]
  switch (random.int(12)) {
    case 0:
      return before + after
    case 1:
      return before + piece + piece + after
    case 2:
      return before + piece.repeat(2 + random.int(8)) + after
    case 3:
      return before + random.pick(edgeTexts) + after
    case 4:
    case 5:
      return before + (words.length > 0 ? random.pick(words) : '') + piece + after
    case 6:
      return text.slice(0, from)
    case 7: {
      const other = random.pick(examples)
      const [start, end] = span(random, other)
      return before + other.slice(start, end) + after
    }
    case 8:
      return before + Array.from(piece).toReversed().join('') + after
    case 9:
      return before + flipped(random, piece) + after
    case 10: {
      const lines = text.split('\n')
      return random.shuffle(lines).join('\n')
    }
    default:
      return after + piece + before
  }
}

/** A part of a text: a word, some characters, or up to its end. */
function span(random: Random, text: string): [number, number] {
  const from = random.int(text.length + 1)
  const most = random.pick([1, 4, 20, text.length])
  return [from, Math.min(text.length, from + random.int(most + 1))]
}

function flipped(random: Random, piece: string): string {
  if (piece === '') return random.pick(edgeTexts)
  const at = random.int(piece.length)
  const code = piece.charCodeAt(at) ^ (1 << random.int(7))
  return piece.slice(0, at) + String.fromCharCode(code) + piece.slice(at + 1)
}

function repeated(random: Random, text: string, words: readonly string[]): string {
  const [from, to] = span(random, text)
  const own = text.slice(from, Math.min(to, from + 12))
  const piece = random.pick([
    own,
    ...words,
    ' ',
    '\n',
    '\t ',
    '-',
    '/',
    '(',
    '[',
    '{',
    '"',
    "'",
    '`',
    '|',
    ',',
    '.',
    '0',
    'a',
    '_',
  ])
  if (piece === '') return text
  const many = piece.repeat(Math.ceil(longest / piece.length))
  return text.slice(0, from) + many + random.pick(['', '!', text.slice(to)])
}
