import { AgogeError } from '../../error.ts'

/**
 * Bounds of the work that a grammar may make. They count steps, not time, so that a grammar fits or does not, however busy the machine
 * is. A million steps take about a third of a second.
 */
export const grammarLimits = {
  /** To compile it. */
  compiling: 10_000_000,
  /** Numbers of what comes of it: so much is read by the thread that samples. */
  words: 600_000,
  /** To find the tokens that may come next, once for each token: meanwhile nothing else runs in the thread. */
  perToken: 1_000_000,
  /** The same for all tokens of a row together. */
  perRow: 10_000_000,
}

/** Counts steps; without a limit unless `within` sets one. */
export interface StepBudget {
  /** @throws AgogeError `grammar-too-large` where no steps are left */
  spend: (steps: number) => void
  /**
   * Runs `work` with this many steps, and returns what it gave and how many it needed.
   *
   * @throws AgogeError `grammar-too-large` where they, or the stack, are not enough
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
