import { AgogeError } from '../../error.ts'
import { byteSymbols, pairKey, splitPreTokens } from './byte-tokenizer.ts'
import type { TokenizerModel } from './tokenizer.ts'

export interface TrainTokenizerOptions {
  /** Size of the vocabulary: special tokens, the 256 bytes and the merges. Smaller if no pair occurs twice any more. */
  vocabularySize: number
  /** Special tokens; they get ids 0, 1, 2 ... in this order. In the texts they are boundaries, not text. */
  specialTokens: readonly string[]
}

interface Word {
  parts: number[]
  count: number
}

/**
 * Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909) on bytes. Repeatedly merges the most frequent pair of
 * adjacent tokens within pre-tokens. Ties go to the pair with the lowest ids, so the result depends only on the texts.
 */
export function trainTokenizer(texts: Iterable<string>, options: TrainTokenizerOptions): TokenizerModel {
  const { vocabularySize, specialTokens } = options
  const firstByte = specialTokens.length
  if (!Number.isInteger(vocabularySize) || vocabularySize < firstByte + 256) {
    throw new AgogeError('The vocabulary has no room for the bytes.', {
      code: 'bad-config',
      given: vocabularySize,
      expected: `an integer of at least ${firstByte + 256}: ${firstByte} special tokens and 256 bytes`,
    })
  }
  const tokens: string[] = [...specialTokens, ...byteSymbols]
  const ids = new Map(tokens.map((token, id) => [token, id]))
  const merges: [string, string][] = []
  const words = countWords(texts, specialTokens, firstByte)
  const pairs = countPairs(words)

  while (tokens.length < vocabularySize) {
    const best = mostFrequent(pairs.counts)
    if (best === null) break
    const { left, right } = best
    const text = tokens[left] + tokens[right]
    let id = ids.get(text)
    if (id === undefined) {
      id = tokens.length
      tokens.push(text)
      ids.set(text, id)
    }
    merges.push([tokens[left], tokens[right]])
    for (const index of pairs.where.get(pairKey(left, right)) ?? []) {
      const word = words[index]
      pairs.add(word, index, -1)
      replacePair(word.parts, left, right, id)
      pairs.add(word, index, 1)
    }
    pairs.counts.delete(pairKey(left, right))
    pairs.where.delete(pairKey(left, right))
  }
  return { tokens, specialTokens: [...specialTokens], merges }
}

function countWords(texts: Iterable<string>, specialTokens: readonly string[], firstByte: number): Word[] {
  const counts = new Map<string, number>()
  const escaped = specialTokens.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const markers = escaped.length > 0 ? new RegExp(escaped.join('|'), 'u') : null
  for (const text of texts) {
    for (const piece of markers === null ? [text] : text.split(markers)) {
      for (const word of splitPreTokens(piece)) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  const encoder = new TextEncoder()
  return [...counts].map(([word, count]) => ({
    parts: Array.from(encoder.encode(word), (byte) => firstByte + byte),
    count,
  }))
}

function countPairs(words: readonly Word[]) {
  const counts = new Map<number, number>()
  /** Words that contain or contained the pair. A word that has lost it costs one idle scan. */
  const where = new Map<number, Set<number>>()
  const add = ({ parts, count }: Word, index: number, sign: 1 | -1): void => {
    for (let i = 0; i + 1 < parts.length; i++) {
      const key = pairKey(parts[i], parts[i + 1])
      counts.set(key, (counts.get(key) ?? 0) + sign * count)
      if (sign === 1) {
        const found = where.get(key)
        if (found === undefined) where.set(key, new Set([index]))
        else found.add(index)
      }
    }
  }
  words.forEach((word, index) => add(word, index, 1))
  return { counts, where, add }
}

function mostFrequent(counts: ReadonlyMap<number, number>): { left: number; right: number } | null {
  let bestKey = -1
  let bestCount = 1
  for (const [key, count] of counts) {
    if (count > bestCount || (count === bestCount && bestKey >= 0 && key < bestKey)) {
      bestKey = key
      bestCount = count
    }
  }
  return bestKey < 0 ? null : { left: Math.floor(bestKey / 2 ** 24), right: bestKey % 2 ** 24 }
}

function replacePair(parts: number[], left: number, right: number, id: number): void {
  let kept = 0
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === left && parts[i + 1] === right) {
      parts[kept++] = id
      i++
    } else parts[kept++] = parts[i]
  }
  parts.length = kept
}
