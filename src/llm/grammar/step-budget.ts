import { AgogeError } from '../../error.ts'

/**
 * Limits of the work for a grammar. They count steps instead of time, so acceptance does not depend on the load of the
 * machine. A million steps take about a third of a second.
 */
export const grammarLimits = {
  /** To compile it. */
  compiling: 10_000_000,
  /** Numbers in the compiled form, which the sampling thread reads. */
  words: 600_000,
  /** To find the next allowed tokens, per token; it blocks the thread. */
  perToken: 1_000_000,
  /** The same, over all tokens of a row. */
  perRow: 10_000_000,
}

/** Counts steps. Unlimited outside of `within`. */
export interface StepBudget {
  /** @throws AgogeError `grammar-too-large` if no steps are left */
  spend: (steps: number) => void
  /**
   * Runs `work` with this many steps; returns its result and the number of steps used.
   *
   * @throws AgogeError `grammar-too-large` if steps or stack run out
   */
  within<T>(limit: number, purpose: string, work: () => T): { value: T; spent: number }
}

export function createStepBudget(): StepBudget {
  let spent = 0
  let most = Infinity
  let aim = ''
  return {
    spend(steps) {
      spent += steps
      if (spent > most) throw tooLarge(`at most ${most} steps to ${aim}`)
    },
    within(limit, purpose, work) {
      spent = 0
      most = limit
      aim = purpose
      try {
        return { value: work(), spent }
      } catch (error) {
        if (error instanceof RangeError) throw tooLarge('parts that are nested less deep, and shorter lists')
        throw error
      } finally {
        most = Infinity
      }
    },
  }
}

export function tooLarge(expected: string): AgogeError {
  return new AgogeError('the grammar is too large', {
    code: 'grammar-too-large',
    expected,
    hint: 'shorten lists and lengths, or simplify patterns that hold together with others',
  })
}
