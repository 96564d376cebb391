import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot, softmax } from '../vectors.ts'

/** Of each example. */
export const inputs = 20
/** Correlation of each source task with the target task. */
export const relatedness = [0.9, 0.9, 0.6, 0.3, 0, -0.5]
const noise = 0.3

/** Of a linear model. */
export type Weights = Float64Array
const normals = (random: Random): Weights => Float64Array.from({ length: inputs }, () => random.normal())

interface Example {
  x: Weights
  y: number
}
/** Inputs with noisy outputs. */
export const examplesOf = (weights: Weights, count: number, random: Random): Example[] =>
  each(count).map(() => {
    const x = normals(random)
    return { x, y: dot(weights, x) + noise * random.normal() }
  })
/** Mean squared error. */
export const lossOf = (weights: Weights, examples: readonly Example[]): number =>
  average(examples.map(({ x, y }) => (dot(weights, x) - y) ** 2))

/** Steps of gradient descent on the squared error of examples. */
export function descended(from: Weights, examples: readonly Example[], steps: number): Weights {
  const weights = Float64Array.from(from)
  for (let step = 0; step < steps; step++) {
    const errors = examples.map(({ x, y }) => dot(weights, x) - y)
    for (const [i, { x }] of examples.entries())
      for (let k = 0; k < inputs; k++) weights[k] -= (0.1 / examples.length) * errors[i] * x[k]
  }
  return weights
}

/** A target task of few examples, and source tasks of many. */
export function tasksOf(seed: string) {
  const random = createRandom('tasks', seed)
  const target = normals(random)
  const sources = relatedness.map((rho) =>
    normals(random).map((other, k) => rho * target[k] + Math.sqrt(1 - rho ** 2) * other),
  )
  return { target, sources, few: examplesOf(target, 12, random) }
}
