import { AgogeError } from '../../error.ts'

/** An entry of `added_tokens`: a text that becomes one token before anything else is done to it. */
export interface AddedToken {
  id: number
  content: string
  /** Left out of texts with `skipSpecial`. */
  special: boolean
  /** Looked for after the text was normalised, and not before. */
  normalized: boolean
}

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD'

/** How a public byte-level BPE tokenizer differs from those that the project trains. */
export interface TokenizerLayout {
  normalForms: readonly NormalForm[]
  /** Splits one after the other, in Oniguruma's syntax. */
  patterns: readonly string[]
  /** Pieces that are tokens as they stand are not put together by merges. */
  ignoreMerges: boolean
  added: readonly AddedToken[]
  /** The `tokenizer.json` it was read from, so that it is saved as it was. */
  json: string
}

type Part = { text: string } | { id: number }

/** Takes texts apart into added tokens and normalised stretches between them. */
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
  // The leftmost, and of those that begin there the longest.
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

/** What a `Sequence` holds, or the one step itself; nothing for null. */
function steps(value: unknown, inner: string): Json[] {
  if (!isRecord(value)) return []
  const list = value.type === 'Sequence' ? value[inner] : [value]
  return Array.isArray(list) ? list.filter(isRecord) : []
}

/** `normalizer`: null or Unicode's normal forms. */
export function readNormalForms(value: unknown, file: string): NormalForm[] {
  return steps(value, 'normalizers').map(({ type }) => {
    if (type === 'NFC' || type === 'NFD' || type === 'NFKC' || type === 'NFKD') return type
    throw unusable('normalizer', type, 'null, NFC, NFD, NFKC or NFKD', file)
  })
}

/** `pre_tokenizer`: splits that keep everything, then ByteLevel, which may split as GPT-2 does; as patterns. */
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

/** `added_tokens`; those that would take in the spaces around them are refused by default. */
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
