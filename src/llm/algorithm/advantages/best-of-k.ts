import { defineAdvantage } from '../define.ts'
import { AgogeError } from '../../../error.ts'
import type { GroupRewards } from './group.ts'

/** log C(n, k) for 0 <= k <= n, summed over factors so that large n do not overflow. */
function logCombinations(n: number, k: number): number {
  const smaller = Math.min(k, n - k)
  let sum = 0
  for (let i = 1; i <= smaller; i++) sum += Math.log((n - smaller + i) / i)
  return sum
}

/** C(a, j) / C(n, k), where C(n, k) is the number of ways to choose k of n; 0 if j of a cannot be chosen. */
export function combinationsRatio(a: number, j: number, n: number, k: number): number {
  if (j < 0 || j > a) return 0
  return Math.exp(logCombinations(a, j) - logCombinations(n, k))
}

/**
 * Advantages that maximise the expected best of k attempts instead of the mean reward. For every choice of k members
 * that contains member i, the advantage adds the drop of the best reward if i is removed: `A_i = sum over choices with
 * i of (max - max without i) / C(n, k)`. An unbiased estimate of the gradient of E[max of k], with the minimum-variance
 * baseline of the source. Computed from the sorted rewards in O(n^2).
 *
 * Sources: PKPO (arXiv 2505.15201), the leave-one-out baseline of k - 1 samples. With k = n only the best member has an
 * advantage, its lead over the second: verl's `grpo_passk` (arXiv 2503.19595) without its division by the deviation.
 *
 * @param settings k, from 2 to the size of the group. If fewer than k members are unmasked, all advantages are 0.
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
      // Choices in which this member is the best and `second` the next best: the other k - 2 rank below `second`.
      advantages[at] += (reward - sorted[second].reward) * combinationsRatio(second, k - 2, sorted.length, k)
  return advantages
}

/**
 * Group-relative advantages of pass@k for binary rewards. A choice of k members has value 1 if any of them is right,
 * otherwise 0. The advantage of a member is the mean of `(value - mean) / deviation` over all choices that contain it,
 * in closed form. For n members with w wrong, `m = 1 - C(w, k) / C(n, k)`, `s = sqrt(m (1 - m))`: right `(1 - m) / s`,
 * wrong `(1 - m - C(w-1, k-1) / C(n-1, k-1)) / s`.
 *
 * Source: Pass@k Training (arXiv 2508.10751), analytical derivation. Uses the population deviation without epsilon. If
 * every choice has the same value (all wrong, or fewer than k wrong), all advantages are 0.
 *
 * @param settings k, at least 1. threshold: a reward above it is right; default: 0.
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

export const maxAtKDefinition = defineAdvantage({
  name: 'max-at-k',
  about: 'what the best of k attempts would lose without this one',
  formula: 'Σ over choices of k (max - max without it) / C(n, k)',
  source: ['2505.15201', '2503.19595'],
  settings: { k: { type: 'integer', minimum: 2 } },
  compute: ({ rewards }, settings: { k: number }) => maxAtKAdvantages(rewards, settings),
  cases: [
    { settings: { k: 2 }, rewards: [1, 0], expected: [1, 0] },
    { settings: { k: 2 }, rewards: [1, 0.5, 0, 0] },
  ],
})

export const passAtKDefinition = defineAdvantage({
  name: 'pass-at-k',
  about: 'a choice of k is right where any of it is; the mean over choices of their GRPO advantage',
  formula: "mean over choices of k of the choice's GRPO advantage",
  source: ['2508.10751'],
  settings: { k: { type: 'integer', minimum: 1 }, threshold: { type: 'number', default: 0 } },
  compute: ({ rewards }, settings: { k: number; threshold?: number }) => passAtKAdvantages(rewards, settings),
  cases: [
    { settings: { k: 2 }, rewards: [1, 0, 0, 0], expected: [1, -1 / 3, -1 / 3, -1 / 3] },
    { settings: { k: 3, threshold: 0.5 }, rewards: [1, 0.4, 0, 0.6, 0, 0] },
  ],
  preset: {
    about: 'the group is worth its best of 4',
    settings: {
      advantage: { name: 'pass-at-k', k: 4, threshold: 0.5 },
      loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 },
      aggregation: { mode: 'token-mean' },
    },
  },
})
