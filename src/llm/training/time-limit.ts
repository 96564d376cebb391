import type { Task } from '../agent/types.ts'
import type { Job } from './job.ts'

/** Steps of RL over which their speed is measured. */
const timedSteps = 4
/** Evaluations may take this much longer than the one after the warm start. */
const allowance = 1.15
/** Seconds for the report and the last checkpoint. */
const reportSeconds = 5

type LimitedJob<T extends Task> = Pick<Job<T>, 'options' | 'state' | 'emit' | 'phaseSeconds'>

/** The number of RL steps of a run that may have a limit of time. */
export interface StepLimit {
  /** The number of the plan, or fewer as soon as they turn out not to fit. */
  steps(): number
  /** Is called before each step. */
  onStep(step: number): void
  /** Validates, outside the time of the steps. */
  validating<T>(validate: () => Promise<T>): Promise<T>
}

/**
 * Lowers the number of RL steps so that the run with its evaluations is over when `secondsLeft` reaches 0, by the speed of the last
 * steps and the cost of the validations between them. It is lowered again if they become slower, and never raised. The number is a
 * part of the state, so a resumed run makes as many steps at most. Without a limit it is that of the plan.
 */
export function limitSteps<T extends Task>(job: LimitedJob<T>): StepLimit {
  const { options, state, emit } = job
  const { secondsLeft } = options
  const planned = options.plan.reinforcement.steps
  const steps = (): number => state.rlSteps ?? planned
  let said = planned
  /** Seconds at the start of the steps so far, without validations. */
  const times: number[] = []
  let validated = 0
  return {
    steps,
    onStep(step) {
      if (secondsLeft === undefined) return
      times.push(performance.now() / 1000 - validated)
      if (times.length <= timedSteps) return
      const perStep = (times[times.length - 1] - times[times.length - 1 - timedSteps]) / timedSteps
      const fitting = Math.max(1, fittingSteps(job, secondsLeft(), perStep))
      if (step + fitting >= steps()) return
      state.rlSteps = step + fitting
      // Not after each step that was a little slower.
      if (state.rlSteps > 0.9 * said && said !== planned) return
      said = state.rlSteps
      emit({
        type: 'note',
        text: `RL makes ${said} of ${planned} steps, so that the run is over in time`,
      })
    },
    async validating(validate) {
      const start = performance.now()
      try {
        return await validate()
      } finally {
        validated += (performance.now() - start) / 1000
      }
    },
  }
}

/** Steps that fit into `left` seconds with the evaluations on the way and after them, as long as the last one took for each task. */
function fittingSteps<T extends Task>(job: LimitedJob<T>, left: number, perStep: number): number {
  const { options } = job
  const { tasks, reinforcement } = options.plan
  const stage = job.state.stages.at(-1)
  const perTask = stage === undefined ? 0 : (allowance * stage.evaluationSeconds) / Math.max(1, tasks.test)
  const { validateEvery } = reinforcement
  const validation = validateEvery > 0 ? perTask * tasks.validation : 0
  const each = perStep + (validateEvery > 0 ? validation / validateEvery : 0)
  const spare = left - perTask * (tasks.test + tasks.unseenParaphrases) - validation - reportSeconds
  if (options.compareSupervised !== true) return Math.floor(spare / each)
  // The control arm takes as long as RL, and is tested too.
  return Math.floor((spare - job.phaseSeconds() - perTask * tasks.test) / 2 / each)
}
