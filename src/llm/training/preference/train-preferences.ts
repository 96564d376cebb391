import { AgogeError } from '../../../error.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { answerLength, plainSequence, readSums, rowOf, spread, sumOf } from './answer-sums.ts'
import { hashOf } from '../run.ts'
import { runSchedule } from './schedule.ts'
import type { Schedule, PreferenceSchedule, ScheduleStep } from './schedule.ts'
import type { Answer, AnswerSums, PreferenceMethod, PreferencePair } from './types.ts'

export interface PreferenceTrainingOptions<Example> extends PreferenceSchedule {
  /** What is trained. */
  backend: ModelBackend
  method: PreferenceMethod<Example>
  examples: readonly Example[]
  /** Pairs that are not among the examples. */
  validation: readonly PreferencePair[]
  /**
   * What the policy is held against, where the method does that; read once before training. Default: the backend as it is at the
   * beginning, so that no second model is needed.
   */
  reference?: Pick<ModelBackend, 'forward'>
}

/**
 * Trains a language model on preferences that are given: pairs (`dpo`, `ipo`, `orpo`, `simpo`) or single judged answers (`kto`).
 *
 * @returns curves of loss, margin and accuracy; the backend ends with the weights of the best validation.
 * @throws AgogeError `non-finite-loss` before an update that would spoil the weights, naming the examples' answers.
 * @example
 * const { best } = await trainPreferences({ backend, method: dpo(), examples, validation, steps: 100, batch: 16, learningRate: 1e-4 })
 */
export async function trainPreferences<Example>(
  options: PreferenceTrainingOptions<Example>,
): Promise<Schedule> {
  return runSchedule(await preparePreferences(options), options)
}

async function preparePreferences<Example>(options: PreferenceTrainingOptions<Example>) {
  const { backend, method, examples, validation, signal } = options
  const abort = signal === undefined ? {} : { signal }
  if (validation.length === 0)
    throw new AgogeError('There is nothing to validate by', {
      code: 'bad-config',
      given: validation.length,
      expected: 'at least one pair that is not trained on',
    })
  const answers = method.answers(examples)
  const judged = validation.flatMap((pair) => method.compared(pair))
  const readReference = async (of: readonly Answer[]): Promise<Float64Array> =>
    method.usesReference ? readSums(options.reference ?? backend, of, abort) : new Float64Array(of.length)
  const each = answers[0]?.length ?? 0
  const references = await readReference(answers.flat())
  const judgedReferences = await readReference(judged)

  return {
    name: method.name,
    model: backend,
    examples: examples.length,
    settings: { method: method.name, examples: hashOf(examples), validation: hashOf(validation) },
    async learn(indices: readonly number[]) {
      return learnPreferences(
        backend,
        method,
        indices.map((i) => ({
          example: examples[i],
          answers: answers[i],
          reference: references.subarray(i * each, (i + 1) * each),
        })),
        abort,
      )
    },
    async validate() {
      const sums = await readSums(backend, judged, abort)
      const scores = judged.map((answer, i) =>
        method.score(sums[i], judgedReferences[i], answerLength(answer)),
      )
      const margins = validation.map((_, i) => scores[2 * i] - scores[2 * i + 1])
      const mean = (values: readonly number[]) =>
        values.reduce((sum, value) => sum + value, 0) / values.length
      return {
        accuracy: margins.filter((margin) => margin > 0).length / margins.length,
        margin: mean(margins),
        chosen: mean(validation.map((_, i) => sums[2 * i])),
        rejected: mean(validation.map((_, i) => sums[2 * i + 1])),
      }
    },
  }
}

/** An example with its answers and what the reference gives them. */
export interface ReadExample<Example> {
  example: Example
  answers: readonly Answer[]
  reference: ArrayLike<number>
}

/** Adds the gradient of a batch to that of the backend: the mean over its examples. */
export async function learnPreferences<Example>(
  backend: Pick<ModelBackend, 'forward' | 'forwardBackward'>,
  method: PreferenceMethod<Example>,
  batch: readonly ReadExample<Example>[],
  options: { signal?: AbortSignal } = {},
): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>> {
  const answers = batch.flatMap((each) => each.answers)
  const each = batch[0].answers.length
  let metrics = { margin: 0, accuracy: 0 }
  const { loss } = await forwardBackward(
    backend,
    answers.map((answer) => plainSequence(rowOf(answer))),
    (logprobs) => {
      const columns = Array.from({ length: each }, (_, column): AnswerSums => ({
        logprobs: Float64Array.from(batch, ({ answers: own }, i) =>
          sumOf(own[column], logprobs[i * each + column]),
        ),
        reference: Float64Array.from(batch, ({ reference }) => reference[column]),
        lengths: Float64Array.from(batch, ({ answers: own }) => answerLength(own[column])),
      }))
      const value = method.loss(
        columns,
        batch.map(({ example }) => example),
      )
      metrics = { margin: value.margin, accuracy: value.accuracy }
      return {
        loss: value.value,
        gradients: answers.map((answer, at) =>
          spread(answer, value.gradients[at % each][Math.floor(at / each)]),
        ),
      }
    },
    options,
  )
  return { loss, ...metrics }
}
