import { definePreference } from '../define.ts'
import { logSigmoid, sigmoid } from '../losses/tokens.ts'
import { type PreferenceValue, sumPairs } from './pairs.ts'

/** Scores that a reward model gave the answers of pairs. The gradient is with respect to them. */
export interface ScoredPairs {
  chosen: ArrayLike<number>
  rejected: ArrayLike<number>
  /** By how much the chosen answer should be ahead, if known. Default: 0. */
  margins?: ArrayLike<number>
  /** Weight of each pair; 0 = does not count. Default: 1 / pairs (the mean). */
  weights?: ArrayLike<number>
}

/**
 * The loss of a reward model: `-log sigmoid(chosen - rejected - margin)`, plus `centre (chosen + rejected)^2`, which
 * fixes the mean level of scores, which pairs do not determine.
 *
 * Sources: Bradley and Terry 1952; InstructGPT (arXiv 2203.02155), eq. 1; margins: Llama 2 (arXiv 2307.09288), eq. 2;
 * centre: arXiv 2312.09244. TRL's reward trainer (`center_rewards_coefficient` is centre).
 */
export function bradleyTerryLoss(pairs: ScoredPairs, settings: { centre?: number } = {}): PreferenceValue {
  const { centre = 0 } = settings
  return sumPairs(pairs.chosen.length, pairs.weights, (i) => {
    const ahead = pairs.chosen[i] - pairs.rejected[i]
    const x = ahead - (pairs.margins?.[i] ?? 0)
    const level = pairs.chosen[i] + pairs.rejected[i]
    const gradient = sigmoid(-x)
    const ofLevel = 2 * centre * level
    return {
      loss: -logSigmoid(x) + centre * level * level,
      chosen: ofLevel - gradient,
      rejected: ofLevel + gradient,
      ahead,
    }
  })
}

/**
 * The loss of a process reward model: binary cross-entropy of a logit at the end of each step against a label, 1 = the
 * step is good; a value between 0 and 1 (the share of continuations that succeeded) is a soft label.
 *
 * Sources: "Let's Verify Step by Step" (arXiv 2305.20050); soft labels: Math-Shepherd (arXiv 2312.08935). TRL's PRM
 * trainer has two logits and a softmax: the same with this logit as their difference.
 *
 * @param steps weight of each step; default: 1 / steps.
 * @returns `gradient[i]` is d value / d logits[i].
 */
export function processRewardLoss(steps: {
  logits: ArrayLike<number>
  labels: ArrayLike<number>
  weights?: ArrayLike<number>
}): { value: number; gradient: Float32Array } {
  const { logits, labels, weights } = steps
  const gradient = new Float32Array(logits.length)
  let value = 0
  for (let i = 0; i < gradient.length; i++) {
    const weight = weights === undefined ? 1 / gradient.length : weights[i]
    value -= weight * (labels[i] * logSigmoid(logits[i]) + (1 - labels[i]) * logSigmoid(-logits[i]))
    gradient[i] = weight * (sigmoid(logits[i]) - labels[i])
  }
  return { value, gradient }
}

export const bradleyTerryDefinition = definePreference({
  name: 'bradley-terry',
  about: 'scores of a reward model: the chosen answer above the rejected one',
  formula: '-log σ(chosen - rejected - margin)',
  source: ['2203.02155', '2307.09288'],
  settings: { centre: { type: 'number', minimum: 0, default: 0 } },
  of: 'scores',
  usesReference: false,
  compute: (pairs, settings: { centre?: number }) => bradleyTerryLoss(pairs, settings),
  cases: [{}, { settings: { centre: 0.01 } }],
})
