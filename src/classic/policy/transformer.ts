import { AgogeError } from '../../error.ts'
import { layerNorm, linear, normalValues, orthogonal } from '../../engine/nn/index.ts'
import type { ParameterSpec } from '../../engine/nn/index.ts'
import {
  add,
  iota,
  less,
  matmul,
  mul,
  relu,
  reshape,
  slice,
  softmax,
  transpose,
  where,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { Network } from './network.ts'
import { transformerRows } from './transformer-rows.ts'
import type { TransformerShape } from './transformer-rows.ts'

/**
 * A causal transformer (Vaswani et al. 2017, arXiv:1706.03762; normalised before each part, as Parisotto et al. 2020,
 * arXiv:1910.06764, found to be needed in reinforcement learning) over rows of `window` frames of `inputs` numbers, oldest
 * first. What it makes of the newest frame is the output; the last layer computes nothing else.
 */
export function transformerNetwork(shape: TransformerShape): Network {
  const { inputs, window, size, heads, layers, prefix } = shape
  if (size % heads !== 0) {
    throw new AgogeError('every head of a transformer gets as many numbers of a token', {
      code: 'bad-argument',
      given: `${heads} heads, tokens of ${size}`,
      expected: 'a size that is a multiple of the heads',
    })
  }
  const specs = transformerSpecs(shape)
  const width = size / heads
  const newest = (x: Tensor): Tensor => slice(x, { axis: 1, start: window - 1 })
  return {
    inputs: window * inputs,
    outputs: size,
    specs,
    trace(parameters, x) {
      const [batch] = x.shape
      const through = (h: Tensor, name: string): Tensor =>
        linear(h, { weight: parameters[`${name}.weight`], bias: parameters[`${name}.bias`] })
      const norm = (h: Tensor, name: string): Tensor =>
        layerNorm(h, parameters[`${name}.weight`], parameters[`${name}.bias`])
      const split = (h: Tensor, rows: number): Tensor =>
        transpose(reshape(h, [batch, rows, heads, width]), [0, 2, 1, 3])
      const later = less(reshape(iota(window), [window, 1]), iota(window))
      let h = add(
        through(reshape(x, [batch, window, inputs]), `${prefix}frame`),
        parameters[`${prefix}place`],
      )
      for (let i = 0; i < layers; i++) {
        const name = `${prefix}layer${i}`
        const isLast = i === layers - 1
        const rows = isLast ? 1 : window
        const normal = norm(h, `${name}.norm`)
        const keys = through(normal, `${name}.keyValue`)
        const [k, v] = [0, size].map((start) =>
          split(slice(keys, { axis: 2, start, end: start + size }), window),
        )
        const q = split(through(isLast ? newest(normal) : normal, `${name}.query`), rows)
        const scores = mul(matmul(q, k, { transposeB: true }), 1 / Math.sqrt(width))
        const seen = matmul(softmax(isLast ? scores : where(later, -1e9, scores)), v)
        const joined = reshape(transpose(seen, [0, 2, 1, 3]), [batch, rows, size])
        h = add(isLast ? newest(h) : h, through(joined, `${name}.mix`))
        h = add(h, through(relu(through(norm(h, `${name}.norm2`), `${name}.up`)), `${name}.down`))
      }
      return norm(reshape(h, [batch, size]), `${prefix}norm`)
    },
    forward: transformerRows(shape),
  }
}

function transformerSpecs({
  inputs,
  window,
  size,
  layers,
  prefix,
}: TransformerShape): Record<string, ParameterSpec> {
  const specs: Record<string, ParameterSpec> = {}
  const addLinear = (name: string, from: number, to: number, gain = 1): void => {
    specs[`${name}.weight`] = {
      shape: [to, from],
      initialise: (random) => orthogonal(random, to, from, gain),
    }
    specs[`${name}.bias`] = { shape: [to], initialise: () => new Float32Array(to) }
  }
  const addNorm = (name: string): void => {
    specs[`${name}.weight`] = { shape: [size], initialise: () => new Float32Array(size).fill(1) }
    specs[`${name}.bias`] = { shape: [size], initialise: () => new Float32Array(size) }
  }
  addLinear(`${prefix}frame`, inputs, size)
  specs[`${prefix}place`] = {
    shape: [window, size],
    initialise: (random) => normalValues(random, window * size, 0.1),
  }
  for (let i = 0; i < layers; i++) {
    const name = `${prefix}layer${i}`
    addNorm(`${name}.norm`)
    addLinear(`${name}.query`, size, size)
    addLinear(`${name}.keyValue`, size, 2 * size)
    addLinear(`${name}.mix`, size, size)
    addNorm(`${name}.norm2`)
    addLinear(`${name}.up`, size, 2 * size, Math.SQRT2)
    addLinear(`${name}.down`, 2 * size, size)
  }
  addNorm(`${prefix}norm`)
  return specs
}
