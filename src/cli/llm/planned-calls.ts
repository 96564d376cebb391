import { count, duration } from '../../runs/report/format.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'

/** The remaining budget of calls to an MCP server, and their rate. */
export interface CallBudget {
  left: number
  /** Default: no limit. */
  callsPerSecond: number | undefined
  /** Mean number of calls in a task's reference solution. */
  perTask: number
}

// A policy makes more calls than the reference, and judging a failure runs the reference once more.
const overhead = 1.5

/** Estimates the number of calls of a training. */
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

/** Tells the user how long the calls take at their rate, and whether the budget is enough. */
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
