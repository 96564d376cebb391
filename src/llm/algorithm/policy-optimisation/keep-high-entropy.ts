import { AgogeError } from '../../../error.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { highEntropyMask } from '../losses/entropy.ts'
import type { LearningContext } from '../types.ts'

/**
 * Leaves rl weights only to the tokens where the policy was least decided before this batch, in place.
 *
 * @param sequences of all judged episodes: what is undecided is a matter of all of them.
 * @returns the least entropy of those that are left, in nats.
 */
export async function keepHighEntropy(
  sequences: readonly TrainingSequence[],
  share: number,
  context: LearningContext,
): Promise<{ leastEntropy?: number }> {
  if (sequences.length === 0) return {}
  if (context.entropies === undefined)
    throw new AgogeError('Nobody tells how decided the policy is', {
      code: 'bad-config',
      given: { entropyShare: share },
      expected: '`entropies` in the context of learning',
      hint: 'train gives it; leave out entropyShare elsewhere',
    })
  const told = await context.entropies(sequences)
  const all = (of: (i: number) => Float32Array): number[] => sequences.flatMap((_, i) => Array.from(of(i)))
  const kept = highEntropyMask(
    all((i) => told[i]),
    all((i) => sequences[i].weights.rl),
    { share },
  )
  let at = 0
  let leastEntropy = Infinity
  for (const [i, { weights, tokens }] of sequences.entries()) {
    weights.rl.set(kept.subarray(at, at + tokens.length))
    at += tokens.length
    weights.rl.forEach((weight, t) => {
      if (weight !== 0) leastEntropy = Math.min(leastEntropy, told[i][t])
    })
  }
  return Number.isFinite(leastEntropy) ? { leastEntropy } : {}
}
