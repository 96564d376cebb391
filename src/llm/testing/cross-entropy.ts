import type { TrainingSequence } from '../episode/types.ts'

/** A sequence all of whose next tokens count alike. */
export function crossEntropy(tokens: ArrayLike<number>, weight = 1): TrainingSequence {
  const zeros = () => new Float32Array(tokens.length)
  const weights = { rl: zeros(), ce: zeros().fill(weight), kl: zeros() }
  return { tokens: Int32Array.from(tokens), logprobs: zeros(), advantages: zeros(), weights }
}
