import {
  add,
  concat,
  matmul,
  mul,
  reshape,
  rmsNormalise,
  rotate,
  slice,
  softmax,
  transpose,
} from '../../engine/tensor/index.ts'
import type { Dim, Tensor } from '../../engine/tensor/index.ts'
import { limited, ownScores } from '../model/attention.ts'
import type { Rotary } from '../model/attention.ts'
import type { BlockWeights } from '../model/block.ts'
import { headWidth } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'

/** Cached keys and values of a layer [B, kvHeads, P, width], and limits [B, 1, 1, P], see `scoreLimits`. */
export interface PastKeysValues {
  keys: Tensor
  values: Tensor
  limits: Tensor
}

/**
 * Like `projectHeads`, from the result of one product for all heads: [B*C, (heads + 2 * kvHeads) * width], bias
 * included.
 */
export function splitHeads(
  projected: Tensor,
  { queryNorm, keyNorm }: BlockWeights,
  { positions, cosine, sine }: Rotary,
  config: TransformerConfig,
): { q: Tensor; k: Tensor; v: Tensor } {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const part = (start: number, count: number, turns: boolean, gain?: Tensor): Tensor => {
    const rows = slice(projected, { axis: 1, start: start * width, end: (start + count) * width })
    const apart = reshape(rows, ['B', 'C', count, width])
    const normal = gain === undefined ? apart : mul(rmsNormalise(apart, config.rms_norm_eps), gain)
    const turned = turns
      ? reshape(rotate(reshape(normal, ['B', 'C', count * width]), positions, cosine, sine), apart.shape)
      : normal
    return transpose(turned, [0, 2, 1, 3])
  }
  return {
    q: part(0, heads, true, queryNorm),
    k: part(heads, shared, true, keyNorm),
    v: part(heads + shared, shared, false),
  }
}

/** q: [B, heads, C, width]; k, v: [B, kvHeads, C, width]. One softmax over cached and new positions. */
export function attendTwoParts(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  past: PastKeysValues,
  newLimits: Tensor,
  config: TransformerConfig,
): Tensor {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const group = heads / shared
  const rows = group === 1 ? 'C' : `${group}*C`
  const fold = (x: Tensor, last: Dim): Tensor => (group === 1 ? x : reshape(x, ['B', shared, rows, last]))
  // The new part's limits differ by position, so it unfolds the folded rows.
  const apart = (x: Tensor, parts: number, last: Dim): Tensor =>
    group === 1 ? x : reshape(x, ['B', shared, parts, 'C', last])
  const queries = fold(q, width)
  const own = ownScores(apart(q, group, width), apart(k, 1, width))
  const pastScores = limited(matmul(queries, past.keys, { transposeB: true }), past.limits, fold(own, 1))
  const newApart = apart(matmul(queries, k, { transposeB: true }), group, 'C')
  const newScores = fold(limited(newApart, newLimits, own), 'C')
  const probabilities = softmax(concat([pastScores, newScores], 3))
  const mixed = add(
    matmul(slice(probabilities, { axis: 3, start: 0, end: 'P' }), past.values),
    matmul(slice(probabilities, { axis: 3, start: 'P', end: 'C+P' }), v),
  )
  const headsApart = group === 1 ? mixed : reshape(mixed, ['B', heads, 'C', width])
  return reshape(transpose(headsApart, [0, 2, 1, 3]), ['B*C', heads * width])
}

/** projected: [B, (heads + 2 * kvHeads) * width]. */
export function attendOne(
  projected: Tensor,
  { queryNorm, keyNorm }: BlockWeights,
  inputs: Record<string, Tensor>,
  past: PastKeysValues,
  config: TransformerConfig,
): { mixed: Tensor; keys: Tensor; values: Tensor } {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const turning = (heads + shared) * width
  const normalised = (start: number, count: number, gain: Tensor): Tensor => {
    const rows = slice(projected, { axis: 1, start: start * width, end: (start + count) * width })
    return mul(rmsNormalise(reshape(rows, ['B', count, width]), config.rms_norm_eps), gain)
  }
  const unturned =
    queryNorm === undefined || keyNorm === undefined
      ? slice(projected, { axis: 1, start: 0, end: turning })
      : concat([normalised(0, heads, queryNorm), normalised(heads, shared, keyNorm)], 1)
  const turned = rotate(
    reshape(unturned, ['B', 1, turning]),
    reshape(inputs['positions'], ['B', 1]),
    inputs['cosineTable'],
    inputs['sineTable'],
  )
  const part = (x: Tensor, start: number, end: number, rows: number): Tensor =>
    reshape(slice(x, { axis: x.shape.length - 1, start: start * width, end: end * width }), [
      'B',
      shared,
      rows,
      width,
    ])
  const q = part(turned, 0, heads, heads / shared)
  const k = part(turned, heads, heads + shared, 1)
  const v = part(projected, heads + shared, heads + 2 * shared, 1)
  const own = ownScores(q, k)
  const pastScores = limited(matmul(q, past.keys, { transposeB: true }), past.limits, own)
  const probabilities = softmax(concat([pastScores, own], 3))
  const mixed = add(
    matmul(slice(probabilities, { axis: 3, start: 0, end: 'P' }), past.values),
    mul(slice(probabilities, { axis: 3, start: 'P', end: '1+P' }), v),
  )
  return { mixed: reshape(mixed, ['B', heads * width]), keys: k, values: v }
}
