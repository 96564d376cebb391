import type { FiniteModel } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { actionValue, bestAction } from './values.ts'
import type { Solution, ValueIterationOptions } from './value-iteration.ts'

/**
 * The best policy of a finite model, by evaluating a policy and making it greedy in turn until it stays (Howard 1960;
 * Sutton & Barto 2018, section 4.3).
 *
 * @param options with gamma (default 0.99), tolerance and maxSweeps of each evaluation
 * @throws AgogeError `not-converged` where a policy has no finite values, which takes a gamma of 1
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
      // Values are known to the tolerance only: a smaller gain may be none, and could be taken for ever.
      if (gain < 1e-8) continue
      policy[state] = best
      stable = false
    }
    if (stable) return { values, policy }
  }
}

/**
 * The values [states] of a policy: an action for each state.
 *
 * @param options with `steps` where an episode is truncated after as many; then gamma is 1 unless told
 * @throws AgogeError `not-converged` where values still change after `maxSweeps`
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
