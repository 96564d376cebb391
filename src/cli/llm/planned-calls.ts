import { count, duration } from '../../runs/report/format.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'

/** What is left of the calls to a foreign server, and how they are spent. */
export interface CallBudget {
  left: number
  /** Undefined = as fast as it answers. */
  callsPerSecond: number | undefined
  /** Calls of the reference solution of a task, on average. */
  perTask: number
}

// A policy calls more often than the reference, and a failure is judged by carrying out the reference once more.
const overhead = 1.5

/** About how many calls a training makes. */
export function plannedCalls(plan: TrainingPlan, perTask: number): number {
  const { warmStart, reinforcement, tasks } = plan
  const demonstrations = Object.values(plan.demonstrations).reduce((sum, each) => sum + each, 0)
  const steps = warmStart.epochs * Math.ceil(demonstrations / warmStart.batch)
  const every = reinforcement.validateEvery
  const validations =
    Math.ceil(steps / warmStart.validateEvery) + (every === 0 ? 0 : Math.ceil(reinforcement.steps / every))
  const held = 3 * tasks.test + tasks.unseenParaphrases + validations * tasks.validation
  const sampled = reinforcement.steps * reinforcement.groups * reinforcement.groupSize
  return Math.ceil((demonstrations + overhead * (held + sampled)) * perTask)
}

/** What the calls ahead mean for the user: the time that the rate costs, and whether the budget will do. */
export function callForecast(plan: TrainingPlan, { left, callsPerSecond, perTask }: CallBudget): string {
  const calls = plannedCalls(plan, perTask)
  const pace =
    callsPerSecond === undefined
      ? ''
      : `, at least ${duration(calls / callsPerSecond)} at ${callsPerSecond} a second`
  const ahead = `about ${count(calls)} calls are ahead${pace}`
  return calls <= left
    ? ahead
    : `${ahead}; ${count(left)} are left of the budget, which will stop the training: raise it with --max-calls, or ask for fewer with --steps and --tasks`
}
