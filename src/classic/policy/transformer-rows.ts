import type { ParameterSet } from '../../engine/nn/index.ts'
import { layerNormRows } from './layer-norm-rows.ts'
import { activate, dense } from './mlp.ts'
import type { Network } from './network.ts'

export interface TransformerShape {
  /** Numbers of a frame, and frames of a row. */
  inputs: number
  window: number
  /** Width of a token; a multiple of `heads`. */
  size: number
  heads: number
  layers: number
  /** Put before the names of its parameters. */
  prefix: string
}

/** The transformer as plain loops, row by row. */
export function transformerRows(shape: TransformerShape): Network['forward'] {
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
    activate('relu', wide, rows * 2 * size)
    through(parameters, `${name}.down`, wide, rows, part)
    addTo(to, rows)
  }

  /** Of the last `rows` tokens, each to itself and those before it. */
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
