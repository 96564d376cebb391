import type { FiniteModel } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { actionValue, bestAction } from './values.ts'

/** Values [states] and the actions [states] that reach them. */
export interface Solution {
  values: Float64Array
  policy: Int32Array
}

export interface ValueIterationOptions {
  /** Default 1. */
  gamma?: number
  /** Values that change by less are final (default 1e-10). */
  tolerance?: number
  /** Default 100 000. */
  maxSweeps?: number
}

/**
 * The values of a finite model under its best policy, by Bellman's equation as an assignment (Bellman 1957; Sutton &
 * Barto 2018, section 4.4).
 *
 * @throws AgogeError `not-converged` where values still change after `maxSweeps`, as with gamma 1 where an episode can
 * be made to pay for ever
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
  throw new AgogeError('value iteration did not come to rest', {
    code: 'not-converged',
    given: `gamma ${gamma}, ${maxSweeps} sweeps`,
    expected: `changes below ${tolerance}`,
    hint: 'use a gamma below 1, or finiteHorizon with the steps of an episode',
  })
}

/**
 * The best values [states] when `steps` steps are left, by backward induction: what the best player, who counts steps,
 * gets out of an episode that is truncated after as many.
 */
export function finiteHorizon(model: FiniteModel, steps: number, gamma = 1): Float64Array {
  let values = new Float64Array(model.states)
  let later = new Float64Array(model.states)
  for (let left = 0; left < steps; left++) {
    const held = later
    later = values
    values = held
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
