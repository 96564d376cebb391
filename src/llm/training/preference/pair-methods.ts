import {
  dpoLoss,
  type DpoSettings,
  ipoLoss,
  orpoLoss,
  type PreferencePairs,
  type PreferenceValue,
  simpoLoss,
} from '../../algorithm/preference/pairs.ts'
import type { Answer, AnswerSums, MethodLoss, PreferenceMethod, PreferencePair } from './types.ts'

/**
 * Direct preference optimisation (arXiv 2305.18290), with the settings of `dpoLoss`. `lengthWeight` below 1 desensitises it to
 * length: tokens beyond the shorter answer's length count that much (LD-DPO, arXiv 2409.06411; TRL's `ld_alpha`).
 */
export function dpo(
  settings: DpoSettings & { lengthWeight?: number } = {},
): PreferenceMethod<PreferencePair> {
  const { beta = 0.1, lengthWeight = 1 } = settings
  return {
    name: 'dpo',
    usesReference: true,
    answers: (pairs) =>
      pairs.map((pair) => answersOf(lengthWeight === 1 ? pair : shortened(pair, lengthWeight))),
    compared: answersOf,
    loss: (batch) => pairLoss(batch, dpoLoss(sums(batch), settings), (logratio) => beta * logratio),
    score: (logprob, reference) => beta * (logprob - reference),
  }
}

/** Identity preference optimisation (arXiv 2310.12036) of log-ratios a token, as TRL and the authors have it. */
export function ipo(settings: { tau?: number } = {}): PreferenceMethod<PreferencePair> {
  return {
    name: 'ipo',
    usesReference: true,
    answers: (pairs) => pairs.map(answersOf),
    compared: answersOf,
    loss: (batch) => {
      const lengths = { chosen: batch[0].lengths, rejected: batch[1].lengths }
      return pairLoss(
        batch,
        ipoLoss(sums(batch), { ...settings, lengths }),
        (logratio, length) => logratio / length,
      )
    },
    score: (logprob, reference, length) => (logprob - reference) / length,
  }
}

/** Odds-ratio preference optimisation (arXiv 2403.07691): imitation of the chosen and a dislike of the other, in one stage. */
export function orpo(settings: { lambda?: number; sft?: number } = {}): PreferenceMethod<PreferencePair> {
  return overMeans('orpo', (means) => orpoLoss(means, settings))
}

/** Simple preference optimisation (arXiv 2405.14734). */
export function simpo(settings: { beta?: number; gamma?: number } = {}): PreferenceMethod<PreferencePair> {
  return overMeans('simpo', (means) => simpoLoss(means, settings))
}

type Means = Pick<PreferencePairs, 'chosen' | 'rejected'>

function overMeans(name: string, loss: (means: Means) => PreferenceValue): PreferenceMethod<PreferencePair> {
  const mean = ({ logprobs, lengths }: AnswerSums): Float64Array => logprobs.map((sum, i) => sum / lengths[i])
  return {
    name,
    usesReference: false,
    answers: (pairs) => pairs.map(answersOf),
    compared: answersOf,
    loss: (batch) => {
      const value = loss({ chosen: mean(batch[0]), rejected: mean(batch[1]) })
      const perSum = (gradients: Float32Array, { lengths }: AnswerSums) =>
        gradients.map((gradient, i) => gradient / lengths[i])
      const chosen = perSum(value.chosen, batch[0])
      const rejected = perSum(value.rejected, batch[1])
      return pairLoss(batch, { ...value, chosen, rejected }, (logprob, length) => logprob / length)
    },
    score: (logprob, _reference, length) => logprob / length,
  }
}

/** Chosen and rejected of a pair. */
export function answersOf({ prompt, chosen, rejected, weights }: PreferencePair): [Answer, Answer] {
  const answer = (tokens: Int32Array, of: ArrayLike<number> | undefined): Answer =>
    of === undefined ? { prompt, tokens } : { prompt, tokens, weights: of }
  return [answer(chosen, weights?.chosen), answer(rejected, weights?.rejected)]
}

function shortened(pair: PreferencePair, lengthWeight: number): PreferencePair {
  const shared = Math.min(pair.chosen.length, pair.rejected.length)
  const of = (tokens: Int32Array, given: ArrayLike<number> | undefined) =>
    Array.from(tokens, (_, t) => (given?.[t] ?? 1) * (t < shared ? 1 : lengthWeight))
  const { weights } = pair
  return {
    ...pair,
    weights: { chosen: of(pair.chosen, weights?.chosen), rejected: of(pair.rejected, weights?.rejected) },
  }
}

function sums([chosen, rejected]: readonly AnswerSums[]): PreferencePairs {
  return {
    chosen: chosen.logprobs,
    rejected: rejected.logprobs,
    referenceChosen: chosen.reference,
    referenceRejected: rejected.reference,
  }
}

/** With the figures that all methods over pairs share; `worth` of a log-ratio (a log-probability without reference). */
function pairLoss(
  [chosen, rejected]: readonly AnswerSums[],
  value: PreferenceValue,
  worth: (logratio: number, length: number) => number,
): MethodLoss {
  const score = ({ logprobs, reference, lengths }: AnswerSums, i: number) =>
    worth(logprobs[i] - reference[i], lengths[i])
  const margins = Array.from(chosen.logprobs, (_, i) => score(chosen, i) - score(rejected, i))
  return {
    value: value.value,
    gradients: [value.chosen, value.rejected],
    margin: margins.reduce((sum, margin) => sum + margin, 0) / margins.length,
    accuracy: margins.filter((margin) => margin > 0).length / margins.length,
  }
}
