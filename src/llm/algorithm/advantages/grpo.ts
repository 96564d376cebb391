import { defineAdvantage } from '../define.ts'
import { type GroupRewards, isUniform, statistics } from './group.ts'

/** Settings of `grpoAdvantages`. */
export interface GrpoAdvantageSettings {
  /** Whether to divide by the standard deviation of the group. True: GRPO. False: Dr.GRPO. Default: true. */
  std?: boolean
  /** Added to the standard deviation. Default: 1e-4, as in TRL. verl uses 1e-6. */
  epsilon?: number
}

/**
 * Group-relative advantages: `(r - mean) / (std + epsilon)`. The standard deviation is unbiased (n - 1), as in TRL and
 * verl. A group with equal rewards or a single member gets zeros. So does a masked member (`null`).
 *
 * Sources: DeepSeekMath (arXiv 2402.03300); Dr.GRPO (arXiv 2503.20783), which does not divide.
 */
export function grpoAdvantages(rewards: GroupRewards, settings: GrpoAdvantageSettings = {}): number[] {
  const { std = true, epsilon = 1e-4 } = settings
  if (isUniform(rewards)) return rewards.map(() => 0)
  const { mean, deviation } = statistics(rewards)
  const scale = std ? 1 / (deviation + epsilon) : 1
  return rewards.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
}

/**
 * Group-relative advantages, scaled by the whole batch: `(r - mean of group) / (std of batch + epsilon)`. The standard
 * deviation is unbiased and covers the rewards of all groups. GRPO's own scaling enlarges the advantages of tasks that
 * are nearly always or nearly never solved; this one does not. A group with equal rewards gets zeros.
 *
 * Source: "Tricks or Traps" (arXiv 2508.08221); TRL's `scale_rewards="batch"`.
 *
 * @param settings `epsilon` is added to the standard deviation. Default: 1e-4, as in TRL.
 */
export function batchGrpoAdvantages(
  groups: readonly GroupRewards[],
  settings: { epsilon?: number } = {},
): number[][] {
  const { deviation } = statistics(groups.flat())
  const scale = 1 / (deviation + (settings.epsilon ?? 1e-4))
  return groups.map((rewards) => {
    if (isUniform(rewards)) return rewards.map(() => 0)
    const { mean } = statistics(rewards)
    return rewards.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
  })
}

/** Schema of `GrpoAdvantageSettings`: the type, limits and default of each setting. */
export const grpoSettingsSchema = {
  std: { type: 'boolean', default: true },
  epsilon: { type: 'number', minimum: 0, default: 1e-4 },
} as const

export const grpoDefinition = defineAdvantage({
  name: 'grpo',
  about: 'less the mean of the group, divided by its deviation',
  formula: '(R - m) / (std + e); Dr.GRPO: without std',
  source: ['2402.03300', '2503.20783'],
  settings: grpoSettingsSchema,
  compute: ({ rewards }, settings: GrpoAdvantageSettings) => grpoAdvantages(rewards, settings),
  cases: [
    { rewards: [1, 0, 0.4, -0.1, 1], expected: [1.0239741, -0.8722744, -0.113775, -1.0618993, 1.0239741] },
    { settings: { std: false }, rewards: [1, 0, 0.4, -0.1, 1], expected: [0.54, -0.46, -0.06, -0.56, 0.54] },
    { settings: { epsilon: 0.1 }, rewards: [1, 0.98, 0] },
  ],
})

export const batchGrpoDefinition = defineAdvantage({
  name: 'batch-grpo',
  about: 'less the mean of the group, divided by the deviation of the batch',
  formula: '(R - m of group) / (std of batch + e)',
  source: ['2508.08221'],
  settings: { epsilon: { type: 'number', minimum: 0, default: 1e-4 } },
  over: 'batch',
  compute: (groups, settings: { epsilon?: number }) =>
    batchGrpoAdvantages(
      groups.map(({ rewards }) => rewards),
      settings,
    ),
  cases: [{ rewards: [1, 0, 0.5, 0] }, { settings: { epsilon: 0.1 }, rewards: [1, 0] }],
})
