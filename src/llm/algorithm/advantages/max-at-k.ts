import { AgogeError } from '../../../error.ts'
import { combinationsRatio } from './combinations.ts'
import type { GroupRewards } from './group.ts'

/**
 * Advantages that raise the expected best of k attempts instead of the mean of one. Of all choices of k members,
 * each one that has the member in it adds what the best of the k would lose without it:
 * `A_i = sum over choices with i of (max - max without i) / C(n, k)`. Unbiased for the gradient of E[max of k], with
 * the baseline of least variance of the source; computed from the sorted rewards in O(n^2).
 *
 * Sources: PKPO (arXiv 2505.15201), the leave-one-out baseline of k - 1 samples. With k = n only the best member gets
 * something, its lead over the second: verl's `grpo_passk` (arXiv 2503.19595) without its division by the deviation.
 *
 * @param settings k from 2 to the members of the group. Where masked members leave fewer than k, everything is 0.
 */
export function maxAtKAdvantages(rewards: GroupRewards, { k }: { k: number }): number[] {
  if (!Number.isInteger(k) || k < 2 || (rewards.length > 0 && k > rewards.length))
    throw new AgogeError('The best of k needs groups of at least k members', {
      code: 'bad-config',
      given: { k, members: rewards.length },
      expected: 'an integer k from 2 to the size of the group',
    })
  const sorted = rewards
    .flatMap((reward, at) => (reward === null ? [] : [{ reward, at }]))
    .sort((a, b) => a.reward - b.reward)
  const advantages = rewards.map(() => 0)
  for (const [rank, { reward, at }] of sorted.entries())
    for (let second = k - 2; second < rank; second++)
      // Choices in which this member is the best and `second` the next: the other k - 2 lie below `second`.
      advantages[at] += (reward - sorted[second].reward) * combinationsRatio(second, k - 2, sorted.length, k)
  return advantages
}
