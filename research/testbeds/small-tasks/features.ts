import {
  add,
  compileObjective,
  concat,
  matmul,
  mean,
  mul,
  normalValues,
  relu,
  slice,
  square,
  stopGradient,
  sub,
  tanh,
} from 'agoge/engine'
import type { ParameterSet, ParameterSpec, Tensor } from 'agoge/engine'
import { each } from '../each.ts'
import { actions, inputs } from './small-tasks.ts'
import type { SmallTask } from './small-tasks.ts'

/** Width of the features, rows of a batch, steps of an unroll. */
export const [width, batch, horizon] = [32, 16, 3]

const normal = (rows: number, columns: number, deviation: number): ParameterSpec => ({
  shape: [rows, columns],
  initialise: (random) => normalValues(random, rows * columns, deviation),
})
/** Initial weights of all arms. The latent of an observation and an action make the features, by one layer each. */
export const specs = {
  encoder: normal(inputs, width, 0.7),
  mix: normal(width, width, 1 / Math.sqrt(width)),
  action: normal(actions, width, 0.7),
  model: normal(width, width + 2, 1 / Math.sqrt(width)),
  hidden: normal(width, width, Math.sqrt(2 / width)),
  value: normal(width, 1, 0.1),
  /** Weights of the observation itself, for each action. */
  direct: normal(actions * inputs, 1, 0.1),
}
const join = ({ mix, action }: Record<string, Tensor>, z: Tensor, a: Tensor): Tensor =>
  tanh(add(matmul(z, mix), matmul(a, action)))

/** What trains the features: the targets of a model, the values, or nothing. `none`: the observation is the feature. */
export type Source = 'model' | 'values' | 'nothing' | 'none'

/**
 * The error of values, a layer over the features of state and action, and that of a model that is unrolled from the same
 * features: the next latent, the reward and whether the episode ends.
 */
export const objectiveOf = (source: Source) =>
  compileObjective({
    parameters: Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape])),
    inputs: {
      seen: { shape: [batch, inputs] },
      target: { shape: [batch, 1] },
      ...Object.fromEntries(
        each(horizon).flatMap((h) => [
          [`action${h}`, { shape: [batch, actions] }],
          [`after${h}`, { shape: [batch, width + 2] }],
          [`mask${h}`, { shape: [batch, 1] }],
        ]),
      ),
    },
    trace(parameters, given) {
      const { encoder, hidden, value, direct, model } = parameters
      const column = (k: number) => slice(given['action0'], { axis: 1, start: k, end: k + 1 })
      const lossOf = (features: Tensor, weights: Tensor) =>
        mean(square(sub(matmul(features, weights), given['target'])))
      const products = each(actions).map((k) => mul(column(k), given['seen']))
      if (source === 'none') return { loss: lossOf(concat(products, 1), direct) }
      let z = tanh(matmul(given['seen'], encoder))
      let features = join(parameters, z, given['action0'])
      let loss = lossOf(relu(matmul(source === 'values' ? features : stopGradient(features), hidden)), value)
      if (source !== 'model') return { loss }
      for (let h = 0; h < horizon; h++) {
        if (h > 0) features = join(parameters, z, given[`action${h}`])
        const found = matmul(features, model)
        z = slice(found, { axis: 1, end: width })
        const errors = mul(given[`mask${h}`], square(sub(found, given[`after${h}`])))
        // The latent as a whole counts as much as the reward and the end.
        const parts = [0, width, width + 1, width + 2]
        for (const [k, start] of parts.slice(0, 3).entries()) {
          const end = parts[k + 1]
          loss = add(loss, mean(slice(errors, { axis: 1, start, end })))
        }
      }
      return { loss }
    },
  })

/** `start` plus the rows of a matrix [..., columns], each times its entry of `x`, in place. */
function addRows(start: Float64Array, x: ArrayLike<number>, matrix: Float32Array): Float64Array {
  const columns = start.length
  for (let i = 0; i < x.length; i++)
    for (let j = 0; j < columns; j++) start[j] += x[i] * matrix[i * columns + j]
  return start
}

/** Features of a state and values of its actions under some weights. */
export function readerOf({ rows }: SmallTask, source: Source, { views }: ParameterSet) {
  const { encoder, mix, action, hidden, value, direct } = views
  const ones = rows.map((row) => each(inputs).filter((i) => row[i] === 1))
  const latent = (state: number): Float64Array => {
    const sums = new Float64Array(width)
    for (const i of ones[state]) for (let j = 0; j < width; j++) sums[j] += encoder[i * width + j]
    return sums.map(Math.tanh)
  }
  const join = (z: Float64Array, a: number): Float64Array =>
    addRows(Float64Array.from(action.subarray(a * width, (a + 1) * width)), z, mix).map(Math.tanh)
  const q = (state: number): number[] => {
    if (source === 'none')
      return each(actions).map((a) => ones[state].reduce((sum, i) => sum + direct[a * inputs + i], 0))
    const z = latent(state)
    return each(actions).map((a) =>
      addRows(new Float64Array(width), join(z, a), hidden).reduce(
        (sum, unit, j) => sum + value[j] * Math.max(0, unit),
        0,
      ),
    )
  }
  return { latent, q, features: (state: number, a: number) => join(latent(state), a) }
}
