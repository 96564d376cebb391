import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import type { Validation } from './kernel.ts'
import type { LoopState } from './state.ts'
import type { TokenBudget } from './types.ts'

/** A trained token counts as three: the backward pass takes twice as long as the forward pass. */
export const trainedWeight = 3

/** Tokens of played episodes. Each message counts once, since later turns read it from the cache. */
export function playedTokens(episodes: readonly Episode[]): number {
  let count = 0
  for (const { nodes } of episodes) for (const { tokens } of nodes) count += tokens.length
  return count
}

/** Adds computed tokens to those of the job and of its phase. */
export function countTokens(state: LoopState, tokens: number): void {
  state.cost.computedTokens = (state.cost.computedTokens ?? 0) + tokens
  const { tokens: before, validations } = state.spent ?? none
  state.spent = { tokens: before + tokens, validations }
}

const none = { tokens: 0, validations: 0 }

/** Share of the budget of this phase that is used. */
export function usedShare(state: LoopState, { tokens }: TokenBudget): number {
  return Math.min(1, (state.spent ?? none).tokens / tokens)
}

/** The validation of a phase that has a budget: as often as the budget says, and without early stopping. */
export function budgetedValidation(
  state: LoopState,
  budget: TokenBudget,
  validation: Omit<Validation, 'isDue'>,
): Validation {
  const { isSettled: _, ...rest } = validation
  return {
    ...rest,
    isDue: (_step, over) =>
      over || usedShare(state, budget) >= (state.spent ?? none).validations / (budget.validations - 1),
    async score() {
      const before = (state.spent ?? none).tokens
      const { score, metrics } = await validation.score()
      const { tokens, validations } = state.spent ?? none
      state.spent = { tokens, validations: validations + 1 }
      return { score, metrics: { ...metrics, computedTokens: before } }
    },
  }
}

/** @throws AgogeError `bad-plan` for a budget without tokens, or with fewer than two validations. */
export function checkBudget(budget: TokenBudget | undefined): void {
  if (budget === undefined || (budget.tokens > 0 && budget.validations >= 2)) return
  throw new AgogeError('A budget of computed tokens needs tokens and validations', {
    code: 'bad-plan',
    given: budget,
    expected: 'tokens above 0, and 2 or more validations: before the first step and after the last',
  })
}
