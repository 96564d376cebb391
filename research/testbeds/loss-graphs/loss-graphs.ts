import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import {
  actions,
  gamma,
  greedyPolicy,
  longest,
  moved,
  percent,
  returnOf,
  rewardOf,
} from '../levels/levels.ts'
import type { Level } from '../levels/levels.ts'

/** Inputs of a loss: values of the next state are 0 where it ends the episode. */
export const inputs = [
  'Q(s, a)',
  'max Q(next)',
  'mean Q(next)',
  'max Q(s)',
  'reward',
  'discount',
  'one',
] as const
/** Operations of a loss. Those of one argument leave out the second. */
export const operations = [
  'add',
  'subtract',
  'multiply',
  'max',
  'min',
  'square',
  'absolute',
  'tenth',
] as const
const nodes = 8

/** A loss as a graph: node k takes two of the inputs and the nodes before it. The last node is the loss. */
export type Graph = readonly (readonly [operation: number, a: number, b: number])[]

const randomNode = (k: number, random: Random): [number, number, number] => [
  random.int(operations.length),
  random.int(inputs.length + k),
  random.int(inputs.length + k),
]
/** A random graph of eight nodes. */
export const randomGraph = (random: Random): Graph => each(nodes).map((k) => randomNode(k, random))
/** The squared error of temporal differences, (reward + discount * max Q(next) - Q(s, a)) squared, below four random nodes. */
export function squaredTdError(random: Random): Graph {
  const n = inputs.length
  return [
    ...each(nodes - 4).map((k) => randomNode(k, random)),
    [2, 5, 1],
    [0, 4, n + nodes - 4],
    [1, 0, n + nodes - 3],
    [5, n + nodes - 2, 0],
  ]
}
/** One node changed: its operation, or one of its arguments. */
export function mutatedGraph(graph: Graph, random: Random): Graph {
  const k = random.int(nodes)
  const [drawn, part] = [randomNode(k, random), random.int(3)]
  return graph.with(k, [0, 1, 2].map((p) => (p === part ? drawn : graph[k])[p]) as [number, number, number])
}

const size = inputs.length + nodes
/** The nodes that the loss depends on, each as operation, arguments and place, one after another. */
export function compiled(graph: Graph): Int8Array {
  const used = new Set([size - 1])
  const code: number[] = []
  for (let k = nodes - 1; k >= 0; k--) {
    if (!used.has(inputs.length + k)) continue
    const [operation, a, b] = graph[k]
    used.add(a)
    if (operation < 5) used.add(b)
    code.unshift(operation, a, b, inputs.length + k)
  }
  return Int8Array.from(code)
}

/** The derivative of the loss with respect to Q(s, a), by dual numbers. `values` begin with the inputs. */
export function derivative(code: Int8Array, values: Float64Array, parts: Float64Array): number {
  parts.fill(0, 0, inputs.length)
  parts[0] = 1
  for (let at = 0; at < code.length; at += 4) {
    const a = code[at + 1]
    const b = code[at + 2]
    const to = code[at + 3]
    const x = values[a]
    const y = values[b]
    const dx = parts[a]
    const dy = parts[b]
    switch (code[at]) {
      case 0:
        values[to] = x + y
        parts[to] = dx + dy
        break
      case 1:
        values[to] = x - y
        parts[to] = dx - dy
        break
      case 2:
        values[to] = x * y
        parts[to] = dx * y + x * dy
        break
      case 3:
        values[to] = x > y ? x : y
        parts[to] = x > y ? dx : dy
        break
      case 4:
        values[to] = x < y ? x : y
        parts[to] = x < y ? dx : dy
        break
      case 5:
        values[to] = x * x
        parts[to] = 2 * x * dx
        break
      case 6:
        values[to] = Math.abs(x)
        parts[to] = x < 0 ? -dx : dx
        break
      default:
        values[to] = 0.1 * x
        parts[to] = 0.1 * dx
    }
  }
  return parts[size - 1]
}

const space = (): [Float64Array, Float64Array] => [new Float64Array(size), new Float64Array(size)]

const examples = each(64).map((k) => {
  const random = createRandom('inputs of losses', k)
  return Float64Array.from(inputs, (name) =>
    name === 'discount' ? gamma : name === 'one' ? 1 : random.normal(),
  )
})
/** Derivatives of a loss at 64 random inputs. Losses with equal ones teach an agent the same. */
export function derivatives(graph: Graph): number[] {
  const [code, [values, parts]] = [compiled(graph), space()]
  return examples.map((example) => {
    values.set(example)
    return derivative(code, values, parts)
  })
}

/** How an agent learns: a compiled loss, the step of gradient descent on it, the share of random moves, the values at first. */
export interface Learner {
  code: Int8Array
  stepSize: number
  epsilon: number
  initial: number
}

const moments = 2

/**
 * Trains a table of action values on a level. Returns the return from the start of the greedy policy, exactly, the mean of that
 * in the middle and that at the end; minus infinity if a value has left the range from -1000 to 1000.
 */
export function trainedReturn(level: Level, learner: Learner, steps: number, random: Random): number {
  const { code, stepSize, epsilon, initial } = learner
  const q = new Float64Array(level.cells * actions).fill(initial)
  const policy = new Float64Array(q.length)
  const [values, parts] = space()
  let [cell, since, total] = [level.start, 0, 0]
  for (let step = 1; step <= steps; step++) {
    const action =
      random.next() < epsilon ? Math.floor(random.next() * actions) : greedyAction(q, cell, random)
    const to = moved(level, cell, action, random)
    const over = level.terminated[to] === 1
    const k = cell * actions + action
    values[0] = q[k]
    values[1] = over ? 0 : highest(q, to)
    values[2] = over ? 0 : mean(q, to)
    values[3] = highest(q, cell)
    values[4] = rewardOf(level, to, random)
    values[5] = gamma
    values[6] = 1
    q[k] -= stepSize * Math.max(-10, Math.min(10, derivative(code, values, parts)))
    if (!(Math.abs(q[k]) < 1000)) return -Infinity
    const ends = over || ++since === longest
    cell = ends ? level.start : to
    if (ends) since = 0
    if (step % (steps / moments) === 0) {
      greedyPolicy(q, policy)
      total += returnOf(level, policy) / moments
    }
  }
  return total
}

const highest = (q: Float64Array, cell: number): number => {
  const k = cell * actions
  return Math.max(q[k], q[k + 1], q[k + 2], q[k + 3])
}
const mean = (q: Float64Array, cell: number): number => {
  const k = cell * actions
  return (q[k] + q[k + 1] + q[k + 2] + q[k + 3]) / actions
}
/** One of the actions of highest value. */
function greedyAction(q: Float64Array, cell: number, random: Random): number {
  let [most, count, chosen] = [-Infinity, 0, 0]
  for (let a = 0; a < actions; a++) {
    const value = q[cell * actions + a]
    if (value < most) continue
    count = value > most ? 1 : count + 1
    most = value
    if (count === 1 || random.next() * count < 1) chosen = a
  }
  return chosen
}

/** Levels to train agents on, for how many steps each. */
export interface Practice {
  levels: readonly Level[]
  random: Random
  steps: number
}
/** A loss with its settings: the step, the share of random moves and the values at first, as places in lists of five. */
export interface Candidate {
  graph: Graph
  settings: readonly [step: number, share: number, initial: number]
}
const stepSizes = [0.025, 0.05, 0.1, 0.2, 0.4]
const shares = [0.05, 0.1, 0.2, 0.4, 0.8]
const initials = [0, 0.25, 0.5, 1, 2]
/** A loss with a random step and share of random moves; values are 0 at first. */
export const withSettings = (graph: Graph, random: Random): Candidate => ({
  graph,
  settings: [random.int(5), random.int(5), 0],
})
/** Return on levels in percent, of some agents each, at least -1000. */
export function scoreOf(
  { graph, settings }: Candidate,
  { levels, random, steps }: Practice,
  repeats = 1,
): number {
  const [step, share, initial] = settings
  const code = compiled(graph)
  const learner = { code, stepSize: stepSizes[step], epsilon: shares[share], initial: initials[initial] }
  const returns = levels.map((level) =>
    average(each(repeats).map(() => trainedReturn(level, learner, steps, random))),
  )
  return Math.max(-1000, percent(levels, returns))
}

/** How alike two lists are: the correlation of their numbers; 0 where one has no spread. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [average(a), average(b)]
  const product = (x: readonly number[], p: number, y: readonly number[], q: number): number =>
    x.reduce((sum, value, k) => sum + (value - p) * (y[k] - q), 0)
  const spread = Math.sqrt(product(a, meanA, a, meanA) * product(b, meanB, b, meanB))
  return spread > 0 ? product(a, meanA, b, meanB) / spread : 0
}
