import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'

const [inputs, layers, widest] = [4, 2, 8]
/** How many graphs readouts are fitted on, architectures are compared by, and the result is measured on. */
const splits = { training: 100, validation: 200, test: 400 }
/** Choices of each component of a layer. */
const components = {
  aggregator: ['sum', 'mean', 'max', 'none'],
  activation: ['relu', 'tanh', 'square', 'linear'],
  width: [2, 4, 6, 8],
  combination: ['add', 'subtract', 'neighbours', 'multiply'],
}
/** Number of options of each component of each layer (aggregator, activation, width, combination), and of the readout (mean, max, sum). */
export const options = [
  ...each(layers).flatMap(() => Object.values(components).map((list) => list.length)),
  3,
]
/** Index of the option of each. */
export type Architecture = number[]

/** The network that a person would try first: neighbours are averaged and added, rectifiers, the widest layers, the mean of the nodes. */
export const handMade: Architecture = [1, 0, 3, 0, 1, 0, 3, 0, 0]

/**
 * Whether two architectures may share parameters: the same widths, so that weights have the same shapes, and the same activations.
 * They share them if the key is the same.
 */
export const homogeneity = (architecture: Architecture): string =>
  each(layers)
    .map((layer) => [architecture[4 * layer + 1], architecture[4 * layer + 2]])
    .join()

/**
 * Graphs one after another: nodes of graph g are those from `starts[g]` until `starts[g + 1]`, neighbours of node i those of
 * `neighbours` from `offsets[i]` until `offsets[i + 1]`.
 */
interface Graphs {
  starts: number[]
  offsets: Int32Array
  neighbours: Int32Array
  features: Float64Array
}

function graphs(random: Random, count: number): Graphs {
  const starts = [0]
  const lists: number[][] = []
  for (let graph = 0; graph < count; graph++) {
    const first = lists.length
    const nodes = 4 + random.int(5)
    const density = 0.2 + 0.4 * random.next()
    for (let node = first; node < first + nodes; node++) {
      lists.push([])
      for (let other = first; other < node; other++)
        if (random.next() < density) {
          lists[node].push(other)
          lists[other].push(node)
        }
    }
    starts.push(lists.length)
  }
  let total = 0
  return {
    starts,
    offsets: Int32Array.from([0, ...lists.map((list) => (total += list.length))]),
    neighbours: Int32Array.from(lists.flat()),
    features: Float64Array.from({ length: lists.length * inputs }, () => random.normal()),
  }
}

/** The first graphs of these. */
const firstOf = ({ starts, offsets, neighbours, features }: Graphs, count: number): Graphs => ({
  starts: starts.slice(0, count + 1),
  offsets: offsets.subarray(0, starts[count] + 1),
  neighbours,
  features: features.subarray(0, starts[count] * inputs),
})

/** Fixed random weights of the widest layers, of which each architecture uses a part. */
const drawWeights = (random: Random): Float64Array[] =>
  each(layers).map(() => Float64Array.from({ length: widest ** 2 }, () => random.normal() / 2))

// Chosen by number, not as functions of a list: calls that are not known beforehand would take most of the time.
function activate(activation: number, z: number): number {
  if (activation === 0) return Math.max(0, z)
  if (activation === 1) return Math.tanh(z)
  return activation === 2 ? Math.min(9, z * z) / 2 : z
}
function combine(combination: number, own: number, from: number): number {
  if (combination === 0) return own + from
  if (combination === 1) return own - from
  return combination === 2 ? from : own * from
}

/** The rows of all nodes after a layer. */
function convolve(
  rows: Float64Array,
  { offsets, neighbours }: Graphs,
  weights: Float64Array,
  [aggregator, activation, width, combination]: number[],
): Float64Array {
  const nodes = offsets.length - 1
  const size = rows.length / nodes
  const units = components.width[width]
  const result = new Float64Array(nodes * units)
  const seen = new Float64Array(size)
  for (let node = 0; node < nodes; node++) {
    const [from, until] = [offsets[node], aggregator === 3 ? offsets[node] : offsets[node + 1]]
    seen.fill(aggregator === 2 && until > from ? -Infinity : 0)
    for (let n = from; n < until; n++) {
      const other = neighbours[n] * size
      if (aggregator === 2) for (let k = 0; k < size; k++) seen[k] = Math.max(seen[k], rows[other + k])
      else for (let k = 0; k < size; k++) seen[k] += rows[other + k]
    }
    const divisor = aggregator === 1 ? Math.max(1, until - from) : 1
    for (let k = 0; k < size; k++) seen[k] = combine(combination, rows[node * size + k], seen[k] / divisor)
    for (let unit = 0; unit < units; unit++) {
      let z = (unit % 2) / 2
      for (let k = 0; k < size; k++) z += seen[k] * weights[unit * widest + k]
      result[node * units + unit] = activate(activation, z)
    }
  }
  return result
}

/** What the readout sees of each graph. */
function embed(architecture: Architecture, weights: Float64Array[], data: Graphs): number[][] {
  let rows = data.features
  for (let layer = 0; layer < layers; layer++)
    rows = convolve(rows, data, weights[layer], architecture.slice(4 * layer, 4 * layer + 4))
  const size = rows.length / data.starts[data.starts.length - 1]
  const readout = architecture[4 * layers]
  return each(data.starts.length - 1).map((graph) => {
    const [from, until] = [data.starts[graph], data.starts[graph + 1]]
    return each(size).map((k) => {
      let value = readout === 1 ? -Infinity : 0
      for (let node = from; node < until; node++) {
        const v = rows[node * size + k]
        value = readout === 1 ? Math.max(value, v) : value + v
      }
      return readout === 0 ? value / (until - from) : value
    })
  })
}

/** Whether a layer lets nothing of a graph through but its number of nodes. */
const isBlind = (architecture: Architecture): boolean =>
  each(layers).some((layer) => {
    const [aggregator, , , combination] = architecture.slice(4 * layer)
    return aggregator === 3 && combination >= 2
  })

/** Labels of a random readout of a random architecture with the same weights, so that half of the graphs are of each class. */
function labelsOf(data: Graphs, weights: Float64Array[], random: Random): number[] {
  for (;;) {
    const teacher = options.map((count) => random.int(count))
    const readout = each(widest).map(() => random.normal())
    const values = embed(teacher, weights, data).map((row) =>
      row.reduce((sum, v, k) => sum + v * readout[k], 0),
    )
    const middle = values.toSorted((a, b) => a - b)[values.length / 2]
    const labels = values.map((value) => (value < middle ? 0 : 1))
    if (!isBlind(teacher) && labels.filter((label) => label === 1).length === values.length / 2) return labels
  }
}

/** Weights of a readout: of a constant 1, then of each column. */
export type Readout = number[]
const logit = (readout: Readout, row: number[]): number =>
  row.reduce((sum, v, k) => sum + v * readout[k + 1], readout[0])

/** Logistic regression by gradient descent with momentum, from zero or from the weights of another network. */
function fit(rows: number[][], labels: number[], steps: number, start?: Readout): Readout {
  const weights = start?.slice() ?? each(rows[0].length + 1).map(() => 0)
  const velocity = weights.map(() => 0)
  for (let step = 0; step < steps; step++) {
    const gradient = weights.map(() => 0)
    rows.forEach((row, r) => {
      const error = 1 / (1 + Math.exp(-logit(weights, row))) - labels[r]
      gradient[0] += error
      row.forEach((v, k) => (gradient[k + 1] += error * v))
    })
    weights.forEach((_, k) => {
      velocity[k] = 0.9 * velocity[k] - (0.1 * gradient[k]) / rows.length
      weights[k] += velocity[k]
    })
  }
  return weights
}

const accuracy = (readout: Readout, rows: number[][], labels: number[]): number =>
  average(rows.map((row, g) => Number(logit(readout, row) >= 0 === labels[g] > 0)))

/** Columns with the mean 0 and the deviation 1 that they have on the graphs for training. */
function standardised(rows: number[][]): number[][] {
  const scales = rows[0].map((_, k) => {
    const column = rows.slice(0, splits.training).map((row) => row[k])
    const mean = average(column)
    const deviation = Math.sqrt(average(column.map((v) => (v - mean) ** 2)))
    return { mean, deviation: deviation < 1e-9 ? 1 : deviation }
  })
  return rows.map((row) => row.map((v, k) => (v - scales[k].mean) / scales[k].deviation))
}

/** Graphs of a seed with labels, on which architectures are trained. */
export function benchmark(seed: number) {
  const random = createRandom('graphs', seed)
  const first = splits.training + splits.validation
  const all = graphs(random, first + splits.test)
  const weights = drawWeights(random)
  const labels = labelsOf(all, weights, random)
  const few = firstOf(all, first)
  const trained = (rows: number[][], steps: number, start?: Readout) =>
    fit(rows.slice(0, splits.training), labels, steps, start)
  return {
    /** Readout after some steps, from zero or from a readout of a homogeneous network, and its accuracy on the graphs for validation. */
    train: (architecture: Architecture, steps: number, start?: Readout) => {
      const rows = standardised(embed(architecture, weights, few))
      const readout = trained(rows, steps, start)
      const validation = accuracy(readout, rows.slice(splits.training), labels.slice(splits.training, first))
      return { readout, validation }
    },
    /** Accuracy on the graphs for tests after some steps from zero. */
    test: (architecture: Architecture, steps: number): number => {
      const rows = standardised(embed(architecture, weights, all))
      return accuracy(trained(rows, steps), rows.slice(first), labels.slice(first))
    },
  }
}
