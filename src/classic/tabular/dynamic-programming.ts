import { AgogeError } from '../../error.ts'
import type { FiniteModel } from '../environment/index.ts'

/**
 * The expected reward plus discounted next value of an action. `values` [states] are the values of the next
 * states.
 */
export function actionValue(
  model: FiniteModel,
  values: Float64Array,
  state: number,
  action: number,
  gamma: number,
): number {
  const pair = state * model.actions + action
  let sum = 0
  for (let row = model.offsets[pair]; row < model.offsets[pair + 1]; row++) {
    const future = model.terminated[row] === 1 ? 0 : gamma * values[model.next[row]]
    sum += model.probabilities[row] * (model.rewards[row] + future)
  }
  return sum
}

/**
 * The best action of a state, the first of those within 1e-12 of each other, so that rounding does not change a
 * policy.
 */
export function bestAction(model: FiniteModel, values: Float64Array, state: number, gamma: number): number {
  let best = 0
  let highest = -Infinity
  for (let action = 0; action < model.actions; action++) {
    const value = actionValue(model, values, state, action, gamma)
    if (value > highest + 1e-12) {
      best = action
      highest = value
    }
  }
  return best
}

/** The expected value of the initial state. */
export function startValue(model: FiniteModel, values: Float64Array): number {
  return model.start.reduce((sum, probability, state) => sum + probability * values[state], 0)
}

/** Values [states], and the actions [states] of the policy. */
export interface Solution {
  values: Float64Array
  policy: Int32Array
}

/** Options of `valueIteration` and `policyIteration`. */
export interface ValueIterationOptions {
  /** Discount. Default: 1. */
  gamma?: number
  /** Stops when no value changes by more than this. Default: 1e-10. */
  tolerance?: number
  /** Default: 100 000. */
  maxSweeps?: number
}

/**
 * Value iteration: the values of a finite model under its optimal policy (Bellman 1957; Sutton & Barto 2018,
 * section 4.4).
 *
 * @throws AgogeError `not-converged` if values still change after `maxSweeps`, for example with gamma 1 and an
 * endless reward
 * @example
 * const { values, policy } = valueIteration(frozenLake.transitions(), { gamma: 0.95 })
 */
export function valueIteration(
  model: FiniteModel,
  { gamma = 1, tolerance = 1e-10, maxSweeps = 100_000 }: ValueIterationOptions = {},
): Solution {
  const values = new Float64Array(model.states)
  for (let sweep = 0; sweep < maxSweeps; sweep++) {
    let change = 0
    for (let state = 0; state < model.states; state++) {
      const value = bestValue(model, values, state, gamma)
      change = Math.max(change, Math.abs(value - values[state]))
      values[state] = value
    }
    if (change < tolerance) {
      return {
        values,
        policy: Int32Array.from(values, (_, state) => bestAction(model, values, state, gamma)),
      }
    }
  }
  throw new AgogeError('value iteration did not converge', {
    code: 'not-converged',
    given: `gamma ${gamma}, ${maxSweeps} sweeps`,
    expected: `changes below ${tolerance}`,
    hint: 'use a gamma below 1, or finiteHorizon with the steps of an episode',
  })
}

/**
 * The optimal values [states] with `steps` steps left, by backward induction: the value of an optimal player that
 * counts steps, in an episode that is truncated after `steps` steps.
 */
export function finiteHorizon(model: FiniteModel, steps: number, gamma = 1): Float64Array {
  let values = new Float64Array(model.states)
  let later = new Float64Array(model.states)
  for (let left = 0; left < steps; left++) {
    const swapped = later
    later = values
    values = swapped
    for (let state = 0; state < model.states; state++) values[state] = bestValue(model, later, state, gamma)
  }
  return values
}

function bestValue(model: FiniteModel, values: Float64Array, state: number, gamma: number): number {
  let highest = -Infinity
  for (let action = 0; action < model.actions; action++)
    highest = Math.max(highest, actionValue(model, values, state, action, gamma))
  return highest
}

/**
 * Policy iteration: evaluates a policy and makes it greedy in turn, until it does not change (Howard 1960; Sutton
 * & Barto 2018, section 4.3).
 *
 * @param options gamma (default: 0.99), and tolerance and maxSweeps of each evaluation
 * @throws AgogeError `not-converged` if a policy has no finite values, which requires a gamma of 1
 */
export function policyIteration(model: FiniteModel, options: ValueIterationOptions = {}): Solution {
  const { gamma = 0.99 } = options
  const policy = new Int32Array(model.states)
  for (;;) {
    const values = evaluatePolicy(model, policy, { ...options, gamma })
    let stable = true
    for (let state = 0; state < model.states; state++) {
      const best = bestAction(model, values, state, gamma)
      const gain =
        actionValue(model, values, state, best, gamma) -
        actionValue(model, values, state, policy[state], gamma)
      // Values are exact only to the tolerance. A smaller gain may be rounding, and the policy could alternate for
      // ever.
      if (gain < 1e-8) continue
      policy[state] = best
      stable = false
    }
    if (stable) return { values, policy }
  }
}

/**
 * The values [states] of a policy, which is an action for each state.
 *
 * @param options `steps` truncates episodes; gamma then defaults to 1
 * @throws AgogeError `not-converged` if values still change after `maxSweeps`
 */
export function evaluatePolicy(
  model: FiniteModel,
  policy: ArrayLike<number>,
  {
    gamma = 1,
    tolerance = 1e-10,
    maxSweeps = 100_000,
    steps,
  }: ValueIterationOptions & { steps?: number } = {},
): Float64Array {
  let values = new Float64Array(model.states)
  if (steps !== undefined) {
    for (let left = 0; left < steps; left++) {
      const later = values
      values = later.map((_, state) => actionValue(model, later, state, policy[state], gamma))
    }
    return values
  }
  for (let sweep = 0; sweep < maxSweeps; sweep++) {
    let change = 0
    for (let state = 0; state < model.states; state++) {
      const value = actionValue(model, values, state, policy[state], gamma)
      change = Math.max(change, Math.abs(value - values[state]))
      values[state] = value
    }
    if (change < tolerance) return values
  }
  throw new AgogeError('a policy could not be evaluated', {
    code: 'not-converged',
    given: `gamma ${gamma}, ${maxSweeps} sweeps`,
    expected: `changes below ${tolerance}`,
    hint: 'use a gamma below 1, or give the steps of an episode',
  })
}

/** The result of `softValueIteration`. */
export interface SoftSolution {
  /** [states]: return plus `temperature` times entropy, under the policy that maximises this sum. */
  values: Float64Array
  /** [states, actions]: probabilities. */
  policy: Float64Array
}

/** Options of `softValueIteration`. */
export interface SoftValueIterationOptions {
  /** Weight of a nat of entropy, above 0. */
  temperature: number
  /** Default: 0.99. */
  gamma?: number
  /** Stops when no value changes by more than this. Default: 1e-12. */
  tolerance?: number
  /** Default: 100 000. */
  maxSweeps?: number
}

/**
 * Soft value iteration: the policy that maximises return plus entropy, softmax(Q / temperature) (Ziebart 2010,
 * "Modeling Purposeful Adaptive Behavior"; Haarnoja et al. 2017). Unlike a greedy policy, it changes little if
 * rewards change little.
 *
 * @throws AgogeError `bad-argument` for a temperature that is not above 0, `not-converged` after `maxSweeps`
 */
export function softValueIteration(model: FiniteModel, options: SoftValueIterationOptions): SoftSolution {
  const { temperature, gamma = 0.99, tolerance = 1e-12, maxSweeps = 100_000 } = options
  if (!(temperature > 0)) {
    throw new AgogeError('soft value iteration needs a temperature', {
      code: 'bad-argument',
      given: temperature,
      expected: 'a number above 0',
      hint: 'use valueIteration for the policy without entropy',
    })
  }
  const { states, actions } = model
  const values = new Float64Array(states)
  const policy = new Float64Array(states * actions)
  for (let sweep = 0; sweep < maxSweeps; sweep++) {
    let change = 0
    for (let state = 0; state < states; state++) {
      const row = policy.subarray(state * actions, (state + 1) * actions)
      for (let a = 0; a < actions; a++) row[a] = actionValue(model, values, state, a, gamma)
      const value = softmax(row, temperature)
      change = Math.max(change, Math.abs(value - values[state]))
      values[state] = value
    }
    if (change < tolerance) return { values, policy }
  }
  throw new AgogeError('soft value iteration did not converge', {
    code: 'not-converged',
    given: `gamma ${gamma}, ${maxSweeps} sweeps`,
    expected: `changes below ${tolerance}`,
    hint: 'use a gamma below 1: entropy is earned at every step',
  })
}

/** Turns values into probabilities, in place. Returns temperature * log(sum(exp(value / temperature))). */
function softmax(row: Float64Array, temperature: number): number {
  const highest = row.reduce((most, value) => Math.max(most, value), -Infinity)
  let sum = 0
  for (let a = 0; a < row.length; a++) {
    row[a] = Math.exp((row[a] - highest) / temperature)
    sum += row[a]
  }
  for (let a = 0; a < row.length; a++) row[a] /= sum
  return highest + temperature * Math.log(sum)
}
