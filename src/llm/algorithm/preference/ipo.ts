import { sumPairs } from './sum-pairs.ts'
import type { PreferencePairs, PreferenceValue } from './types.ts'

/**
 * Identity preference optimisation: `(h - 1 / (2 tau))^2`, a margin to be met instead of one to be raised for ever.
 *
 * Source: IPO (arXiv 2310.12036), eq. 17. TRL divides each answer's log-ratio by its tokens first (the authors agreed
 * with it): give the lengths for that; without them h is of sums, as printed in the paper.
 *
 * @param settings tau above 0 (TRL's `beta`), default 0.1; tokens of the chosen and the rejected answers, at least 1.
 */
export function ipoLoss(
  pairs: PreferencePairs,
  settings: { tau?: number; lengths?: { chosen: ArrayLike<number>; rejected: ArrayLike<number> } } = {},
): PreferenceValue {
  const { tau = 0.1, lengths } = settings
  return sumPairs(pairs.chosen.length, pairs.weights, (i) => {
    const ofChosen = 1 / Math.max(1, lengths?.chosen[i] ?? 1)
    const ofRejected = 1 / Math.max(1, lengths?.rejected[i] ?? 1)
    const h =
      ofChosen * (pairs.chosen[i] - pairs.referenceChosen[i]) -
      ofRejected * (pairs.rejected[i] - pairs.referenceRejected[i])
    const error = h - 1 / (2 * tau)
    return { loss: error * error, chosen: 2 * error * ofChosen, rejected: -2 * error * ofRejected, ahead: h }
  })
}
