import { definePreference } from '../define.ts'
import { logSigmoid, sigmoid } from '../losses/tokens.ts'

/**
 * Pairs of answers to the same prompt, one number per pair: natural log-probabilities summed over the tokens of an
 * answer, under the trained policy and under the reference.
 */
export interface PreferencePairs {
  chosen: ArrayLike<number>
  rejected: ArrayLike<number>
  referenceChosen: ArrayLike<number>
  referenceRejected: ArrayLike<number>
  /** Weight of each pair; 0 = does not count. Default: 1 / pairs (the mean). */
  weights?: ArrayLike<number>
}

/**
 * A loss over pairs with its exact gradient. To get the gradient of a token, use that of the sequence (for sums), or
 * divide it by the length (for means).
 */
export interface PreferenceValue {
  value: number
  /** d value / d chosen[i]. */
  chosen: Float32Array
  /** d value / d rejected[i]. */
  rejected: Float32Array
  /** Share of the counted pairs whose chosen answer has the higher score by the loss; 0 if none counts. */
  accuracy: number
}

/** Loss of one pair, its gradients, and by how much the chosen answer is ahead. */
interface PairLoss {
  loss: number
  chosen: number
  rejected: number
  ahead: number
}

/** The weighted sum over `count` pairs that all losses of pairs share. Default weight: 1 / count. */
export function sumPairs(
  count: number,
  weights: ArrayLike<number> | undefined,
  pair: (i: number) => PairLoss,
): PreferenceValue {
  const chosen = new Float32Array(count)
  const rejected = new Float32Array(count)
  let value = 0
  let counted = 0
  let right = 0
  for (let i = 0; i < count; i++) {
    const weight = weights === undefined ? 1 / count : weights[i]
    if (weight === 0) continue
    const result = pair(i)
    value += weight * result.loss
    chosen[i] = weight * result.chosen
    rejected[i] = weight * result.rejected
    counted++
    if (result.ahead > 0) right++
  }
  return { value, chosen, rejected, accuracy: counted === 0 ? 0 : right / counted }
}

/** The margin h of pair i in nats: how much more the policy moved towards the chosen than towards the rejected answer. */
export function marginOf(pairs: PreferencePairs, i: number): number {
  return pairs.chosen[i] - pairs.referenceChosen[i] - (pairs.rejected[i] - pairs.referenceRejected[i])
}

/** Settings of `dpoLoss`. */
export interface DpoSettings {
  /** Strength of the reference, above 0. Default: 0.1. */
  beta?: number
  /** Assumed share of wrongly labelled pairs, from 0 to below 0.5. Default: 0. */
  noise?: number
  /**
   * How to treat wrong labels. `conservative` (default) mixes the losses of both orders, which keeps the margin finite.
   * `robust` subtracts one from the other, which is unbiased for the loss without noise.
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
 * Identity preference optimisation: `(h - 1 / (2 tau))^2`, a margin to reach instead of one that grows without bound.
 *
 * Source: IPO (arXiv 2310.12036), eq. 17. TRL divides each answer's log-ratio by its tokens first (the authors agreed
 * with it): pass the lengths for that. Without lengths, h uses sums, as printed in the paper.
 *
 * @param settings tau above 0 (TRL's `beta`), default: 0.1; the token counts of the chosen and the rejected answers, at
 * least 1.
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

/**
 * Odds-ratio preference optimisation, without a reference: the cross-entropy of the chosen answer, plus `-lambda log
 * sigmoid(log odds(chosen) - log odds(rejected))`, `odds = p / (1 - p)` of the mean log-probability.
 *
 * Source: ORPO (arXiv 2403.07691), eq. 6 and 7; TRL's `orpo` (`beta` is lambda). The first term is `-chosen`, a mean
 * over pairs of means over tokens. TRL takes the mean over all tokens of the batch; for that, set `sft: 0` and add
 * `crossEntropyLoss`.
 *
 * @param pairs **means** over the tokens of each answer, not sums; clamped to -1e-7, because the odds at 0 are
 * infinite.
 * @param settings lambda, default: 0.1; sft, weight of the first term, default: 1.
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
 * log-probabilities, the same score that generation maximises.
 *
 * Source: SimPO (arXiv 2405.14734), eq. 6; TRL's CPO trainer with loss `simpo` (`simpo_gamma` is gamma). The authors'
 * code takes gamma / beta instead of gamma.
 *
 * @param pairs **means** over the tokens of each answer, not sums.
 * @param settings beta, default: 2; gamma, the margin, default: 1.
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
