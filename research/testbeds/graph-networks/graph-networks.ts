import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { regress } from '../sequences/sequences.ts'
import { each } from '../each.ts'

const [inputs, layers] = [4, 2]
/** Choices of each component of a layer. */
const components = {
  aggregator: ['sum', 'mean', 'max', 'none'],
  activation: ['relu', 'tanh', 'square', 'linear'],
  width: [2, 4, 8, 12],
  combination: ['add', 'subtract', 'neighbours', 'multiply'],
}
/** Number of options of each component of each layer, and of the readout. */
export const options = [
  ...each(layers).flatMap(() => Object.values(components).map((list) => list.length)),
  3,
]
/** Index of the option of each. */
export type Architecture = number[]
interface Graph {
  neighbours: number[][]
  features: number[][]
}

function graphs(random: Random, count: number): Graph[] {
  return each(count).map(() => {
    const nodes = 6 + random.int(9)
    const density = 0.15 + 0.3 * random.next()
    const linked = each(nodes).map(() => each(nodes).map(() => random.next() < density))
    const neighbours = each(nodes).map((i) =>
      each(nodes).filter((j) => j !== i && linked[Math.min(i, j)][Math.max(i, j)]),
    )
    return { neighbours, features: each(nodes).map(() => each(inputs).map(() => random.normal())) }
  })
}

/** Fixed random weights of the widest layers, of which each architecture uses a part. */
const drawWeights = (random: Random): number[][][] =>
  each(layers).map(() => each(12).map(() => each(12).map(() => random.normal() / 2)))

/** What the readout sees of a graph. */
function embed(architecture: Architecture, weights: number[][][], { neighbours, features }: Graph): number[] {
  let rows = features
  for (let layer = 0; layer < layers; layer++) {
    const [aggregator, activation, width, combination] = architecture.slice(4 * layer)
    const seen = rows.map((own, i) =>
      own.map((value, k) => {
        const values = neighbours[i].map((j) => rows[j][k])
        const total = values.reduce((a, b) => a + b, 0)
        const from = [
          total,
          total / Math.max(1, values.length),
          values.length === 0 ? 0 : Math.max(...values),
          0,
        ][aggregator]
        return [value + from, value - from, from, value * from][combination]
      }),
    )
    rows = seen.map((row) =>
      each(components.width[width]).map((unit) => {
        const z = row.reduce((sum, v, k) => sum + v * weights[layer][unit][k], 0) + (unit % 2) / 2
        return [Math.max(0, z), Math.tanh(z), Math.min(9, z * z) / 2, z][activation]
      }),
    )
  }
  const readout = architecture[4 * layers]
  const columns = rows[0].map((_, k) => rows.map((row) => row[k]))
  return [
    1,
    ...columns.map((column) =>
      readout === 0 ? average(column) : readout === 1 ? Math.max(...column) : column.reduce((a, b) => a + b),
    ),
  ]
}

/** Whether a layer lets nothing of a graph through but its number of nodes. */
const isBlind = (architecture: Architecture): boolean =>
  each(layers).some((layer) => {
    const [aggregator, , , combination] = architecture.slice(4 * layer)
    return aggregator === 3 && combination >= 2
  })

/** Labels of an architecture of the same space with other weights, so that half of the graphs are of each class. */
function labelsOf(data: readonly Graph[], random: Random): number[] {
  for (;;) {
    const teacher = options.map((count) => random.int(count))
    const [own, readout] = [drawWeights(random), each(13).map(() => random.normal())]
    const values = data.map((graph) =>
      embed(teacher, own, graph).reduce((sum, v, k) => sum + v * (k === 0 ? 0 : readout[k]), 0),
    )
    const middle = values.toSorted((a, b) => a - b)[values.length / 2]
    const labels = values.map((value) => (value < middle ? -1 : 1))
    if (!isBlind(teacher) && labels.filter((label) => label === 1).length === data.length / 2) return labels
  }
}

/** Accuracies of architectures on graphs of a seed, of which each is trained once. */
export function benchmark(seed: number) {
  const random = createRandom('graphs', seed)
  const data = graphs(random, 300)
  const weights = drawWeights(random)
  const labels = labelsOf(data, random)
  const known = new Map<string, { validation: number; test: number }>()
  return {
    known,
    evaluate: (architecture: Architecture) => {
      const key = architecture.join()
      const found = known.get(key) ?? trained()
      known.set(key, found)
      return found
      function trained() {
        const rows = data.map((graph) => embed(architecture, weights, graph))
        const w = regress(rows.slice(0, 100), labels.slice(0, 100))
        const right = rows.map((row, g) =>
          Number(row.reduce((sum, v, k) => sum + v * w[k], 0) >= 0 === labels[g] > 0),
        )
        return { validation: average(right.slice(100, 200)), test: average(right.slice(200)) }
      }
    },
  }
}
