import { defineAdvantage } from '../define.ts'
import { whiten } from '../../../returns/advantages.ts'
import { type GroupRewards, statistics } from './group.ts'

/**
 * REINFORCE++ without groups: the discounted return from each token, whitened over all tokens of the batch: `(G - mean)
 * / sqrt(var + 1e-8)` with the unbiased variance. Token rewards are usually `-beta * KL`, with the outcome added to the
 * last one (`klRewards`).
 *
 * Source: REINFORCE++ (arXiv 2501.03262); verl's `reinforce_plus_plus`. verl resets the running return to 0 at masked
 * tokens, including those of tools. Here a sequence contains only the trained tokens, so the return flows back through
 * tool calls to earlier turns.
 *
 * @param rewards of the trained tokens of each sequence.
 * @param settings gamma, the discount; default: 1.
 * @returns advantages of the tokens, same shape as `rewards`. A batch of one token gives 0.
 */
export function reinforcePlusPlusAdvantages(
  rewards: readonly ArrayLike<number>[],
  settings: { gamma?: number } = {},
): Float32Array[] {
  const { gamma = 1 } = settings
  const returns = rewards.map((tokens) => {
    const sums = Array.from(tokens)
    let running = 0
    for (let t = tokens.length - 1; t >= 0; t--) sums[t] = running = sums[t] + gamma * running
    return sums
  })
  const whitened = whiten(returns.flat())
  let at = 0
  return returns.map((tokens) => Float32Array.from(tokens, () => whitened[at++]))
}

/**
 * REINFORCE++ with the group's mean as baseline: centred within each group, then whitened over all tokens of the batch:
 * `(a - mean) / sqrt(var + 1e-8)` with the unbiased variance, each member counted once per token.
 *
 * Source: REINFORCE++ (arXiv 2501.03262); verl's `reinforce_plus_plus_baseline` with its `masked_whiten`.
 *
 * @param tokens sampled tokens of each member, same shape as `groups`; default: each member counts once.
 */
export function reinforcePlusPlusBaselineAdvantages(
  groups: readonly GroupRewards[],
  tokens?: readonly (readonly number[])[],
): number[][] {
  const centred = groups.map((rewards) => {
    const { mean, count } = statistics(rewards)
    // As in verl, a single member is not centred: the batch is its only baseline.
    return rewards.map((reward) => (reward === null ? null : count === 1 ? reward : reward - mean))
  })
  const counted = centred.flatMap((members, g) =>
    members.flatMap((value, m) => (value === null ? [] : [{ value, weight: tokens?.[g][m] ?? 1 }])),
  )
  const whitened = whiten(
    counted.map(({ value }) => value),
    counted.map(({ weight }) => weight),
  )
  let at = 0
  return centred.map((members) => members.map((value) => (value === null ? 0 : whitened[at++])))
}

const clip = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const

export const reinforcePlusPlusDefinition = defineAdvantage({
  name: 'reinforce++',
  about: 'no groups: the return of each token, whitened over the batch',
  formula: 'return of each token, whitened over the batch',
  source: ['2501.03262'],
  needs: 'nothing',
  settings: { gamma: { type: 'number', minimum: 0, maximum: 1, default: 1 } },
  over: 'batch',
  per: 'token',
  compute: (groups, settings: { gamma?: number }) => {
    const advantages = reinforcePlusPlusAdvantages(
      groups.flatMap(({ tokenRewards }) => tokenRewards),
      settings,
    )
    let at = 0
    return groups.map(({ rewards }) => rewards.map(() => advantages[at++]))
  },
  cases: [
    { rewards: [1, 0], lengths: [2, 1] },
    { settings: { gamma: 0.9 }, rewards: [1, 0, 0.5] },
  ],
  preset: {
    about: 'no groups: returns whitened over the batch, k1 from the reference in the reward',
    settings: {
      advantage: { name: 'reinforce++' },
      loss: clip,
      aggregation: { mode: 'token-mean' },
      kl: { place: 'reward', estimator: 'k1', coefficient: 0.01 },
    },
  },
})

export const reinforcePlusPlusBaselineDefinition = defineAdvantage({
  name: 'reinforce++-baseline',
  about: 'less the mean of the group, whitened over the tokens of the batch',
  formula: "R - m of group, whitened over the batch's tokens",
  source: ['2501.03262'],
  settings: {},
  over: 'batch',
  compute: (groups) =>
    reinforcePlusPlusBaselineAdvantages(
      groups.map(({ rewards }) => rewards),
      groups.map(({ lengths }) => lengths),
    ),
  cases: [{ rewards: [1, 0, 0.5], lengths: [2, 3, 1] }],
  preset: {
    about: 'less the mean of the group, whitened over the batch, k2 from the reference in the loss',
    settings: {
      advantage: { name: 'reinforce++-baseline' },
      loss: clip,
      aggregation: { mode: 'token-mean' },
      kl: { place: 'loss', estimator: 'k2', coefficient: 0.01 },
    },
  },
})
