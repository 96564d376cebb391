import { AgogeError } from '../../error.ts'
import { readFinder } from '../../untrusted/linear-find.ts'
import { limitedWork, WorkLimit } from '../../untrusted/linear-pattern.ts'

/** An entry of `added_tokens`: a text that becomes one token before all other processing. */
export interface AddedToken {
  id: number
  content: string
  /** Omitted by `skipSpecial`. */
  special: boolean
  /** Matched after normalisation instead of before. */
  normalized: boolean
}

type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** How a public byte-level BPE tokenizer differs from those that the project trains. */
export interface TokenizerLayout {
  normalForms: readonly NormalForm[]
  /** Splits applied in order, in Oniguruma's syntax. */
  patterns: readonly string[]
  /** Whether pieces that are tokens skip the merges. */
  ignoreMerges: boolean
  added: readonly AddedToken[]
  /** The `tokenizer.json` it was read from, so that it is saved unchanged. */
  json: string
}

type Part = { text: string } | { id: number }

/** Splits texts into added tokens and normalised stretches between them. */
export function createAddedSplitter({ added, normalForms }: TokenizerLayout): {
  split(text: string): Part[]
  normalise(text: string): string
} {
  const normalise = (text: string): string =>
    normalForms.reduce((result, form) => result.normalize(form), text)
  const before = finder(added.filter(({ normalized }) => !normalized))
  const after = finder(
    added
      .filter(({ normalized }) => normalized)
      .map((token) => ({ ...token, content: normalise(token.content) })),
  )
  const within = (parts: readonly Part[], change: (text: string) => Part[]): Part[] =>
    parts.flatMap((part) => ('text' in part ? change(part.text) : [part]))
  return {
    normalise,
    split: (text) => within(before(text), (piece) => after(normalise(piece))),
  }
}

function finder(tokens: readonly AddedToken[]): (text: string) => Part[] {
  if (tokens.length === 0) return (text) => (text === '' ? [] : [{ text }])
  const ids = new Map(tokens.map(({ content, id }) => [content, id]))
  // The leftmost match, and of those the longest.
  const longestFirst = [...ids.keys()].sort((a, b) => b.length - a.length)
  const escaped = longestFirst.map((content) => content.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  const regex = new RegExp(escaped.join('|'), 'gu')
  return (text) => {
    const parts: Part[] = []
    let end = 0
    for (const { 0: content, index } of text.matchAll(regex)) {
      if (index > end) parts.push({ text: text.slice(end, index) })
      parts.push({ id: ids.get(content)! })
      end = index + content.length
    }
    if (end < text.length) parts.push({ text: text.slice(end) })
    return parts
  }
}

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function unusable(field: string, given: unknown, expected: string, file: string): AgogeError {
  return new AgogeError(`${file} is not a tokenizer that Agoge can use: ${field}.`, {
    code: 'bad-tokenizer',
    given,
    expected,
  })
}

/** The steps of a `Sequence`, or the single step; empty for null. */
function steps(value: unknown, inner: string): Json[] {
  if (!isRecord(value)) return []
  const list = value.type === 'Sequence' ? value[inner] : [value]
  return Array.isArray(list) ? list.filter(isRecord) : []
}

/** `normalizer`: null or Unicode normal forms. */
export function readNormalForms(value: unknown, file: string): NormalForm[] {
  return steps(value, 'normalizers').map(({ type }) => {
    if (type === 'NFC' || type === 'NFD' || type === 'NFKC' || type === 'NFKD') return type
    throw unusable('normalizer', type, 'null, NFC, NFD, NFKC or NFKD', file)
  })
}

/** `pre_tokenizer`: splits that keep everything, then ByteLevel, which may split like GPT-2; as patterns. */
export function readPatterns(value: unknown, ownPattern: string, file: string): string[] {
  const all = steps(value, 'pretokenizers')
  const last = all.at(-1)
  if (last?.type !== 'ByteLevel' || last.add_prefix_space === true)
    throw unusable(
      'pre_tokenizer',
      value,
      'one that ends with ByteLevel without add_prefix_space (byte-level BPE)',
      file,
    )
  const patterns = all.slice(0, -1).map((step) => {
    const pattern = isRecord(step.pattern) ? step.pattern.Regex : undefined
    if (step.type === 'Split' && typeof pattern === 'string' && step.behavior === 'Isolated') return pattern
    throw unusable('pre_tokenizer', step, 'Split by a Regex with the behavior Isolated', file)
  })
  return last.use_regex === false ? patterns : [...patterns, ownPattern]
}

/** `added_tokens`. By default refuses those that would absorb surrounding spaces. */
export function readAddedTokens(value: unknown, file: string, withSpaces = false): AddedToken[] {
  return (Array.isArray(value) ? value : []).filter(isRecord).map((entry, i) => {
    const { id, content } = entry
    if (
      typeof id !== 'number' ||
      !Number.isInteger(id) ||
      id < 0 ||
      typeof content !== 'string' ||
      content === ''
    )
      throw unusable(`added_tokens[${i}]`, entry, 'an id and a content', file)
    for (const field of ['lstrip', 'rstrip', 'single_word'])
      if (entry[field] === true && !withSpaces)
        throw unusable(`added_tokens[${i}].${field}`, true, 'false', file)
    return { id, content, special: entry.special !== false, normalized: entry.normalized === true }
  })
}

/** GPT-2's pre-tokens, by which `ByteLevel` splits. */
export const gpt2Pattern = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

/** Unicode's White_Space, the meaning of `\s` in the reference. JavaScript's `\s` includes U+FEFF but not U+0085. */
const whiteSpace = String.raw`\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`
/** Further characters that match an ASCII letter case-insensitively. */
const folded: Record<string, string> = { s: '\u017f', k: '\u212a' }

const escapes: Record<string, string> = {
  s: whiteSpace,
  d: String.raw`\p{Nd}`,
  r: String.raw`\r`,
  n: String.raw`\n`,
  t: String.raw`\t`,
}

const letters = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`
const others = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const endings = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`

/** Patterns of GPT-2, Llama 3 and Qwen. The native engine, which is faster, takes linear time for them. */
const known = new Set([
  gpt2Pattern,
  String.raw`${endings}|${letters}|\p{N}{1,3}|${others}`,
  String.raw`${endings}|${letters}|\p{N}|${others}`,
])

/** Steps of a split for each character of a text, more than twice what a pattern of a public model takes. */
const stepsOfCharacter = 60
const stepsOfAny = 10_000

/** Where the matches of a pattern in JavaScript's syntax are, in linear time. */
function finderOf(
  pattern: string,
  translated: string,
): (text: string) => Iterable<readonly [number, number]> {
  const regex = new RegExp(translated, 'gu')
  if (known.has(pattern))
    return (text) =>
      Array.from(text.matchAll(regex), ({ 0: { length }, index }) => [index, index + length] as const)
  const finder = readFinder(translated)
  if ('unusable' in finder) throw new Error(finder.unusable)
  return (text) => {
    try {
      return finder.find(text, limitedWork(stepsOfAny + stepsOfCharacter * text.length))
    } catch (cause) {
      if (!(cause instanceof WorkLimit)) throw cause
      throw new AgogeError('The pattern by which the tokenizer splits texts takes too long.', {
        code: 'bad-tokenizer',
        given: pattern,
        expected: `a pattern that takes at most ${stepsOfCharacter} steps for each character`,
        cause,
      })
    }
  }
}

/**
 * Splits texts by a pattern of a `tokenizer.json` (Oniguruma's syntax). Matches and the text between them are pieces,
 * which concatenated equal the text. Throws `AgogeError` (`bad-tokenizer`) for what JavaScript cannot express.
 */
export function createSplitter(pattern: string): (text: string) => string[] {
  let find: ReturnType<typeof finderOf>
  try {
    find = finderOf(pattern, translate(pattern))
  } catch (cause) {
    throw new AgogeError('The tokenizer splits texts by a pattern that cannot be used.', {
      code: 'bad-tokenizer',
      given: pattern,
      expected:
        'a pattern of literals, classes, \\p{..}, \\s, (?i:words), (?:..), (?=..), (?!..) and greedy counts',
      cause,
    })
  }
  return (text) => {
    const pieces: string[] = []
    let end = 0
    for (const [from, to] of find(text)) {
      if (from === to) continue
      if (from > end) pieces.push(text.slice(end, from))
      pieces.push(text.slice(from, to))
      end = to
    }
    if (end < text.length) pieces.push(text.slice(end))
    return pieces
  }
}

/** The pattern in JavaScript syntax. Node 20 has no `(?i:`, so both cases are written out. */
function translate(pattern: string): string {
  let result = ''
  let inClass = false
  /** Depth of groups, and that of the outermost case-insensitive one. */
  let depth = 0
  let anyCase: number | undefined
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i)
    const character = pattern[i]
    if (character === '\\') {
      const property = /^\\[pP]\{\^?[A-Za-z_]+\}/.exec(rest)?.[0]
      if (property !== undefined) {
        result += property
        i += property.length - 1
        continue
      }
      i++
      result += escaped(pattern[i], inClass)
    } else if (inClass) {
      if (character === '[' || rest.startsWith('&&')) throw new Error('classes inside classes')
      if (character === ']') inClass = false
      result += anyCase === undefined ? character : bothCases(character)
    } else if (character === '[') {
      inClass = true
      result += character
      if (pattern[i + 1] === '^') result += pattern[++i]
    } else if (character === '(') {
      depth++
      const opening = /^\(\?(i:|:|=|!|<=|<!)/.exec(rest)?.[0]
      if (opening === undefined && pattern[i + 1] === '?') throw new Error('an unknown group')
      if (opening === '(?i:') anyCase ??= depth
      result += opening === '(?i:' ? '(?:' : (opening ?? '(?:')
      i += (opening ?? '(').length - 1
    } else if (character === ')') {
      if (anyCase === depth) anyCase = undefined
      depth--
      result += character
    } else if ('.^$'.includes(character)) throw new Error('dots and anchors differ between the two')
    else if ('*+?}'.includes(character) && pattern[i + 1] === '+') throw new Error('possessive counts')
    else result += anyCase === undefined ? character : insensitive(character)
  }
  return result
}

function escaped(name: string | undefined, inClass: boolean): string {
  if (name === undefined) throw new Error('a lone backslash')
  const plain = escapes[name]
  if (plain !== undefined) return inClass ? plain : `[${plain}]`
  if (name === 'S' && !inClass) return `[^${whiteSpace}]`
  if (/[A-Za-z0-9]/.test(name)) throw new Error(`the escape ${name}`)
  return /[\^$\\.*+?()[\]{}|/-]/.test(name) && (inClass || name !== '-') ? `\\${name}` : name
}

function bothCases(letter: string): string {
  if (letter === '-') throw new Error('ranges without regard to case')
  if (!/[a-z]/i.test(letter)) return letter
  const small = letter.toLowerCase()
  return `${small}${small.toUpperCase()}${folded[small] ?? ''}`
}

function insensitive(letter: string): string {
  return /[a-z]/i.test(letter) ? `[${bothCases(letter)}]` : letter
}
