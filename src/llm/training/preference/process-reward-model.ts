import { processRewardLoss } from '../../algorithm/preference/reward-model.ts'
import { AgogeError } from '../../../error.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { rowOf } from './answer-sums.ts'
import { hashOf } from '../run.ts'
import { runSchedule } from './schedule.ts'
import type { Schedule, PreferenceSchedule } from './schedule.ts'
import type { Answer } from './types.ts'

/** An answer in steps. */
export interface SteppedAnswer extends Answer {
  /** Places in `tokens` of the last token of each step, rising. */
  ends: readonly number[]
}

/** With what is known of each step: 1 = good, 0 = bad, or the share of continuations that succeeded. */
export interface LabelledSteps extends SteppedAnswer {
  labels: readonly number[]
}

export interface ProcessRewardModelOptions extends PreferenceSchedule {
  model: ScalarModel
  examples: readonly LabelledSteps[]
  validation: readonly LabelledSteps[]
}

/**
 * Trains a process reward model: its number at the end of a step is the logit that the step is good. Every step counts the same.
 * Accuracy is the share of steps on the right side of one half, margin the mean logit of good steps less that of bad ones.
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

/** What a process reward model thinks of each step of answers: chances from 0 to 1. */
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
  throw new AgogeError('The steps of an answer do not fit', {
    code: 'bad-answer',
    given: { tokens: tokens.length, ends, labels },
    expected: 'at least one step, its end a place in the tokens, and one label each',
  })
}
