import { AgogeError } from '../../../error.ts'
import { batchGrpoAdvantages, grpoAdvantages } from '../advantages/grpo.ts'
import { klRewards } from '../advantages/reward-shaping.ts'
import { maxAtKAdvantages, passAtKAdvantages } from '../advantages/best-of-k.ts'
import { maxrlAdvantages, opoAdvantages, remaxAdvantages, rlooAdvantages } from '../advantages/baselines.ts'
import {
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from '../advantages/reinforce-plus-plus.ts'
import type { GroupRewards } from '../advantages/group.ts'
import type { MemberGroup } from './batch.ts'
import type { AdvantageSettings, KlSettings } from './settings.ts'
import { turnAdvantages } from './turn-advantage.ts'

/** What a member is worth: one advantage for all its tokens, or one for each in the order they were sampled. */
export type TurnAdvantage = number | Float32Array

/** Advantages of every member of every group, by the settings' name; 0 for masked ones. */
export function advantagesOf(
  groups: readonly MemberGroup[],
  settings: AdvantageSettings,
  kl: KlSettings | undefined,
): TurnAdvantage[][] {
  const rewards = groups.map(({ members }): GroupRewards => members.map(({ reward }) => reward))
  const lengths = groups.map(({ members }) => members.map(({ length }) => length))
  switch (settings.name) {
    case 'grpo':
      return rewards.map((group) => grpoAdvantages(group, settings))
    case 'batch-grpo':
      return batchGrpoAdvantages(rewards, settings)
    case 'rloo':
      return rewards.map(rlooAdvantages)
    case 'reinforce++':
      return byToken(groups, settings, kl)
    case 'reinforce++-baseline':
      return reinforcePlusPlusBaselineAdvantages(rewards, lengths)
    case 'remax':
      return groups.map(({ greedyReward }, g) => {
        if (greedyReward === undefined) throw noGreedy()
        return remaxAdvantages(rewards[g], greedyReward)
      })
    case 'opo':
      return rewards.map((group, g) => opoAdvantages(group, lengths[g]))
    case 'maxrl':
      return rewards.map((group) => maxrlAdvantages(group, settings))
    case 'max-at-k':
      return rewards.map((group) => maxAtKAdvantages(group, settings))
    case 'pass-at-k':
      return rewards.map((group) => passAtKAdvantages(group, settings))
    case 'turn-level':
    case 'turn-return':
    case 'step-group':
      return groups.map((group) => turnAdvantages(group, settings))
  }
}

/** REINFORCE++: returns of tokens, the divergence in the reward paid where it arises instead of at the end. */
function byToken(
  groups: readonly MemberGroup[],
  settings: { gamma?: number },
  kl: KlSettings | undefined,
): TurnAdvantage[][] {
  const rewards = groups.flatMap(({ members }) =>
    members.map(({ reward, length, logprobs, referenceLogprobs }) => {
      const tokens = new Float32Array(length)
      if (reward === null || length === 0) return tokens
      tokens[length - 1] = reward
      if (kl?.place !== 'reward') return tokens
      const rewarded = klRewards({ logprobs, referenceLogprobs, outcome: 0 }, kl)
      // The reward already is less the whole divergence; it moves to the tokens.
      tokens[length - 1] -= rewarded.reduce((sum, value) => sum + value, 0)
      return tokens.map((value, t) => value + rewarded[t])
    }),
  )
  const advantages = reinforcePlusPlusAdvantages(rewards, settings)
  let at = 0
  return groups.map(({ members }) => members.map(() => advantages[at++]))
}

function noGreedy(): AgogeError {
  return new AgogeError('ReMax has no greedy answer to compare with', {
    code: 'bad-config',
    given: 'groups without a greedy episode',
    expected: 'groups with `greedyReward`',
    hint: 'Set greedyBaseline: true in the plan of reinforcement',
  })
}
