import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { randomLevels } from '../levels/levels.ts'
import {
  compiled,
  correlation,
  derivative,
  derivatives,
  inputs,
  mutatedGraph,
  randomGraph,
  scoreOf,
  squaredTdError,
} from './loss-graphs.ts'
import type { Graph } from './loss-graphs.ts'

const random = createRandom('graphs', 1)
const [last, size] = [inputs.length + 7, inputs.length + 8]

/** The loss and its derivative at some inputs. */
function at(graph: Graph, given: readonly number[]): [loss: number, derivative: number] {
  const values = new Float64Array(size)
  values.set(given)
  const found = derivative(compiled(graph), values, new Float64Array(size))
  return [values[last], found]
}

test('derivatives of random losses are those of finite differences', () => {
  let moving = 0
  for (const graph of each(300).map(() => randomGraph(random))) {
    const given = inputs.map(() => random.normal())
    const [more, less] = [1e-6, -1e-6].map((by) => at(graph, given.with(0, given[0] + by))[0])
    const [loss, exact] = at(graph, given)
    if (Math.abs(loss) > 100) continue
    expect((more - less) / 2e-6).toBeCloseTo(exact, 2)
    if (exact !== 0) moving++
  }
  expect(moving).toBeGreaterThan(30)
})

test('the squared TD error pulls a value toward its target, whatever the unused nodes are', () => {
  const given = [0.2, 0.8, 0.1, 0.5, 1, 0.95, 1]
  const [loss, pull] = at(squaredTdError(random), given)
  expect(loss).toBeCloseTo((1 + 0.95 * 0.8 - 0.2) ** 2, 12)
  expect(pull).toBeCloseTo(-2 * (1 + 0.95 * 0.8 - 0.2), 12)
  expect(derivatives(squaredTdError(random))).toEqual(derivatives(squaredTdError(random)))
  expect(compiled(squaredTdError(random))).toHaveLength(16)
})

test('a mutation changes at most one part of one node', () => {
  const graph = randomGraph(random)
  const changes = each(100).map(() => {
    const child = mutatedGraph(graph, random)
    return child.flat().filter((part, k) => part !== graph.flat()[k]).length
  })
  expect(Math.max(...changes)).toBe(1)
})

test('the TD error teaches an agent, and a loss without a derivative does not', () => {
  const practice = { levels: randomLevels(40, 'test'), random, steps: 160 }
  const scored = (graph: Graph, step = 2, initial = 0) =>
    scoreOf({ graph, settings: [step, 1, initial] }, practice)
  expect(scored(squaredTdError(random))).toBeGreaterThan(35)
  const reward: Graph = each(8).map(() => [0, 4, 4] as const)
  expect(scored(reward)).toBeCloseTo(0, 9)
  // The reward less a power of the value drives values of more than 1 up without end.
  const n = inputs.length
  const runaway: Graph = each(8).map((k) =>
    k < 7 ? ([5, k < 1 ? 0 : n + k - 1, 0] as const) : ([1, 4, n + 6] as const),
  )
  const long = { ...practice, steps: 4000 }
  expect(scoreOf({ graph: runaway, settings: [4, 1, 4] }, long)).toBe(-1000)
})

test('correlations are those of definitions', () => {
  expect(correlation([1, 2, 3], [2, 4, 6])).toBeCloseTo(1, 12)
  expect(correlation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1, 12)
  expect(correlation([1, 2, 3], [5, 5, 5])).toBe(0)
})
