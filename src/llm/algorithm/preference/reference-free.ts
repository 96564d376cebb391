import { definePreference } from '../define.ts'
import { logSigmoid, sigmoid } from '../losses/tokens.ts'
import { type PreferencePairs, type PreferenceValue, sumPairs } from './pairs.ts'

/**
 * Odds-ratio preference optimisation, without a reference: learning the chosen answer, plus
 * `-lambda log sigmoid(log odds(chosen) - log odds(rejected))`, `odds = p / (1 - p)` of the mean log-probability.
 *
 * Source: ORPO (arXiv 2403.07691), eq. 6 and 7; TRL's `orpo` (`beta` is lambda). The first term is `-chosen`, a mean over
 * pairs of means over tokens; TRL takes the mean over all tokens of the batch. Leave it out with `sft: 0` and add
 * `crossEntropyLoss` for that.
 *
 * @param pairs **means** over the tokens of each answer, not sums; clamped to -1e-7, where the odds would be infinite.
 * @param settings lambda, default 0.1; sft, weight of the first term, default 1.
 */
export function orpoLoss(
  pairs: Pick<PreferencePairs, 'chosen' | 'rejected' | 'weights'>,
  settings: { lambda?: number; sft?: number } = {},
): PreferenceValue {
  const { lambda = 0.1, sft = 1 } = settings
  return sumPairs(pairs.chosen.length, pairs.weights, (i) => {
    const chosen = Math.min(-1e-7, pairs.chosen[i])
    const rejected = Math.min(-1e-7, pairs.rejected[i])
    const x = logOdds(chosen) - logOdds(rejected)
    const gradient = lambda * sigmoid(-x)
    return {
      loss: -sft * pairs.chosen[i] - lambda * logSigmoid(x),
      // d log odds / d log p = 1 / (1 - p).
      chosen: -sft + (chosen === pairs.chosen[i] ? gradient / Math.expm1(chosen) : 0),
      rejected: rejected === pairs.rejected[i] ? -gradient / Math.expm1(rejected) : 0,
      ahead: x,
    }
  })
}

function logOdds(logprob: number): number {
  return logprob - Math.log(-Math.expm1(logprob))
}

/**
 * Simple preference optimisation, without a reference: `-log sigmoid(beta (chosen - rejected) - gamma)` of mean
 * log-probabilities, the score that generation itself follows.
 *
 * Source: SimPO (arXiv 2405.14734), eq. 6; TRL's CPO trainer with loss `simpo` (`simpo_gamma` is gamma). The authors'
 * code is set by gamma / beta.
 *
 * @param pairs **means** over the tokens of each answer, not sums.
 * @param settings beta, default 2; gamma, the margin to be met, default 1.
 */
export function simpoLoss(
  pairs: Pick<PreferencePairs, 'chosen' | 'rejected' | 'weights'>,
  settings: { beta?: number; gamma?: number } = {},
): PreferenceValue {
  const { beta = 2, gamma = 1 } = settings
  return sumPairs(pairs.chosen.length, pairs.weights, (i) => {
    const x = beta * (pairs.chosen[i] - pairs.rejected[i]) - gamma
    const gradient = -beta * sigmoid(-x)
    return {
      loss: -logSigmoid(x),
      chosen: gradient,
      rejected: -gradient,
      ahead: pairs.chosen[i] - pairs.rejected[i],
    }
  })
}

export const orpoDefinition = definePreference({
  name: 'orpo',
  about: 'imitation of the chosen answer, and the ratio of the odds, without a reference',
  formula: '-chosen - λ log σ(log odds ratio)',
  source: ['2403.07691'],
  settings: {
    lambda: { type: 'number', minimum: 0, default: 0.1 },
    sft: { type: 'number', minimum: 0, default: 1 },
  },
  of: 'means',
  usesReference: false,
  compute: orpoLoss,
  cases: [{}, { settings: { lambda: 0.5, sft: 0 } }],
})

export const simpoDefinition = definePreference({
  name: 'simpo',
  about: 'a margin between mean log-probabilities, without a reference',
  formula: '-log σ(β (chosen - rejected) - γ), means over tokens',
  source: ['2405.14734'],
  settings: {
    beta: { type: 'number', above: 0, default: 2 },
    gamma: { type: 'number', default: 1 },
  },
  of: 'means',
  usesReference: false,
  compute: simpoLoss,
  cases: [{}, { settings: { beta: 1, gamma: 0 } }],
})
