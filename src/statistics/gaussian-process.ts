import { average } from './statistics.ts'

/** Options of `gaussianProcess`: the kernel and the noise. `length` has the unit of the points. */
export interface GaussianProcessOptions {
  /** Length scale of the kernel. */
  length: number
  /** Prior standard deviation of the values. Default: 1. */
  deviation?: number
  /** Standard deviation of the measurement noise. Default: `deviation` / 100. */
  noise?: number
}

/** The posterior of the value at a point: a normal with this mean and deviation. */
export interface Belief {
  mean: number
  deviation: number
}

/**
 * Gaussian process regression (Rasmussen & Williams 2006, section 2.2) with a squared exponential kernel. The
 * prior mean is the mean of the values. For a few dozen points, such as the trials of a search; inverting takes
 * O(n^3).
 *
 * @param points [n, dimensions], at least one
 * @param values [n]
 * @returns a function from a point to its posterior
 */
export function gaussianProcess(
  points: readonly (readonly number[])[],
  values: readonly number[],
  { length, deviation = 1, noise = deviation / 100 }: GaussianProcessOptions,
): (point: readonly number[]) => Belief {
  const kernel = (a: readonly number[], b: readonly number[]): number => {
    const square = a.reduce((sum, x, k) => sum + (x - b[k]) ** 2, 0)
    return deviation ** 2 * Math.exp(-square / (2 * length ** 2))
  }
  const level = average(values)
  const gram = points.map((a, i) => points.map((b, j) => kernel(a, b) + (i === j ? noise ** 2 : 0)))
  const weights = solvePositive(
    gram,
    values.map((value) => value - level),
  )
  return (point) => {
    const near = points.map((known) => kernel(point, known))
    const explained = dot(near, solvePositive(gram, near))
    return {
      mean: level + dot(near, weights),
      deviation: Math.sqrt(Math.max(0, deviation ** 2 - explained)),
    }
  }
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, k) => sum + x * b[k], 0)

/** Solves m x = b for a symmetric positive definite matrix [n, n], by Gauss-Jordan elimination. Pivots are never 0. */
function solvePositive(m: readonly (readonly number[])[], b: readonly number[]): number[] {
  const rows = m.map((row, i) => [...row, b[i]])
  for (const [i, pivot] of rows.entries()) {
    for (const [j, row] of rows.entries()) {
      const factor = j === i ? 0 : row[i] / pivot[i]
      for (let k = 0; k < row.length; k++) row[k] -= factor * pivot[k]
    }
  }
  return rows.map((row, i) => row[rows.length] / row[i])
}
