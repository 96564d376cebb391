import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { ktoLoss, ktoReference } from '../../algorithm/preference/kto.ts'
import {
  dpoLoss,
  type DpoSettings,
  ipoLoss,
  orpoDefinition,
  type PreferencePairs,
  type PreferenceValue,
  simpoDefinition,
} from '../../algorithm/preference/pairs.ts'
import type { PreferenceDefinition } from '../../algorithm/define.ts'
import { checkSettings } from '../../algorithm/setting-fields.ts'
import type { SettingField } from '../../algorithm/setting-fields.ts'
import { bradleyTerryLoss } from '../../algorithm/preference/reward-model.ts'
import type { ModelBackend } from '../../model-backend.ts'
import {
  type Answer,
  type AnswerSums,
  type LabelledAnswer,
  type MethodLoss,
  type PreferenceMethod,
  type PreferencePair,
  readSums,
} from './answers.ts'

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
  return pairMethod(orpoDefinition, settings)
}

/** Simple preference optimisation (arXiv 2405.14734). */
export function simpo(settings: { beta?: number; gamma?: number } = {}): PreferenceMethod<PreferencePair> {
  return pairMethod(simpoDefinition, settings)
}

/**
 * The method of any loss over pairs of answers: one of `preferenceLosses`, or your own (`definePreference`).
 *
 * @param settings those of the definition.
 * @throws AgogeError `bad-config` for a loss over scores, which trains a reward model, and for settings that do not fit.
 * @example
 * await trainPreferences({ backend, method: pairMethod(preferenceLosses.simpo, { beta: 3 }), examples, steps: 100, batch: 16, learningRate: 1e-4 })
 */
export function pairMethod<Settings extends object>(
  definition: PreferenceDefinition<string, Settings>,
  settings: Settings = {} as Settings,
): PreferenceMethod<PreferencePair> {
  const { name, usesReference } = definition
  const fields: Readonly<Record<string, unknown>> = definition.settings
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(settings))
  checkSettings(`preference loss "${name}"`, fields as Readonly<Record<string, SettingField>>, given)
  if (definition.of === 'scores')
    throw new AgogeError(`The loss "${name}" is over scores of a reward model, not over answers`, {
      code: 'bad-config',
      given: name,
      expected: 'a loss over sums or means of log-probabilities',
      hint: 'trainRewardModel trains a reward model',
    })
  if (definition.of === 'means')
    return overMeans(name, (means) =>
      definition.compute({ ...means, referenceChosen: [], referenceRejected: [] }, settings),
    )
  return {
    name,
    usesReference,
    answers: (pairs) => pairs.map(answersOf),
    compared: answersOf,
    loss: (batch) => pairLoss(batch, definition.compute(sums(batch), settings), (logratio) => logratio),
    score: (logprob, reference) => logprob - reference,
  }
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

interface KtoMethodSettings {
  /** Default 0.1. */
  beta?: number
  /** Of the good and of the bad answers; with unequal numbers chosen so that number x weight is within 1 to 4/3. */
  desirableWeight?: number
  undesirableWeight?: number
}

/**
 * Kahneman-Tversky optimisation (arXiv 2402.01306): single answers, each liked or not. The reference point of a batch comes from
 * each prompt with the answer of the next example, so neighbours have to be of different prompts: put pairs' good answers first,
 * then the bad ones.
 *
 * @throws AgogeError for fewer than two examples.
 */
export function kto(settings: KtoMethodSettings = {}): PreferenceMethod<LabelledAnswer> {
  const { beta = 0.1 } = settings
  const score = (logprob: number, reference: number): number => beta * (logprob - reference)
  return {
    name: 'kto',
    usesReference: true,
    answers(examples) {
      if (examples.length < 2)
        throw new AgogeError('KTO compares answers with those of other prompts', {
          code: 'bad-config',
          given: examples.length,
          expected: 'at least two labelled answers',
        })
      return examples.map((example, i) => {
        const { weights, tokens } = examples[(i + 1) % examples.length]
        const mismatched = { prompt: example.prompt, tokens, ...defined({ weights }) }
        return [example, mismatched]
      })
    },
    compared: answersOf,
    loss([answers, mismatched], examples) {
      const desirable = examples.map((example) => example.desirable)
      const reference = ktoReference(mismatched.logprobs, mismatched.reference)
      const { value, gradient } = ktoLoss(
        { logprobs: answers.logprobs, referenceLogprobs: answers.reference, desirable },
        { ...settings, beta, reference },
      )
      const scores = Array.from(answers.logprobs, (logprob, i) => score(logprob, answers.reference[i]))
      const right = scores.filter((each, i) =>
        desirable[i] ? each > beta * reference : each < beta * reference,
      )
      return {
        value,
        gradients: [gradient, new Float32Array(gradient.length)],
        margin: meanWhere(scores, desirable, true) - meanWhere(scores, desirable, false),
        accuracy: right.length / scores.length,
      }
    },
    score,
  }
}

/** 0 where the batch has none. */
function meanWhere(values: readonly number[], labels: readonly boolean[], wanted: boolean): number {
  const chosen = values.filter((_, i) => labels[i] === wanted)
  return chosen.length === 0 ? 0 : chosen.reduce((sum, value) => sum + value, 0) / chosen.length
}

/** How a language model is asked what it thinks of an answer. */
interface VerifierSettings {
  /** What stands between the answer and the word; may be empty. */
  question?: Int32Array
  /** The token whose log-probability is the score. */
  yes: number
}

/**
 * A generative reward model: the score of an answer is the log-probability of a word after it, trained by the loss of Bradley
 * and Terry. It needs nothing but `forward`, so any backend can be one; scores are at most 0.
 *
 * Sources: generative verifiers (arXiv 2408.15240); loss: InstructGPT (arXiv 2203.02155), eq. 1.
 *
 * @returns a method for `trainPreferences`; `verifierScores` then scores with it.
 */
export function generativeVerifier(settings: VerifierSettings): PreferenceMethod<PreferencePair> {
  const compared = ({ prompt, chosen, rejected }: PreferencePair): [Answer, Answer] => [
    asked({ prompt, tokens: chosen }, settings),
    asked({ prompt, tokens: rejected }, settings),
  ]
  return {
    name: 'verdict',
    usesReference: false,
    answers: (pairs) => pairs.map(compared),
    compared,
    loss([chosen, rejected]) {
      const value = bradleyTerryLoss({ chosen: chosen.logprobs, rejected: rejected.logprobs })
      const ahead = chosen.logprobs.map((logprob, i) => logprob - rejected.logprobs[i])
      return {
        value: value.value,
        gradients: [value.chosen, value.rejected],
        margin: ahead.reduce((sum, each) => sum + each, 0) / ahead.length,
        accuracy: value.accuracy,
      }
    },
    score: (logprob) => logprob,
  }
}

/** What the model thinks of answers: a log-probability each. */
export async function verifierScores(
  backend: Pick<ModelBackend, 'forward'>,
  answers: readonly Answer[],
  settings: VerifierSettings & { signal?: AbortSignal },
): Promise<number[]> {
  const { signal } = settings
  const sums = await readSums(
    backend,
    answers.map((answer) => asked(answer, settings)),
    signal === undefined ? {} : { signal },
  )
  return [...sums]
}

/** The word as an answer to all that was said. */
function asked({ prompt, tokens }: Answer, { question = Int32Array.of(), yes }: VerifierSettings): Answer {
  return { prompt: Int32Array.of(...prompt, ...tokens, ...question), tokens: Int32Array.of(yes) }
}
