import { createRandom } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { OptimiserSettings, TrainedModel } from '../kernel.ts'
import { hashOf, type RunOptions, runTraining, settingsOf, stepsOf } from '../run.ts'
import {
  type Answer,
  answerLength,
  type AnswerSums,
  plainSequence,
  type PreferenceMethod,
  type PreferencePair,
  readSums,
  rowOf,
  spread,
  sumOf,
} from './answers.ts'

/** Length, learning rate and validations of a training on examples. */
export interface PreferenceSchedule extends OptimiserSettings, RunOptions {
  /** Number of updates. The examples are shuffled by seed and repeated as needed. */
  steps: number
  /** Examples per update. */
  batch: number
  /** Steps between validations, in addition to those before the first and after the last step. Default: only those two. */
  validateEvery?: number
  /** Default: 0. */
  seed?: number
  onStep?: (step: ScheduleStep) => void
  onValidation?: (validation: ScheduleValidation) => void
}

/** Statistics of one update's examples, before the update. */
export interface ScheduleStep {
  /** Starts at 1. */
  step: number
  loss: number
  margin: number
  accuracy: number
  /** undefined if the backend does not report it. */
  gradientNorm: number | undefined
  learningRate: number
}

/** Statistics of all validation examples after this many steps. */
interface ScheduleValidation {
  step: number
  /** Share of pairs whose chosen answer scores higher. Ties do not count. */
  accuracy: number
  /** Mean score of the chosen minus that of the rejected answers. */
  margin: number
  /** Mean log-probabilities of the answers, if the trained model gives any. */
  chosen?: number
  rejected?: number
}

export interface Schedule {
  steps: ScheduleStep[]
  validations: ScheduleValidation[]
  /** The validation whose weights are loaded in the end: the highest accuracy, the earliest if tied. */
  best: ScheduleValidation
}

/** A model to train and its examples. */
interface Student {
  /** Name of the trainer in the run. */
  name: string
  model: TrainedModel
  examples: number
  /** Other values that two equal runs share, for `config.json`. */
  settings: Readonly<Record<string, unknown>>
  /** Adds the gradient of these examples. */
  learn(indices: readonly number[]): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>>
  validate(): Promise<Omit<ScheduleValidation, 'step'>>
}

/** Trains, validates, and ends with the best weights. After an abort or error the weights stay as they are. */
export async function runSchedule(student: Student, settings: PreferenceSchedule): Promise<Schedule> {
  const { steps: total, batch, validateEvery = total, seed = 0 } = settings
  for (const [name, value] of Object.entries({
    steps: total,
    batch,
    validateEvery,
    examples: student.examples,
  }))
    if (!Number.isInteger(value) || value < 1)
      throw new AgogeError(`A training plan cannot have ${name} ${value}`, {
        code: 'bad-config',
        given: value,
        expected: 'a whole number from 1 on',
      })
  const { name, model } = student
  const { records } = await runTraining<number[]>(
    {
      name,
      steps: total,
      collect: (step) => indicesOf(step, batch, student.examples, seed),
      async update(indices, tools) {
        const learned = await student.learn(indices)
        const optimStep = tools.schedule(settings)
        const { gradientNorm } = await tools.move(model, optimStep)
        const { learningRate } = optimStep
        settings.onStep?.({ step: tools.step + 1, ...learned, gradientNorm, learningRate })
        return { ...learned, gradientNorm, learningRate }
      },
      validation: {
        measure: 'accuracy',
        isDue: (step, over) => over || step % validateEvery === 0,
        async score() {
          const { accuracy, ...metrics } = await student.validate()
          return { score: accuracy, metrics }
        },
        keep: 'best',
      },
    },
    {
      ...settings,
      onEvent(event) {
        settings.onEvent?.(event)
        if (event.type === 'step' && event.phase === `${name}-validation`)
          settings.onValidation?.(validationOf(event))
      },
      models: { model },
      settings: { ...settingsOf(settings), ...student.settings },
    },
  )
  const validations = records.filter(({ phase }) => phase === `${name}-validation`).map(validationOf)
  const best = validations.reduce((a, b) => (b.accuracy > a.accuracy ? b : a))
  return { steps: stepsOf(records, name), validations, best }
}

function validationOf({ step, metrics }: Pick<MetricsRecord, 'step' | 'metrics'>): ScheduleValidation {
  const { best: _, ...measured } = metrics
  return { step, ...measured } as unknown as ScheduleValidation
}

/** The examples of a step. Each epoch has its own order and uses every example once. */
function indicesOf(step: number, batch: number, examples: number, seed: number): number[] {
  const size = Math.min(batch, examples)
  const first = Math.floor((step * size) / examples)
  const order = [first, first + 1].flatMap((epoch) =>
    createRandom(seed, 'course', epoch).shuffle(Array.from({ length: examples }, (_, i) => i)),
  )
  const start = step * size - first * examples
  return order.slice(start, start + size)
}

interface PreferenceTrainingOptions<Example> extends PreferenceSchedule {
  /** The model to train. */
  backend: ModelBackend
  method: PreferenceMethod<Example>
  examples: readonly Example[]
  /** Pairs that are not among the examples. */
  validation: readonly PreferencePair[]
  /**
   * The reference policy, if the method needs one. It is read once before training. Default: the backend's initial weights,
   * which needs no second model.
   */
  reference?: Pick<ModelBackend, 'forward'>
}

/**
 * Trains a language model on given preferences: pairs (`dpo`, `ipo`, `orpo`, `simpo`) or single labelled answers (`kto`).
 *
 * @returns curves of loss, margin and accuracy. The backend ends with the weights of the best validation.
 * @throws AgogeError `non-finite-loss` before an update that would damage the weights, naming the examples' answers.
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
    throw new AgogeError('There is nothing to validate on', {
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

/** An example with its answers and the reference's log-probabilities of them. */
export interface ReadExample<Example> {
  example: Example
  answers: readonly Answer[]
  reference: ArrayLike<number>
}

/** Adds the mean gradient over a batch to the backend's gradient. */
export async function learnPreferences<Example>(
  backend: Pick<ModelBackend, 'forward' | 'forwardBackward'>,
  method: PreferenceMethod<Example>,
  batch: readonly ReadExample<Example>[],
  options: { signal?: AbortSignal } = {},
): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>> {
  const { sequences, loss } = preferenceUpdate(method, batch)
  const report = await forwardBackward(backend, sequences, loss, options)
  const { margin = 0, accuracy = 0 } = report.metrics ?? {}
  return { loss: report.loss, margin, accuracy }
}

/** A batch as the backend needs it: the rows of its answers, and the mean loss over the examples. */
export function preferenceUpdate<Example>(
  method: PreferenceMethod<Example>,
  batch: readonly ReadExample<Example>[],
): { sequences: TrainingSequence[]; loss: CustomLoss } {
  const answers = batch.flatMap((each) => each.answers)
  const each = batch[0].answers.length
  return {
    sequences: answers.map((answer) => plainSequence(rowOf(answer))),
    loss(logprobs) {
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
      return {
        loss: value.value,
        metrics: { margin: value.margin, accuracy: value.accuracy },
        gradients: answers.map((answer, at) =>
          spread(answer, value.gradients[at % each][Math.floor(at / each)]),
        ),
      }
    },
  }
}
