import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../../../error.ts'
import type { OptimReport, OptimStep } from '../../model-backend.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { optimStepAt } from '../kernel.ts'
import type { OptimiserSettings } from '../kernel.ts'

/** How long and how fast something learns from examples, and when it is validated. */
export interface PreferenceSchedule extends OptimiserSettings {
  /** Updates. Examples are gone through in seeded order, again and again. */
  steps: number
  /** Examples of an update. */
  batch: number
  /** Steps between validations; there is one at the beginning and one at the end too. Default: only those. */
  validateEvery?: number
  /** Default 0. */
  seed?: number
  /** Where the best weights are kept while it runs, and afterwards. Default: a temporary folder. */
  folder?: string
  signal?: AbortSignal
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
  examples: number
  /** Adds the gradient of these examples. */
  learn(indices: readonly number[]): Promise<Pick<ScheduleStep, 'loss' | 'margin' | 'accuracy'>>
  optimStep(step: OptimStep): Promise<OptimReport>
  validate(): Promise<Omit<ScheduleValidation, 'step'>>
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
}

/** Learns, validates, and ends with the best weights. An abort or an error leaves the weights as they are then. */
export async function runSchedule(student: Student, settings: PreferenceSchedule): Promise<Schedule> {
  const { steps: total, batch, validateEvery = total, seed = 0, signal } = settings
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
  const temporary = settings.folder === undefined ? await mkdtemp(join(tmpdir(), 'agoge-course-')) : undefined
  const folder = settings.folder ?? join(temporary!, 'best')
  const steps: ScheduleStep[] = []
  const validations: ScheduleValidation[] = []
  let best: ScheduleValidation | undefined
  const validate = async (step: number): Promise<void> => {
    const validation = { step, ...(await student.validate()) }
    validations.push(validation)
    settings.onValidation?.(validation)
    if (best !== undefined && validation.accuracy <= best.accuracy) return
    best = validation
    await student.save(folder)
  }
  try {
    await validate(0)
    for (let step = 0; step < total; step++) {
      signal?.throwIfAborted()
      const metrics = await student.learn(indicesOf(step, batch, student.examples, seed))
      const optimStep = optimStepAt(settings, step, step / total)
      const { gradientNorm } = await student.optimStep(optimStep)
      const done = { step: step + 1, ...metrics, gradientNorm, learningRate: optimStep.learningRate }
      steps.push(done)
      settings.onStep?.(done)
      if (done.step % validateEvery === 0 || done.step === total) await validate(done.step)
    }
    if (best!.step !== total) await student.load(folder)
    return { steps, validations, best: best! }
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
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
