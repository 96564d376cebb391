import type { BudgetLimits, Price } from './config.ts'

/** What was spent. */
export interface Spending {
  tokens: number
  /** Of the models with a price. */
  dollars: number
}

/** The message of a call that was not sent because it could have exceeded the budget. */
export class BudgetReached extends Error {
  constructor() {
    super('the budget was reached')
    this.name = 'BudgetReached'
  }
}

/** Tokens of one call. */
export interface CallTokens {
  input: number
  output: number
}

/** Holds a budget over all calls of an evaluation. */
export interface Budget {
  /** What is over: counted by the provider, or the whole reservation where it was not. */
  spent: () => Spending
  isReached: () => boolean
  /** Whether there is a limit at all. */
  isLimited: boolean
  /** What an earlier process spent. */
  restore: (spending: Spending) => void
  /**
   * Reserves the most that a call can cost. Waits while calls under way may still give back what they do not need.
   *
   * @returns a function to be called once when the call is over, with what it cost; without an argument, all that was reserved.
   * @throws BudgetReached if nothing is under way and the call could exceed what is left.
   */
  reserve: (most: CallTokens, price: Price | undefined, signal: AbortSignal) => Promise<Reservation>
}

export interface Reservation {
  /** The most that the call can cost. */
  most: Spending
  /** Returns what was counted. */
  settle: (used?: CallTokens) => Spending
}

/**
 * A budget in dollars, tokens or both. The sum of what is spent and what calls under way could still cost never exceeds it, so it holds
 * whatever the calls answer.
 *
 * @example
 * const budget = createBudget({ dollars: 1 })
 * const { settle } = await budget.reserve({ input: 900, output: 500 }, { input: 0.25, output: 2 }, signal)
 * settle({ input: 210, output: 87 })
 */
export function createBudget(limits: BudgetLimits = {}): Budget {
  const { dollars = Infinity, tokens = Infinity } = limits
  const spent: Spending = { tokens: 0, dollars: 0 }
  const reserved: Spending = { tokens: 0, dollars: 0 }
  let underWay = 0
  let isReached = false
  let waiting: (() => void)[] = []

  const wake = (): void => {
    const woken = waiting
    waiting = []
    for (const one of woken) one()
  }
  const fits = (most: Spending): boolean =>
    spent.tokens + reserved.tokens + most.tokens <= tokens &&
    // Sums of many small amounts differ in the last bits.
    spent.dollars + reserved.dollars + most.dollars <= dollars * (1 + 1e-12)

  return {
    spent: () => ({ ...spent }),
    isReached: () => isReached,
    isLimited: Math.min(dollars, tokens) < Infinity,
    restore({ tokens: some, dollars: more }) {
      spent.tokens += some
      spent.dollars += more
    },
    async reserve(mostTokens, price, signal) {
      const most = costOf(mostTokens, price)
      while (!fits(most)) {
        if (underWay === 0 || isReached) {
          isReached = true
          wake()
          throw new BudgetReached()
        }
        await new Promise<void>((resolve) => {
          const go = (): void => {
            signal.removeEventListener('abort', go)
            resolve()
          }
          waiting.push(go)
          signal.addEventListener('abort', go, { once: true })
        })
        signal.throwIfAborted()
      }
      add(reserved, most, 1)
      underWay += 1
      let open = true
      return {
        most,
        settle(used) {
          const cost = used === undefined ? most : costOf(used, price)
          if (!open) return cost
          open = false
          underWay -= 1
          add(reserved, most, -1)
          add(spent, cost, 1)
          wake()
          return cost
        },
      }
    },
  }
}

function add(to: Spending, { tokens, dollars }: Spending, sign: 1 | -1): void {
  to.tokens += sign * tokens
  to.dollars += sign * dollars
}

/** The cost of tokens. Without a price the dollars are 0. */
export function costOf({ input, output }: CallTokens, price: Price | undefined): Spending {
  const dollars = price === undefined ? 0 : (input * price.input + output * price.output) / 1e6
  return { tokens: input + output, dollars }
}
