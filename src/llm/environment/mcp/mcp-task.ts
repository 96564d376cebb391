import type { Task } from '../../agent/types.ts'
import type { StateCall } from './state-pool.ts'

/** A generated task whose reference solution was executed: what is expected is what really came out. */
export interface McpTask extends Task {
  /** Calls that set the scene before the policy begins. */
  seeds: StateCall[]
  expected: {
    /** Null where the task only changes something. */
    answer: string | null
    /** Other values of the result, which the answer must not list too. */
    others: string[]
    /** The observed state that the reference leaves; null where it cannot be observed. */
    state: string | null
  }
}
