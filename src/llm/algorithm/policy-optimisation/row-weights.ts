import { AgogeError } from '../../../error.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { type ImportanceSettings, importanceWeights } from '../losses/corrections.ts'
import { highEntropyMask } from '../losses/regularisers.ts'
import type { LearningContext } from '../types.ts'

/**
 * Corrects the rl weights of the sequences in place for a sampler that differs from the trainer, and replaces the
 * sampler's log-probabilities by the trainer's.
 *
 * @param trainer the trainer's log-probabilities before the batch, one array per sequence.
 * @returns the mean ratio of the first correction, and the share of tokens that remain after all corrections. Also how
 * far trainer and sampler are apart over counted tokens, which the loss can no longer measure: mean |difference| in
 * nats, k3, and the largest ratio.
 */
export function correctWeights(
  sequences: readonly TrainingSequence[],
  trainer: readonly Float32Array[],
  corrections: readonly ImportanceSettings[],
): { meanImportance: number; keptTokens: number } & Mismatch {
  const starts: number[] = []
  let length = 0
  for (const { tokens } of sequences) {
    starts.push(length)
    length += tokens.length
  }
  const row = (of: (i: number) => Float32Array): Float32Array => {
    const values = new Float32Array(length)
    sequences.forEach((_, i) => values.set(of(i), starts[i]))
    return values
  }
  const logprobs = row((i) => trainer[i])
  const samplerLogprobs = row((i) => sequences[i].logprobs)
  let weights = row((i) => sequences[i].weights.rl)
  const apart = mismatch(logprobs, samplerLogprobs, weights)
  let meanImportance = 1
  let keptTokens = 1
  corrections.forEach((settings, at) => {
    const corrected = importanceWeights({ logprobs, samplerLogprobs, weights, starts }, settings)
    weights = corrected.weights
    keptTokens *= corrected.kept
    if (at === 0) meanImportance = corrected.meanRatio
  })
  for (const [i, sequence] of sequences.entries()) {
    sequence.weights.rl.set(weights.subarray(starts[i], starts[i] + sequence.tokens.length))
    sequence.logprobs.set(trainer[i])
  }
  return { meanImportance, keptTokens, ...apart }
}

interface Mismatch {
  mismatch: number
  mismatchKl: number
  mismatchMaxRatio: number
}

function mismatch(trainer: Float32Array, sampler: Float32Array, weights: Float32Array): Mismatch {
  const found = { mismatch: 0, mismatchKl: 0, mismatchMaxRatio: 0 }
  let count = 0
  for (let t = 0; t < trainer.length; t++) {
    if (weights[t] === 0) continue
    const difference = trainer[t] - sampler[t]
    const ratio = Math.exp(difference)
    count++
    found.mismatch += Math.abs(difference)
    found.mismatchKl += ratio - 1 - difference
    found.mismatchMaxRatio = Math.max(found.mismatchMaxRatio, ratio)
  }
  const total = Math.max(1, count)
  return { ...found, mismatch: found.mismatch / total, mismatchKl: found.mismatchKl / total }
}

/**
 * Sets the rl weights of all but the highest-entropy tokens to 0, in place. Uses entropies from before this batch.
 *
 * @param sequences of all judged episodes: the quantile is taken over all of them.
 * @returns the lowest entropy of the remaining tokens, in nats.
 */
export async function keepHighEntropy(
  sequences: readonly TrainingSequence[],
  share: number,
  context: LearningContext,
): Promise<{ leastEntropy?: number }> {
  if (sequences.length === 0) return {}
  if (context.entropies === undefined)
    throw new AgogeError('The entropies of the policy are unavailable', {
      code: 'bad-config',
      given: { entropyShare: share },
      expected: '`entropies` in the context of learning',
      hint: 'train gives it; leave out entropyShare elsewhere',
    })
  const measured = await context.entropies(sequences)
  const all = (of: (i: number) => Float32Array): number[] => sequences.flatMap((_, i) => Array.from(of(i)))
  const kept = highEntropyMask(
    all((i) => measured[i]),
    all((i) => sequences[i].weights.rl),
    { share },
  )
  let at = 0
  let leastEntropy = Infinity
  for (const [i, { weights, tokens }] of sequences.entries()) {
    weights.rl.set(kept.subarray(at, at + tokens.length))
    at += tokens.length
    weights.rl.forEach((weight, t) => {
      if (weight !== 0) leastEntropy = Math.min(leastEntropy, measured[i][t])
    })
  }
  return Number.isFinite(leastEntropy) ? { leastEntropy } : {}
}
