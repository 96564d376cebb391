import { logSigmoid, sigmoid } from '../losses/logistic.ts'
import { sumPairs } from './sum-pairs.ts'
import type { PreferencePairs, PreferenceValue } from './types.ts'

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
