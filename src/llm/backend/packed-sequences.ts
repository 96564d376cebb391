import type { TrainingSequence } from '../episode/types.ts'

/** Training sequences one behind the other: two arrays to hand to a thread instead of six for each sequence. */
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

/** The sequences again, as views. */
export function unpackSequences({ lengths, tokens, numbers }: PackedSequences): TrainingSequence[] {
  let end = 0
  return lengths.map((length) => {
    const at = end
    end += length
    const part = (index: number): Float32Array =>
      numbers.subarray(parts * at + index * length, parts * at + (index + 1) * length)
    return {
      tokens: tokens.subarray(at, end),
      logprobs: part(0),
      advantages: part(1),
      weights: { rl: part(2), ce: part(3), kl: part(4) },
      temperatures: part(5),
    }
  })
}
