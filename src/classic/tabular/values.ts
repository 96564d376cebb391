import type { FiniteModel } from '../environment/index.ts'

/** The expected reward and discounted next value of an action: `values` [states] are those of what follows. */
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
 * The best action of a state, the first of those within 1e-12 of one another: rounding alone never changes a policy.
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

/** The expected value of a first state. */
export function startValue(model: FiniteModel, values: Float64Array): number {
  return model.start.reduce((sum, probability, state) => sum + probability * values[state], 0)
}
