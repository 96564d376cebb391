// Sequences on their way to a thread: a message of ten thousand arrays takes far longer than one of a few.
import { defined } from '../../defined.ts'
import type { TrainingSequence } from '../episode/types.ts'

/** Rows of a forward pass, concatenated, so that a thread receives two arrays instead of two per row. */
export interface PackedRows {
  lengths: number[]
  tokens: Int32Array
  /** Absent if all are 1. */
  temperatures?: Float32Array
}

export interface Row {
  tokens: Int32Array
  /** Default: 1. */
  temperatures?: Float32Array | undefined
}

export function packRows(rows: readonly Row[]): PackedRows {
  const lengths = rows.map(({ tokens }) => tokens.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const tokens = new Int32Array(total)
  const hot = rows.some(({ temperatures }) => temperatures !== undefined)
  const temperatures = hot ? new Float32Array(total).fill(1) : undefined
  let at = 0
  for (const row of rows) {
    tokens.set(row.tokens, at)
    if (row.temperatures !== undefined) temperatures!.set(row.temperatures, at)
    at += row.tokens.length
  }
  return { lengths, tokens, ...defined({ temperatures }) }
}

/** Restores the rows, as views. */
export function unpackRows({ lengths, tokens, temperatures }: PackedRows): Row[] {
  const ofTokens = splitValues(tokens, lengths)
  const ofTemperatures = temperatures === undefined ? undefined : splitValues(temperatures, lengths)
  return ofTokens.map((row, i) => ({ tokens: row, temperatures: ofTemperatures?.[i] }))
}

/** The arrays of these lengths that `values` consists of, as views. */
export function splitValues<T extends Int32Array | Float32Array>(values: T, lengths: readonly number[]): T[] {
  let end = 0
  return lengths.map((length) => {
    const at = end
    end += length
    return values.subarray(at, end) as T
  })
}

/** The inverse of `splitValues`. */
export function joinValues(parts: readonly Float32Array[]): Float32Array {
  const values = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    values.set(part, at)
    at += part.length
  }
  return values
}

/** Training sequences concatenated, so that a thread receives two arrays instead of six per sequence. */
export interface PackedSequences {
  lengths: number[]
  tokens: Int32Array
  /** For each sequence its logprobs, advantages, weights rl, ce and kl, and temperatures. */
  numbers: Float32Array
}

const parts = 6

const perToken = ({
  tokens,
  logprobs,
  advantages,
  weights,
  temperatures = new Float32Array(tokens.length).fill(1),
}: TrainingSequence): Float32Array[] => [
  logprobs,
  advantages,
  weights.rl,
  weights.ce,
  weights.kl,
  temperatures,
]

export function packSequences(sequences: readonly TrainingSequence[]): PackedSequences {
  const lengths = sequences.map(({ tokens }) => tokens.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const tokens = new Int32Array(total)
  const numbers = new Float32Array(parts * total)
  let at = 0
  for (const [i, sequence] of sequences.entries()) {
    tokens.set(sequence.tokens, at)
    perToken(sequence).forEach((array, part) => numbers.set(array, parts * at + part * lengths[i]))
    at += lengths[i]
  }
  return { lengths, tokens, numbers }
}

/** Restores the sequences, as views. */
export function unpackSequences(packed: PackedSequences): TrainingSequence[] {
  return unpackSome(packed, { next: 0, place: 0 }, Infinity)
}

/** Where the next of packed sequences is. */
export interface PackedPlace {
  next: number
  /** Tokens before it. */
  place: number
}

/** Restores at most so many sequences from `at` on, which goes on with them: each is seven views, which take some microseconds. */
export function unpackSome(
  { lengths, tokens, numbers }: PackedSequences,
  at: PackedPlace,
  most: number,
): TrainingSequence[] {
  const some = lengths.slice(at.next, at.next + most)
  at.next += some.length
  return some.map((length) => {
    const { place } = at
    at.place += length
    // Unlike `subarray`, which asks the class of the array what to make.
    const part = (index: number): Float32Array =>
      new Float32Array(numbers.buffer, numbers.byteOffset + 4 * (parts * place + index * length), length)
    return {
      tokens: new Int32Array(tokens.buffer, tokens.byteOffset + 4 * place, length),
      logprobs: part(0),
      advantages: part(1),
      weights: { rl: part(2), ce: part(3), kl: part(4) },
      temperatures: part(5),
    }
  })
}
