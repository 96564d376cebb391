import { definePreference } from '../define.ts'
import { logSigmoid, sigmoid } from '../losses/tokens.ts'
import { marginOf, type PreferencePairs, type PreferenceValue, sumPairs } from './pairs.ts'

export interface DpoSettings {
  /** Strength of the reference, above 0. Default 0.1. */
  beta?: number
  /** Share of pairs that are taken to be the wrong way round, 0 to below 0.5. Default 0. */
  noise?: number
  /**
   * What is done about them: `conservative` (default) mixes the losses of both ways, which keeps the margin finite;
   * `robust` subtracts instead, which is unbiased for the loss without noise.
   */
  against?: 'conservative' | 'robust'
}

/**
 * Direct preference optimisation: `-log sigmoid(beta h)`, h the margin between the log-ratios of the pair.
 * With noise e: conservative `-(1 - e) log sigmoid(beta h) - e log sigmoid(-beta h)`, robust the same with a plus and
 * divided by 1 - 2 e.
 *
 * Sources: DPO (arXiv 2305.18290), eq. 7; conservative: Mitchell 2023 (older TRL's `label_smoothing`); robust: rDPO
 * (arXiv 2403.00409), TRL's loss `robust`.
 */
export function dpoLoss(pairs: PreferencePairs, settings: DpoSettings = {}): PreferenceValue {
  const { beta = 0.1, noise = 0, against = 'conservative' } = settings
  const sign = against === 'robust' ? -1 : 1
  const scale = against === 'robust' ? 1 / (1 - 2 * noise) : 1
  return sumPairs(pairs.chosen.length, pairs.weights, (i) => {
    const x = beta * marginOf(pairs, i)
    const loss = -scale * ((1 - noise) * logSigmoid(x) + sign * noise * logSigmoid(-x))
    const gradient = -scale * beta * ((1 - noise) * sigmoid(-x) - sign * noise * sigmoid(x))
    return { loss, chosen: gradient, rejected: -gradient, ahead: x }
  })
}

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

export const dpoDefinition = definePreference({
  name: 'dpo',
  about: 'the margin between the log-ratios of a pair, raised',
  formula: "-log σ(β h), h = difference of the pair's log-ratios; with noise",
  source: ['2305.18290', '2403.00409'],
  settings: {
    beta: { type: 'number', above: 0, default: 0.1 },
    noise: { type: 'number', minimum: 0, maximum: 0.499, default: 0 },
    against: { oneOf: ['conservative', 'robust'], default: 'conservative' },
  },
  of: 'sums',
  usesReference: true,
  compute: dpoLoss,
  cases: [{}, { settings: { noise: 0.1 } }, { settings: { beta: 0.5, noise: 0.2, against: 'robust' } }],
})

export const ipoDefinition = definePreference({
  name: 'ipo',
  about: 'a margin to be met instead of one to be raised for ever',
  formula: '(h - 1 / 2τ)²',
  source: ['2310.12036'],
  settings: { tau: { type: 'number', above: 0, default: 0.1 } },
  of: 'sums',
  usesReference: true,
  compute: (pairs, settings: { tau?: number }) => ipoLoss(pairs, settings),
  cases: [{}, { settings: { tau: 0.5 } }],
})
