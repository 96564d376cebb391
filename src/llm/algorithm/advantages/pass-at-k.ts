import { AgogeError } from '../../../error.ts'
import { combinationsRatio } from './combinations.ts'
import type { GroupRewards } from './group.ts'

/**
 * Group-relative advantages of pass@k for rewards of right and wrong: a choice of k members is worth 1 where any of
 * them is right; a member's advantage is the mean of `(worth - mean) / deviation` over all choices that have it in
 * them, in closed form. With n members of which w are wrong, `m = 1 - C(w, k) / C(n, k)`, `s = sqrt(m (1 - m))`:
 * right `(1 - m) / s`, wrong `(1 - m - C(w-1, k-1) / C(n-1, k-1)) / s`.
 *
 * Source: Pass@k Training (arXiv 2508.10751), analytical derivation. The deviation is the population's and has no
 * epsilon. Where every choice is worth the same (all wrong, or fewer than k wrong) everything is 0.
 *
 * @param settings k from 1; a reward above `threshold` (default 0) is right.
 */
export function passAtKAdvantages(
  rewards: GroupRewards,
  { k, threshold = 0 }: { k: number; threshold?: number },
): number[] {
  if (!Number.isInteger(k) || k < 1)
    throw new AgogeError('k of pass@k is not a positive integer', {
      code: 'bad-config',
      given: k,
      expected: 'an integer of 1 or more, at most the size of the group',
    })
  const judged = rewards.filter((reward) => reward !== null)
  const wrong = judged.filter((reward) => reward <= threshold).length
  if (judged.length < k) return rewards.map(() => 0)
  const mean = 1 - combinationsRatio(wrong, k, judged.length, k)
  const deviation = Math.sqrt(mean * (1 - mean))
  if (wrong === judged.length || wrong < k) return rewards.map(() => 0)
  const ofWrong = 1 - mean - combinationsRatio(wrong - 1, k - 1, judged.length - 1, k - 1)
  return rewards.map((reward) =>
    reward === null ? 0 : (reward > threshold ? 1 - mean : ofWrong) / deviation,
  )
}
