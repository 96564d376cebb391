import { mlp, zeroParameters } from '../../engine/nn/index.ts'
import type { Activation } from '../../engine/nn/index.ts'
import { reshape, slice } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { mlpNetwork } from './mlp.ts'
import type { Network } from './mlp.ts'

export interface HyperNetworkOptions {
  /** Length of the first part of a row, which the small network reads. */
  inputs: number
  /** Length of the rest of a row, the context. The weights of the small network are computed from it. */
  contexts: number
  /** Widths of the hidden layers of the small network. */
  hidden: readonly number[]
  outputs: number
  /** Widths of the hidden layers of the hypernetwork, which computes the weights. */
  over: readonly number[]
  /** Activation of both networks. Default: tanh. */
  activation?: Activation
}

/**
 * A small network over the first part of each row. Another network computes its weights from the rest of the
 * row (Ha, Dai & Le 2017, arXiv:1609.09106; for contexts in RL: Rezaei-Shoshtari et al. 2023,
 * arXiv:2211.15457). At initialisation these weights are close to a usual initialisation and depend little on
 * the context.
 */
export function hyperNetwork(options: HyperNetworkOptions): Network {
  const { inputs, contexts, hidden, outputs, over, activation = 'tanh' } = options
  const inner = mlpNetwork({ inputs, hidden, outputs, activation })
  const shapes = Object.fromEntries(Object.entries(inner.specs).map(([name, { shape }]) => [name, shape]))
  const made = zeroParameters(shapes)
  const maker = mlpNetwork({
    inputs: contexts,
    hidden: over,
    outputs: made.data.length,
    activation,
    outputGain: 0.1,
    prefix: 'hyper.',
  })
  const lastBias = `hyper.${over.length}.bias`
  const first = {
    shape: [made.data.length],
    initialise: (random: Parameters<(typeof maker.specs)[string]['initialise']>[0]) => {
      const values = zeroParameters(shapes)
      for (const [name, { shape, initialise }] of Object.entries(inner.specs))
        values.views[name].set(initialise(random.split(name), shape))
      return values.data
    },
  }
  const width = inputs + contexts
  const [x, context, y] = [inputs, contexts, outputs].map((size) => new Float32Array(size))
  return {
    inputs: width,
    outputs,
    specs: { ...maker.specs, [lastBias]: first },
    trace(parameters, rows): Tensor {
      const count = rows.shape[0]
      const all = maker.trace(parameters, slice(rows, { axis: 1, start: inputs }))
      let from = 0
      const part = (name: string): Tensor => {
        const start = from
        from += made.views[name].length
        const shape = shapes[name]
        return reshape(slice(all, { axis: 1, start, end: from }), [
          count,
          ...(shape.length === 1 ? [1, ...shape] : shape),
        ])
      }
      const layers = Array.from({ length: hidden.length + 1 }, (_, k) => ({
        weight: part(`${k}.weight`),
        bias: part(`${k}.bias`),
      }))
      const own = reshape(slice(rows, { axis: 1, end: inputs }), [count, 1, inputs])
      return reshape(mlp(own, layers, activation), [count, outputs])
    },
    forward(parameters, rows, count, out) {
      for (let r = 0; r < count; r++) {
        x.set(rows.subarray(r * width, r * width + inputs))
        context.set(rows.subarray(r * width + inputs, (r + 1) * width))
        maker.forward(parameters, context, 1, made.data)
        inner.forward(made, x, 1, y)
        out.set(y, r * outputs)
      }
    },
  }
}
