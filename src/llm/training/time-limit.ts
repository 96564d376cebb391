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
 * steps and the cost of the validations between them. It is lowered again if they become slower, and never raised. In the first four
 * steps, which say little about speed, it is lowered only where no further step fits, and at the start to those that were made already, usually 0, where none does. The number
 * is a part of the state, so a resumed run makes as many steps at most. Without a limit it is that of the plan.
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

  function lowerTo(number: number): void {
    if (number >= steps()) return
    state.rlSteps = number
    // Not after each step that was a little slower.
    if (number > 0.9 * said && said !== planned) return
    said = number
    emit({ type: 'note', text: `RL makes ${said} of ${planned} steps, so that the run is over in time` })
  }

  // Before the first step there is a validation, too. A resumed run has made steps already.
  if (secondsLeft !== undefined && fittingSteps(job, secondsLeft(), guessedSeconds(job), 2) < 1)
    lowerTo(state.step)
  return {
    steps,
    onStep(step) {
      if (secondsLeft === undefined) return
      times.push(performance.now() / 1000 - validated)
      const timed = Math.min(times.length - 1, timedSteps)
      if (timed === 0) return
      const perStep = (times[times.length - 1] - times[times.length - 1 - timed]) / timed
      const fitting = fittingSteps(job, secondsLeft(), perStep)
      if (timed === timedSteps || fitting <= 1) lowerTo(step + Math.max(1, fitting))
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

/** What a step takes at least: its episodes, as long as those of the last evaluation, and as long again to learn from them. */
function guessedSeconds<T extends Task>({ options: { plan }, state }: LimitedJob<T>): number {
  const stage = state.stages.at(-1)
  const perTask = stage === undefined ? 0 : stage.evaluationSeconds / Math.max(1, plan.tasks.test)
  return 2 * perTask * plan.reinforcement.groups * plan.reinforcement.groupSize
}

/**
 * Steps that fit into `left` seconds with the evaluations on the way and after them, as long as the last one took for each task.
 *
 * @param validations how many there are besides those every so many steps.
 */
function fittingSteps<T extends Task>(
  job: LimitedJob<T>,
  left: number,
  perStep: number,
  validations = 1,
): number {
  const { options } = job
  const { tasks, reinforcement } = options.plan
  const stage = job.state.stages.at(-1)
  const perTask = stage === undefined ? 0 : (allowance * stage.evaluationSeconds) / Math.max(1, tasks.test)
  const { validateEvery } = reinforcement
  const validation = validateEvery > 0 ? perTask * tasks.validation : 0
  const each = perStep + (validateEvery > 0 ? validation / validateEvery : 0)
  const spare =
    left - perTask * (tasks.test + tasks.unseenParaphrases) - validations * validation - reportSeconds
  if (options.compareSupervised !== true) return Math.floor(spare / each)
  // The control arm takes as long as RL, and is tested too.
  return Math.floor((spare - job.phaseSeconds() - perTask * tasks.test) / 2 / each)
}
