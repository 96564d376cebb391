import { bestArm } from './strategy.ts'
import type { BanditStrategy } from './strategy.ts'

/**
 * A ridge regression of its own for every arm, and the arm whose estimate with `alpha` standard errors on top is
 * highest (Li et al. 2010, "LinUCB" with disjoint models). `dimensions` is the length of the features.
 */
export function linUcb(
  arms: number,
  { dimensions, alpha = 1, ridge = 1 }: { dimensions: number; alpha?: number; ridge?: number },
): BanditStrategy & {
  /** What an arm is estimated to pay, without the bonus. */
  estimate(arm: number, features: Float32Array): number
} {
  const size = dimensions * dimensions
  /** [arms, dimensions, dimensions]: of the sum of outer products, kept up to date by Sherman and Morrison's formula. */
  const inverse = new Float64Array(arms * size)
  const weighted = new Float64Array(arms * dimensions)
  for (let arm = 0; arm < arms; arm++)
    for (let k = 0; k < dimensions; k++) inverse[arm * size + k * dimensions + k] = 1 / ridge
  const solved = new Float64Array(dimensions)

  /** `solved` becomes the inverse of the arm times the features; gives the features times that. */
  function solve(arm: number, features: Float32Array): number {
    let spread = 0
    for (let row = 0; row < dimensions; row++) {
      let sum = 0
      for (let k = 0; k < dimensions; k++) sum += inverse[arm * size + row * dimensions + k] * features[k]
      solved[row] = sum
      spread += sum * features[row]
    }
    return spread
  }
  const mean = (arm: number): number =>
    solved.reduce((sum, value, k) => sum + value * weighted[arm * dimensions + k], 0)

  return {
    estimate(arm, features) {
      solve(arm, features)
      return mean(arm)
    },
    choose: (features) =>
      bestArm(arms, (arm) => {
        const spread = solve(arm, features)
        return mean(arm) + alpha * Math.sqrt(spread)
      }),
    learn(arm, reward, features) {
      const spread = solve(arm, features)
      for (let row = 0; row < dimensions; row++) {
        for (let k = 0; k < dimensions; k++)
          inverse[arm * size + row * dimensions + k] -= (solved[row] * solved[k]) / (1 + spread)
        weighted[arm * dimensions + row] += reward * features[row]
      }
    },
  }
}
