import type { FiniteModel } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { actionValue } from './values.ts'

export interface SoftSolution {
  /** [states]: return plus `temperature` times entropy, of the best policy by this measure. */
  values: Float64Array
  /** [states, actions]: probabilities. */
  policy: Float64Array
}

export interface SoftValueIterationOptions {
  /** What a nat of entropy is worth, above 0. */
  temperature: number
  /** Default 0.99. */
  gamma?: number
  /** Values that change by less are final (default 1e-12). */
  tolerance?: number
  /** Default 100 000. */
  maxSweeps?: number
}

/**
 * The policy that is best when its entropy counts too: softmax(Q / temperature), by soft Bellman backups (Ziebart 2010,
 * "Modeling Purposeful Adaptive Behavior"; Haarnoja et al. 2017). Unlike the greedy one it changes little where rewards
 * do.
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
  throw new AgogeError('soft value iteration did not come to rest', {
    code: 'not-converged',
    given: `gamma ${gamma}, ${maxSweeps} sweeps`,
    expected: `changes below ${tolerance}`,
    hint: 'use a gamma below 1: entropy is earned at every step',
  })
}

/** Turns values into probabilities, in place; gives temperature * log(sum(exp(value / temperature))). */
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
