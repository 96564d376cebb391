import { AgogeError } from '../../../error.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import type { OptimiserSettings, TrainedModel } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf } from '../run.ts'
import type { RunOptions } from '../run.ts'

/** How long and how fast something learns from examples, and when it is validated. */
export interface PreferenceSchedule extends OptimiserSettings, RunOptions {
  /** Updates. Examples are gone through in seeded order, again and again. */
  steps: number
  /** Examples of an update. */
  batch: number
  /** Steps between validations; there is one at the beginning and one at the end too. Default: only those. */
  validateEvery?: number
  /** Default 0. */
  seed?: number
  onStep?: (step: ScheduleStep) => void
  onValidation?: (validation: ScheduleValidation) => void
}

/** Of the examples of one update, before it. */
export interface ScheduleStep {
  /** From 1. */
  step: number
  loss: number
  margin: number
  accuracy: number
  /** undefined where the backend does not tell. */
  gradientNorm: number | undefined
  learningRate: number
}

/** Of all examples kept for validation, after so many steps. */
export interface ScheduleValidation {
  step: number
  /** Share of pairs whose chosen answer scores higher; equals do not count as right. */
  accuracy: number
  /** Mean difference of scores, chosen less rejected. */
  margin: number
  /** Mean log-probabilities of the answers, where what is trained gives any. */
  chosen?: number
  rejected?: number
}

export interface Schedule {
  steps: ScheduleStep[]
  validations: ScheduleValidation[]
  /** Whose weights are loaded in the end: the highest accuracy, the earliest of equals, which has moved least. */
  best: ScheduleValidation
}

/** What is trained: a model and its examples. */
export interface Student {
  /** Of the trainer, as its run is called. */
  name: string
  model: TrainedModel
  examples: number
  /** What else makes two runs equal, for `config.json`. */
  settings: Readonly<Record<string, unknown>>
  /** Adds the gradient of these examples. */
  learn(indices: readonly number[]): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>>
  validate(): Promise<Omit<ScheduleValidation, 'step'>>
}

/** Learns, validates, and ends with the best weights. An abort or an error leaves the weights as they are then. */
export async function runSchedule(student: Student, settings: PreferenceSchedule): Promise<Schedule> {
  const { steps: total, batch, validateEvery = total, seed = 0 } = settings
  for (const [name, value] of Object.entries({
    steps: total,
    batch,
    validateEvery,
    examples: student.examples,
  }))
    if (!Number.isInteger(value) || value < 1)
      throw new AgogeError(`A course of learning cannot have ${name} ${value}`, {
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

/** The examples of a step: every epoch in an order of its own, none twice before all were there once. */
function indicesOf(step: number, batch: number, examples: number, seed: number): number[] {
  const size = Math.min(batch, examples)
  const first = Math.floor((step * size) / examples)
  const order = [first, first + 1].flatMap((epoch) =>
    createRandom(seed, 'course', epoch).shuffle(Array.from({ length: examples }, (_, i) => i)),
  )
  const start = step * size - first * examples
  return order.slice(start, start + size)
}
