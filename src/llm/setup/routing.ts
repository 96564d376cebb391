import { hash32 } from '../../engine/random/random.ts'
import type { CallOptions } from '../agent/ai-sdk/read-call.ts'
import type { Routing } from './setup.ts'

/** Features of a request by default. */
export const routingSize = 64

/**
 * The features of a request: a constant, and for each of its words one of `size - 1` places, by a hash. Divided by the root of the number of words,
 * so that long requests do not weigh more.
 */
export function requestFeatures(text: string, size = routingSize): Float64Array {
  const features = new Float64Array(size)
  features[0] = 1
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))
  for (const word of words) features[1 + (hash32('route', word) % (size - 1))] += 1 / Math.sqrt(words.size)
  return features
}

/** The model with the highest predicted success for a request; among equals the first. */
export function routeOf(text: string, { models, size }: Routing): string {
  const features = requestFeatures(text, size)
  const value = (weights: readonly number[]): number =>
    weights.reduce((sum, weight, at) => sum + weight * features[at], 0)
  const scored = Object.entries(models).map(([name, weights]) => ({ name, value: value(weights) }))
  return scored.reduce((best, one) => (one.value > best.value ? one : best)).name
}

/**
 * Weights of ridge regression of a success on the features of its request. As the contextual bandit LinUCB fits an arm (Li et al. 2010, arXiv
 * 1003.0146, algorithm 1).
 *
 * @param outcomes requests with the share of successes of one model.
 */
export function fitRoute(
  outcomes: readonly { text: string; success: number }[],
  { size = routingSize, ridge = 1 }: { size?: number; ridge?: number } = {},
): number[] {
  const matrix = Array.from({ length: size }, (_, row) =>
    Float64Array.from({ length: size }, (__, at) => (row === at ? ridge : 0)),
  )
  const target = new Float64Array(size)
  for (const { text, success } of outcomes) {
    const features = requestFeatures(text, size)
    for (let row = 0; row < size; row += 1) {
      if (features[row] === 0) continue
      target[row] += features[row] * success
      for (let at = 0; at < size; at += 1) matrix[row][at] += features[row] * features[at]
    }
  }
  return solve(matrix, target)
}

/** Gauss elimination. The matrix is positive definite, so no pivot is zero. */
function solve(matrix: Float64Array[], target: Float64Array): number[] {
  const n = target.length
  for (let at = 0; at < n; at += 1)
    for (let row = at + 1; row < n; row += 1) {
      const factor = matrix[row][at] / matrix[at][at]
      if (factor === 0) continue
      for (let column = at; column < n; column += 1) matrix[row][column] -= factor * matrix[at][column]
      target[row] -= factor * target[at]
    }
  const solution = Array.from({ length: n }, () => 0)
  for (let row = n - 1; row >= 0; row -= 1) {
    let rest = target[row]
    for (let column = row + 1; column < n; column += 1) rest -= matrix[row][column] * solution[column]
    solution[row] = rest / matrix[row][row]
  }
  return solution
}

/** The text of the first request of a conversation. It stays the same in later calls, and so does the choice. */
export function firstRequest({ prompt }: CallOptions): string {
  const first = prompt.find(({ role }) => role === 'user')
  if (first === undefined || typeof first.content === 'string') return ''
  return first.content.map(({ text = '' }) => text).join('')
}
