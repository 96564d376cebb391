import { AgogeError } from '../../../error.ts'
import { bradleyTerryLoss, processRewardLoss } from '../../algorithm/preference/reward-model.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { hashOf } from '../run.ts'
import { type Answer, type PreferencePair, rowOf } from './answers.ts'
import { answersOf } from './methods.ts'
import {
  type PreferenceSchedule,
  runSchedule,
  type Schedule,
  type ScheduleStep,
} from './train-preferences.ts'

interface RewardModelOptions extends PreferenceSchedule {
  model: ScalarModel
  examples: readonly PreferencePair[]
  validation: readonly PreferencePair[]
  /** As in `bradleyTerryLoss`: keeps scores near zero. Default: 0. */
  centre?: number
}

/**
 * Trains a reward model with the Bradley-Terry loss. The score of an answer is the model's output at its last token.
 *
 * Source: InstructGPT (arXiv 2203.02155), section 3.5.
 *
 * @returns curves of loss, margin and accuracy. The model ends with the weights of the best validation.
 */
export function trainRewardModel(options: RewardModelOptions): Promise<Schedule> {
  const { model, examples, validation, centre = 0, signal } = options
  const abort = signal === undefined ? {} : { signal }
  return runSchedule(
    {
      name: 'reward-model',
      model,
      examples: examples.length,
      settings: { examples: hashOf(examples), validation: hashOf(validation), centre },
      learn: (indices) =>
        learnRewards(
          model,
          indices.map((i) => examples[i]),
          { centre, ...abort },
        ),
      async validate() {
        const { chosen, rejected } = await scorePairs(model, validation.flatMap(answersOf), abort)
        const right = chosen.filter((score, i) => score > rejected[i]).length
        return { accuracy: right / chosen.length, margin: meanDifference(chosen, rejected) }
      },
    },
    options,
  )
}

/** Adds the mean gradient of a batch of pairs to the model's gradient: one update of a reward model that continues to learn. */
export async function learnRewards(
  model: ScalarModel,
  pairs: readonly PreferencePair[],
  settings: { centre?: number; signal?: AbortSignal } = {},
): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>> {
  const { centre = 0, ...abort } = settings
  const answers = pairs.flatMap(answersOf)
  const { chosen, rejected } = await scorePairs(model, answers, abort)
  const value = bradleyTerryLoss({ chosen, rejected }, { centre })
  await model.backward(
    answers.map(rowOf),
    answers.map((answer, at) => atEnd(answer, (at % 2 === 0 ? value.chosen : value.rejected)[at >> 1])),
    abort,
  )
  return { loss: value.value, accuracy: value.accuracy, margin: meanDifference(chosen, rejected) }
}

/** A reward model's scores of answers, one number each. */
export async function rewardScores(
  model: Pick<ScalarModel, 'values'>,
  answers: readonly Answer[],
  options: { signal?: AbortSignal } = {},
): Promise<number[]> {
  const values = await model.values(answers.map(rowOf), options)
  return values.map((row) => row[row.length - 1])
}

async function scorePairs(model: ScalarModel, answers: readonly Answer[], options: { signal?: AbortSignal }) {
  const scores = await rewardScores(model, answers, options)
  return {
    chosen: scores.filter((_, at) => at % 2 === 0),
    rejected: scores.filter((_, at) => at % 2 === 1),
  }
}

function atEnd({ prompt, tokens }: Answer, gradient: number): Float32Array {
  const gradients = new Float32Array(prompt.length + tokens.length)
  gradients[gradients.length - 1] = gradient
  return gradients
}

function meanDifference(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value - b[i], 0) / Math.max(1, a.length)
}

/** An answer divided into steps. */
interface SteppedAnswer extends Answer {
  /** Positions in `tokens` of the last token of each step, ascending. */
  ends: readonly number[]
}

/** Labels of the steps: 1 = good, 0 = bad, or the success rate of continuations. */
export interface LabelledSteps extends SteppedAnswer {
  labels: readonly number[]
}

interface ProcessRewardModelOptions extends PreferenceSchedule {
  model: ScalarModel
  examples: readonly LabelledSteps[]
  validation: readonly LabelledSteps[]
}

/**
 * Trains a process reward model. Its output at the end of a step is the logit that the step is good. Every step has the same
 * weight. Accuracy is the share of steps on the right side of 0.5; margin is the mean logit of good steps minus that of bad
 * ones.
 *
 * Sources: "Let's Verify Step by Step" (arXiv 2305.20050); soft labels: Math-Shepherd (arXiv 2312.08935).
 */
export async function trainProcessReward(options: ProcessRewardModelOptions): Promise<Schedule> {
  const { model, examples, validation, signal } = options
  const abort = signal === undefined ? {} : { signal }
  for (const example of [...examples, ...validation]) check(example)
  const read = async (of: readonly LabelledSteps[]) => {
    const values = await model.values(of.map(rowOf), abort)
    const logits = of.flatMap(({ prompt, ends }, i) => ends.map((end) => values[i][prompt.length + end]))
    return { logits, labels: of.flatMap(({ labels }) => labels) }
  }
  return runSchedule(
    {
      name: 'process-reward-model',
      model,
      examples: examples.length,
      settings: { examples: hashOf(examples), validation: hashOf(validation) },
      async learn(indices) {
        const batch = indices.map((i) => examples[i])
        const steps = await read(batch)
        const { value, gradient } = processRewardLoss(steps)
        let at = 0
        const gradients = batch.map(({ prompt, tokens, ends }) => {
          const row = new Float32Array(prompt.length + tokens.length)
          for (const end of ends) row[prompt.length + end] = gradient[at++]
          return row
        })
        await model.backward(batch.map(rowOf), gradients, abort)
        return { loss: value, ...metrics(steps) }
      },
      validate: async () => metrics(await read(validation)),
    },
    options,
  )
}

/** A process reward model's probability that each step of the answers is good, 0 to 1. */
export async function stepScores(
  model: Pick<ScalarModel, 'values'>,
  answers: readonly SteppedAnswer[],
  options: { signal?: AbortSignal } = {},
): Promise<number[][]> {
  const values = await model.values(answers.map(rowOf), options)
  return answers.map(({ prompt, ends }, i) =>
    ends.map((end) => 1 / (1 + Math.exp(-values[i][prompt.length + end]))),
  )
}

function metrics({ logits, labels }: { logits: readonly number[]; labels: readonly number[] }) {
  const mean = (good: boolean): number => {
    const chosen = logits.filter((_, i) => labels[i] > 0.5 === good)
    return chosen.length === 0 ? 0 : chosen.reduce((sum, logit) => sum + logit, 0) / chosen.length
  }
  const right = logits.filter((logit, i) => logit > 0 === labels[i] > 0.5).length
  return { accuracy: right / Math.max(1, logits.length), margin: mean(true) - mean(false) }
}

function check({ tokens, ends, labels }: LabelledSteps): void {
  const fits =
    ends.length > 0 && ends.length === labels.length && ends.every((end) => end >= 0 && end < tokens.length)
  if (fits) return
  throw new AgogeError('The steps of an answer are invalid', {
    code: 'bad-answer',
    given: { tokens: tokens.length, ends, labels },
    expected: 'at least one step, its end a place in the tokens, and one label each',
  })
}
