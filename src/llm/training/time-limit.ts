import type { Task } from '../agent/types.ts'
import type { Job } from './job.ts'

/** Steps of RL that are timed before their number is fixed. */
const timedSteps = 4
/** Evaluations may take this much longer than the one after the warm start. */
const allowance = 1.15
/** Seconds for the report and the last checkpoint. */
const reportSeconds = 5

/** The number of RL steps of a run that may have a limit of time. */
export interface StepLimit {
  /** The number of the plan until some steps were timed. */
  steps(): number
  /** Is called before each step. */
  onStep(step: number): void
}

/**
 * Fixes the number of RL steps so that the run with its evaluations is over when `secondsLeft` reaches 0. The first steps of this process are
 * timed for that. The number becomes a part of the state, so a resumed run makes as many steps. Without a limit it is that of the plan.
 */
export function limitSteps<T extends Task>(job: Job<T>): StepLimit {
  const { options, state, emit } = job
  const { secondsLeft } = options
  const planned = options.plan.reinforcement.steps
  let began: { step: number; at: number } | undefined
  return {
    steps: () => state.rlSteps ?? planned,
    onStep(step) {
      if (secondsLeft === undefined || state.rlSteps !== undefined) return
      began ??= { step, at: performance.now() }
      const timed = step - began.step
      if (timed < timedSteps) return
      const perStep = (performance.now() - began.at) / 1000 / timed
      const fitting = Math.floor(secondsForSteps(job, secondsLeft()) / perStep)
      state.rlSteps = Math.min(planned, step + Math.max(1, fitting))
      if (state.rlSteps < planned)
        emit({
          type: 'note',
          text: `RL makes ${state.rlSteps} of ${planned} steps, so that the run is over in time`,
        })
    },
  }
}

/** Seconds that RL may still take: what is left without the evaluations after it, as long as the last one takes for each task. */
function secondsForSteps<T extends Task>(job: Job<T>, left: number): number {
  const { options } = job
  const { tasks, reinforcement } = options.plan
  const stage = job.state.stages.at(-1)
  const perTask = stage === undefined ? 0 : stage.evaluationSeconds / Math.max(1, tasks.test)
  const validations = reinforcement.validateEvery > 0 ? 1 : 0
  const evaluations = tasks.test + tasks.unseenParaphrases + validations * tasks.validation
  const spare = left - allowance * perTask * evaluations - reportSeconds
  if (options.compareSupervised !== true) return spare
  // The control arm takes as long as RL, and is tested too.
  return (spare - job.phaseSeconds() - allowance * perTask * tasks.test) / 2
}
