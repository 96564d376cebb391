import {
  layerNorm,
  linear,
  normalValues,
  orthogonal,
  type ParameterSet,
  type ParameterSpec,
} from '../../engine/nn/index.ts'
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
  type Tensor,
  transpose,
  where,
} from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import type { Network } from './mlp.ts'

/** `layerNorm` as a loop: normalises rows of x to mean 0 and variance 1, then scales and shifts. `to` may be x. */
function layerNormRows(
  x: Float32Array,
  rows: number,
  width: number,
  weight: Float32Array,
  bias: Float32Array,
  to: Float32Array,
): void {
  for (let r = 0; r < rows; r++) {
    const at = r * width
    let sum = 0
    for (let k = at; k < at + width; k++) sum += x[k]
    const centre = sum / width
    let squares = 0
    for (let k = at; k < at + width; k++) squares += (x[k] - centre) ** 2
    const scale = 1 / Math.sqrt(squares / width + 1e-5)
    for (let k = 0; k < width; k++) to[at + k] = (x[at + k] - centre) * scale * weight[k] + bias[k]
  }
}

interface TransformerShape {
  /** Length of a frame, and number of frames in a row. */
  inputs: number
  window: number
  /** Width of a token, a multiple of `heads`. */
  size: number
  heads: number
  layers: number
  /** Prefix of the parameter names. */
  prefix: string
}

/**
 * The transformer as loops, row by row. A row of 8 frames takes 28 us; a call of the runtime takes 190 us. Some
 * of its operators have no kernel.
 */
function transformerRows(shape: TransformerShape): Network['forward'] {
  const { inputs, window, size, heads, layers, prefix } = shape
  const tokens = (width: number): Float32Array => new Float32Array(window * width)
  const h = tokens(size)
  const normal = tokens(size)
  const queries = tokens(size)
  const keys = tokens(2 * size)
  const joined = tokens(size)
  const wide = tokens(2 * size)
  const part = tokens(size)
  const last = new Float32Array(size)
  const scores = new Float64Array(window)
  const newest = (window - 1) * size

  function through(
    { views }: ParameterSet,
    name: string,
    from: Float32Array,
    rows: number,
    to: Float32Array,
  ): void {
    const bias = views[`${name}.bias`]
    dense(
      from,
      views[`${name}.weight`],
      bias,
      rows,
      views[`${name}.weight`].length / bias.length,
      bias.length,
      to,
    )
  }

  /** h [rows, size] += from [rows, size]. */
  const addTo = (to: Float32Array, rows: number): void => {
    for (let i = 0; i < rows * size; i++) to[i] += part[i]
  }

  function layer(parameters: ParameterSet, name: string, isLast: boolean): void {
    const { views } = parameters
    const rows = isLast ? 1 : window
    layerNormRows(h, window, size, views[`${name}.norm.weight`], views[`${name}.norm.bias`], normal)
    through(parameters, `${name}.keyValue`, normal, window, keys)
    through(parameters, `${name}.query`, isLast ? normal.subarray(newest) : normal, rows, queries)
    attend(rows)
    through(parameters, `${name}.mix`, joined, rows, part)
    if (isLast) last.set(h.subarray(newest))
    const to = isLast ? last : h
    addTo(to, rows)
    layerNormRows(to, rows, size, views[`${name}.norm2.weight`], views[`${name}.norm2.bias`], normal)
    through(parameters, `${name}.up`, normal, rows, wide)
    for (let i = 0; i < rows * 2 * size; i++) wide[i] = wide[i] > 0 ? wide[i] : 0
    through(parameters, `${name}.down`, wide, rows, part)
    addTo(to, rows)
  }

  /** Attention of the last `rows` tokens, each to itself and the tokens before it. */
  function attend(rows: number): void {
    const width = size / heads
    const scale = 1 / Math.sqrt(width)
    for (let r = 0; r < rows; r++) {
      const before = window - rows + r
      for (let head = 0; head < heads; head++) {
        const q = r * size + head * width
        let highest = -Infinity
        for (let t = 0; t <= before; t++) {
          let dot = 0
          const k = t * 2 * size + head * width
          for (let i = 0; i < width; i++) dot += queries[q + i] * keys[k + i]
          scores[t] = dot * scale
          if (scores[t] > highest) highest = scores[t]
        }
        let total = 0
        for (let t = 0; t <= before; t++) total += scores[t] = Math.exp(scores[t] - highest)
        joined.fill(0, q, q + width)
        for (let t = 0; t <= before; t++) {
          const weight = scores[t] / total
          const v = t * 2 * size + size + head * width
          for (let i = 0; i < width; i++) joined[q + i] += weight * keys[v + i]
        }
      }
    }
  }

  return (parameters, x, rows, out) => {
    const { views } = parameters
    const place = views[`${prefix}place`]
    for (let r = 0; r < rows; r++) {
      const row = x.subarray(r * window * inputs, (r + 1) * window * inputs)
      through(parameters, `${prefix}frame`, row, window, h)
      for (let i = 0; i < window * size; i++) h[i] += place[i]
      for (let i = 0; i < layers; i++) layer(parameters, `${prefix}layer${i}`, i === layers - 1)
      const to = out.subarray(r * size, (r + 1) * size)
      layerNormRows(last, 1, size, views[`${prefix}norm.weight`], views[`${prefix}norm.bias`], to)
    }
  }
}

/**
 * A causal transformer (Vaswani et al. 2017, arXiv:1706.03762) over rows of `window` frames of `inputs`
 * numbers, oldest first. It normalises before each part, which RL needs (Parisotto et al. 2020,
 * arXiv:1910.06764). The output is that of the newest frame; the last layer computes only this one.
 */
export function transformerNetwork(shape: TransformerShape): Network {
  const { inputs, window, size, heads, layers, prefix } = shape
  if (size % heads !== 0) {
    throw new AgogeError('the token size of a transformer must be a multiple of its heads', {
      code: 'bad-argument',
      given: `${heads} heads, tokens of ${size}`,
      expected: 'a size that is a multiple of the number of heads',
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

/** to [rows, outputs] = x [rows, inputs] weight^T + bias. Computes four outputs for each read of x. */
function dense(
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array,
  rows: number,
  inputs: number,
  outputs: number,
  to: Float32Array,
): void {
  const blocked = outputs - (outputs % 4)
  for (let r = 0; r < rows; r++) {
    const at = r * inputs
    const write = r * outputs
    for (let o = 0; o < blocked; o += 4) {
      let a = bias[o]
      let b = bias[o + 1]
      let c = bias[o + 2]
      let d = bias[o + 3]
      let w = o * inputs
      for (let k = at; k < at + inputs; k++, w++) {
        const value = x[k]
        a += value * weight[w]
        b += value * weight[w + inputs]
        c += value * weight[w + 2 * inputs]
        d += value * weight[w + 3 * inputs]
      }
      to[write + o] = a
      to[write + o + 1] = b
      to[write + o + 2] = c
      to[write + o + 3] = d
    }
    for (let o = blocked; o < outputs; o++) {
      let sum = bias[o]
      for (let k = 0; k < inputs; k++) sum += x[at + k] * weight[o * inputs + k]
      to[write + o] = sum
    }
  }
}
