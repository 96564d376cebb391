import { isUniform } from './advantages/group.ts'
import type { GroupRewards } from './advantages/group.ts'
import type { Aggregation } from './losses/tokens.ts'
import { optimisePolicy } from './policy-optimisation/optimise-policy.ts'
import { grpoSettings } from './policy-optimisation/presets.ts'
import type { PolicyOptimisation } from './policy-optimisation/optimise-policy.ts'

const { advantage, loss, aggregation: sequenceMean, kl: divergence } = grpoSettings

export interface GrpoSettings {
  /** Default: `grpoAdvantages` with the deviation. Any function from rewards of a group to advantages will do. */
  advantages?: (rewards: GroupRewards) => number[]
  /** Default 0.2. */
  clipLow?: number
  /** Default 0.2. DAPO's clip-higher is 0.28. */
  clipHigh?: number
  /** Default sequence-mean. DAPO's is token-mean. */
  aggregation?: Aggregation
  /** Coefficient of the k3 divergence from the reference in the loss. Default 0.04; 0 = no reference model. */
  kl?: number
}

/**
 * Group relative policy optimisation as published: an episode is as good as it is better than the other episodes of the same task, and
 * its advantage goes to every token that the policy chose in it. No critic. Groups whose members all got the same have no
 * advantage: they count in the normaliser, and only the divergence from the reference moves their tokens.
 *
 * Source: DeepSeekMath (arXiv 2402.03300). Without settings it is the preset `grpo`. With
 * `{ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' }, advantages: (r) => grpoAdvantages(r, { epsilon: 0.1 }) }` it is `grpo-damped`, the
 * default of `train`; `optimisePolicy` has all that is left out here.
 */
export function grpo(settings: GrpoSettings = {}): PolicyOptimisation {
  const {
    advantages,
    clipLow = loss.clipLow,
    clipHigh = loss.clipHigh,
    aggregation = sequenceMean,
    kl = divergence.coefficient,
  } = settings
  const ofGroup = (rewards: GroupRewards): number[] =>
    advantages === undefined || isUniform(rewards) ? rewards.map(() => 0) : advantages(rewards)
  return optimisePolicy({
    advantage:
      advantages === undefined
        ? advantage
        : (groups) => ({ turnAdvantages: groups.map(({ rewards }) => ofGroup(rewards)) }),
    loss: { ...loss, clipLow, clipHigh },
    aggregation,
    ...(kl === 0 ? {} : { kl: { ...divergence, coefficient: kl } }),
  })
}
