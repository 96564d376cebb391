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
 * Direct preference optimisation (arXiv 2305.18290), with the settings of `dpoLoss`. A `lengthWeight` below 1 reduces the bias
 * towards long answers: tokens beyond the length of the shorter answer get that weight (LD-DPO, arXiv 2409.06411; TRL's
 * `ld_alpha`).
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

/** Identity preference optimisation (arXiv 2310.12036), with log-ratios averaged over tokens as in TRL and the authors' code. */
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

/** Odds-ratio preference optimisation (arXiv 2403.07691): SFT on the chosen answer and an odds-ratio penalty, in one stage. */
export function orpo(settings: { lambda?: number; sft?: number } = {}): PreferenceMethod<PreferencePair> {
  return pairMethod(orpoDefinition, settings)
}

/** Simple preference optimisation (arXiv 2405.14734). */
export function simpo(settings: { beta?: number; gamma?: number } = {}): PreferenceMethod<PreferencePair> {
  return pairMethod(simpoDefinition, settings)
}

/**
 * Makes a method from a loss over pairs of answers: one of `preferenceLosses`, or your own (`definePreference`).
 *
 * @param settings those of the definition.
 * @throws AgogeError `bad-config` for a loss over scores, which trains a reward model, and for invalid settings.
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

/** The chosen and the rejected answer of a pair. */
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

/**
 * Adds the metrics shared by all methods over pairs. `worth` maps a log-ratio (a log-probability without a reference) to a
 * score.
 */
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
  /** Default: 0.1. */
  beta?: number
  /**
   * Weights of good and bad answers. If their numbers differ, choose weights so that the ratio of number x weight is within 1 to
   * 4/3.
   */
  desirableWeight?: number
  undesirableWeight?: number
}

/**
 * Kahneman-Tversky optimisation (arXiv 2402.01306) on single answers with binary labels. The reference point of a batch pairs
 * each prompt with the answer of the next example, so neighbours need different prompts: list the good answers of all pairs
 * first, then the bad ones.
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

/** 0 if no value has the label. */
function meanWhere(values: readonly number[], labels: readonly boolean[], wanted: boolean): number {
  const chosen = values.filter((_, i) => labels[i] === wanted)
  return chosen.length === 0 ? 0 : chosen.reduce((sum, value) => sum + value, 0) / chosen.length
}

/** How to ask a language model for its judgement of an answer. */
interface VerifierSettings {
  /** Tokens between the answer and the judgement; may be empty. */
  question?: Int32Array
  /** The token whose log-probability is the score. */
  yes: number
}

/**
 * A generative reward model. The score of an answer is the log-probability of a given token after it, at most 0, trained with
 * the Bradley-Terry loss. Needs only `forward`, so any backend works.
 *
 * Sources: generative verifiers (arXiv 2408.15240); loss: InstructGPT (arXiv 2203.02155), eq. 1.
 *
 * @returns a method for `trainPreferences`. Afterwards, `verifierScores` computes scores.
 */
export function generativeVerifier(settings: VerifierSettings): PreferenceMethod<PreferencePair> {
  const compared = ({ prompt, chosen, rejected }: PreferencePair): [Answer, Answer] => [
    asked({ prompt, tokens: chosen }, settings),
    asked({ prompt, tokens: rejected }, settings),
  ]
  return {
    // Stored in run files of earlier versions.
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

/** Scores of answers under a trained `generativeVerifier`: one log-probability each. */
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

/** The judgement token as the answer to prompt, answer and question. */
function asked({ prompt, tokens }: Answer, { question = Int32Array.of(), yes }: VerifierSettings): Answer {
  return { prompt: Int32Array.of(...prompt, ...tokens, ...question), tokens: Int32Array.of(yes) }
}
