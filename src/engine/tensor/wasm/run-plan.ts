import { hostSteps } from './host-steps.ts'
import type { Machine } from './instantiate.ts'
import type { Plan, PlanStep } from './plan.ts'

/** A plan in the memory of a machine, which several plans may share. */
export interface RunnablePlan {
  readonly plan: Plan
  readonly machine: Machine
  /** Writes what does not change from run to run. */
  prepare(): void
  run(): void
}

/** Makes the steps of a plan into calls of the machine's kernels. */
export function runnable(plan: Plan, machine: Machine): RunnablePlan {
  machine.reserve(plan.size)
  const calls = plan.steps.map((step) => callOf(step, plan, machine))
  return {
    plan,
    machine,
    prepare() {
      const { numbers } = machine
      for (const { at, count, value } of plan.filled) numbers.fill(value, at, at + count)
      for (const { at, data } of plan.constants) numbers.set(data, at)
    },
    run() {
      for (const call of calls) call()
    },
  }
}

function callOf(step: PlanStep, { bindings }: Plan, machine: Machine): () => void {
  if ('kernel' in step) {
    const kernel = machine.kernels[step.kernel]
    const { given } = step
    return () => kernel(...given)
  }
  if ('zeros' in step) {
    const [from, to] = step.zeros
    return () => void machine.numbers.fill(0, from, to)
  }
  const run = hostSteps[step.host](step, step.place, bindings)
  return () => run(machine.numbers)
}
