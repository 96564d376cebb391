import { defineAdvantage } from '../define.ts'
import { AgogeError } from '../../../error.ts'
import { type GroupRewards, isUniform, statistics } from './group.ts'

/**
 * Leave-one-out advantages: the reward minus the mean of the other members, `n / (n - 1) * (r - mean)`. A group of one
 * member gives 0.
 *
 * Source: Back to Basics (arXiv 2402.14740); equal to TRL's and verl's `rloo`.
 */
export function rlooAdvantages(rewards: GroupRewards): number[] {
  if (isUniform(rewards)) return rewards.map(() => 0)
  const { mean, count } = statistics(rewards)
  return rewards.map((reward) => (reward === null ? 0 : (count / (count - 1)) * (reward - mean)))
}

/**
 * Advantages against the minimum-variance baseline for on-policy learning, `r - sum(length * r) / sum(length)`. Assumes
 * that the squared gradient norm of a sequence is proportional to its length.
 *
 * Source: OPO (arXiv 2505.23585); verl's `opo`. A group of one member gives 0 here and its reward in verl.
 *
 * @param lengths trained tokens of each member, 0 or more, same length as `rewards`.
 */
export function opoAdvantages(rewards: GroupRewards, lengths: ArrayLike<number>): number[] {
  if (isUniform(rewards)) return rewards.map(() => 0)
  const tokens = rewards.reduce<number>((sum, reward, i) => sum + (reward === null ? 0 : lengths[i]), 0)
  if (tokens === 0) return rewards.map(() => 0)
  const baseline = rewards.reduce<number>((sum, reward, i) => sum + lengths[i] * (reward ?? 0), 0) / tokens
  return rewards.map((reward) => (reward === null ? 0 : reward - baseline))
}

/**
 * Advantages against the greedy answer: the reward of each sampled episode minus the reward of the same policy's greedy
 * episode (temperature 0) of the same task.
 *
 * Source: ReMax (arXiv 2310.10505); verl's `remax`, TRL has none. Without a score of the greedy episode (`null`), all
 * advantages of the group are 0.
 */
export function remaxAdvantages(rewards: GroupRewards, greedyReward: number | null): number[] {
  return rewards.map((reward) => (reward === null || greedyReward === null ? 0 : reward - greedyReward))
}

/**
 * Maximum-likelihood advantages: `(r - mean) / mean`. Dividing by the mean instead of the deviation weights rare
 * successes like the gradient of the log success probability. The mean estimates a probability, so a reward below 0
 * (the costs of a failed episode) counts as 0. If all rewards are 0, so are all advantages.
 *
 * Source: MaxRL (arXiv 2602.02710); SkyRL's `maxrl` estimator (its epsilon of 1e-6 is `epsilon`). SkyRL does not clamp
 * negative rewards, so a negative mean flips the sign of the gradient there.
 */
export function maxrlAdvantages(rewards: GroupRewards, settings: { epsilon?: number } = {}): number[] {
  const won = rewards.map((reward) => (reward === null ? null : Math.max(0, reward)))
  if (isUniform(won)) return won.map(() => 0)
  const { mean } = statistics(won)
  const scale = 1 / (mean + (settings.epsilon ?? 1e-6))
  return won.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
}

const sequenceSum = { mode: 'constant', length: 1 } as const
const plainGradient = { name: 'importance-sampling' } as const

export const rlooDefinition = defineAdvantage({
  name: 'rloo',
  about: 'less the mean of the others',
  formula: 'R - mean of the others',
  source: ['2402.14740'],
  settings: {},
  compute: ({ rewards }) => rlooAdvantages(rewards),
  cases: [{ rewards: [1, 0, 0.4, -0.1, 1], expected: [0.675, -0.575, -0.075, -0.7, 0.675] }],
  preset: {
    about: 'against the mean of the others, REINFORCE over whole sequences',
    settings: { advantage: { name: 'rloo' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
})

export const opoDefinition = defineAdvantage({
  name: 'opo',
  about: 'less the mean weighted by length, the baseline of least variance',
  formula: 'R - Σ length R / Σ length',
  source: ['2505.23585'],
  settings: {},
  compute: ({ rewards, lengths }) => opoAdvantages(rewards, lengths),
  cases: [{ rewards: [1, 0], lengths: [1, 3], expected: [0.75, -0.25] }],
  preset: {
    about: 'exactly on policy, against the mean weighted by length',
    settings: { advantage: { name: 'opo' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
})

export const remaxDefinition = defineAdvantage({
  name: 'remax',
  about: 'less the reward of the greedy answer',
  formula: 'R - R of the greedy answer',
  source: ['2310.10505'],
  needs: '`greedyBaseline` of the plan',
  settings: {},
  compute: ({ rewards, greedyReward }) => {
    if (greedyReward === undefined) throw noGreedy()
    return remaxAdvantages(rewards, greedyReward)
  },
  cases: [{ rewards: [1, 0.25], greedyReward: 0.5, expected: [0.5, -0.25] }],
  preset: {
    about: 'against the greedy answer',
    settings: { advantage: { name: 'remax' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1, greedyBaseline: true },
  },
})

function noGreedy(): AgogeError {
  return new AgogeError('ReMax needs a greedy answer to compare with', {
    code: 'bad-config',
    given: 'groups without a greedy episode',
    expected: 'groups with `greedyReward`',
    hint: 'Set greedyBaseline: true in the plan of reinforcement',
  })
}

export const maxrlDefinition = defineAdvantage({
  name: 'maxrl',
  about: 'less the mean of the group, divided by it: towards the likelihood of success',
  formula: '(R - m) / m, R below 0 as 0',
  source: ['2602.02710'],
  settings: { epsilon: { type: 'number', minimum: 0, default: 1e-6 } },
  nonNegative: true,
  compute: ({ rewards }, settings: { epsilon?: number }) => maxrlAdvantages(rewards, settings),
  cases: [
    { rewards: [1, 0, 0, 1, 0], expected: [1.4999962, -0.9999975, -0.9999975, 1.4999962, -0.9999975] },
    { rewards: [-0.1, -0.02, -0.4], expected: [0, 0, 0] },
  ],
  preset: {
    about: 'divided by the mean of the group: towards the likelihood of success',
    settings: { advantage: { name: 'maxrl' }, loss: plainGradient, aggregation: sequenceSum },
    batch: { minibatches: 1 },
  },
})
