import { bradleyTerryLoss } from '../../algorithm/preference/reward-model.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { rowOf } from './answer-sums.ts'
import { hashOf } from '../run.ts'
import { runSchedule } from './schedule.ts'
import type { Schedule, PreferenceSchedule, ScheduleStep } from './schedule.ts'
import { answersOf } from './pair-methods.ts'
import type { Answer, PreferencePair } from './types.ts'

export interface RewardModelOptions extends PreferenceSchedule {
  model: ScalarModel
  examples: readonly PreferencePair[]
  validation: readonly PreferencePair[]
  /** Of `bradleyTerryLoss`: keeps scores near zero. Default 0. */
  centre?: number
}

/**
 * Trains a reward model by the loss of Bradley and Terry: its number at the last token of an answer is the score.
 *
 * Source: InstructGPT (arXiv 2203.02155), section 3.5.
 *
 * @returns curves of loss, margin and accuracy; the model ends with the weights of the best validation.
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

/** Adds the gradient of a batch of pairs, their mean, to that of the model: one update of a reward model that goes on learning. */
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

/** What a reward model thinks of answers, one number each. */
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
