import type { Task } from '../agent/types.ts'
import type { Job } from './job.ts'

/** Steps of RL over which their speed is measured. */
const timedSteps = 4
/** Evaluations may take this much longer than the one after the warm start. */
const allowance = 1.15
/** Seconds for the report and the last checkpoint. */
const reportSeconds = 5

/** The number of RL steps of a run that may have a limit of time. */
export interface StepLimit {
  /** The number of the plan, or fewer as soon as they turn out not to fit. */
  steps(): number
  /** Is called before each step. */
  onStep(step: number): void
}

/**
 * Lowers the number of RL steps so that the run with its evaluations is over when `secondsLeft` reaches 0, by the speed of the last steps. It is lowered
 * again if they become slower, and never raised. The number is a part of the state, so a resumed run makes as many steps at most. Without a limit it
 * is that of the plan.
 */
export function limitSteps<T extends Task>(job: Job<T>): StepLimit {
  const { options, state, emit } = job
  const { secondsLeft } = options
  const planned = options.plan.reinforcement.steps
  const steps = (): number => state.rlSteps ?? planned
  let said = planned
  const times: number[] = []
  return {
    steps,
    onStep(step) {
      if (secondsLeft === undefined) return
      times.push(performance.now() / 1000)
      if (times.length <= timedSteps) return
      const perStep = (times[times.length - 1] - times[times.length - 1 - timedSteps]) / timedSteps
      const fitting = Math.max(1, Math.floor(secondsForSteps(job, secondsLeft()) / perStep))
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
  }
}

/** Seconds that RL may still take: what is left without the evaluations after it, as long as the last one takes for each task. */
function secondsForSteps<T extends Task>(job: Job<T>, left: number): number {
  const { options } = job
  const { tasks, reinforcement } = options.plan
  const stage = job.state.stages.at(-1)
  const perTask = stage === undefined ? 0 : stage.evaluationSeconds / Math.max(1, tasks.test)
  // One after the last step, and those on the way, about as often as they are due in what is left.
  const validations = reinforcement.validateEvery > 0 ? 2 : 0
  const evaluations = tasks.test + tasks.unseenParaphrases + validations * tasks.validation
  const spare = left - allowance * perTask * evaluations - reportSeconds
  if (options.compareSupervised !== true) return spare
  // The control arm takes as long as RL, and is tested too.
  return (spare - job.phaseSeconds() - allowance * perTask * tasks.test) / 2
}
