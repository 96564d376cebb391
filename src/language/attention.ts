import {
  add,
  concat,
  matmul,
  mul,
  reshape,
  rotate,
  rotateBack,
  slice,
  softmax,
  sub,
  sum,
  transpose,
} from '../tensor/index.ts'
import type { Dim, Tensor } from '../tensor/index.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'

/** Cosines and sines for positions 0 .. positions-1, flat [positions, width/2]; angles as in Hugging Face's Llama. */
export function rotaryTable(config: TransformerConfig, positions: number) {
  const half = headWidth(config) / 2
  const cosine = new Float32Array(positions * half)
  const sine = new Float32Array(positions * half)
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      // In single precision, like the reference, whose angles at distant positions are rounded alike.
      const frequency = Math.fround(1 / Math.fround(config.rope_theta ** (i / half)))
      const angle = Math.fround(position * frequency)
      cosine[position * half + i] = Math.cos(angle)
      sine[position * half + i] = Math.sin(angle)
    }
  }
  return { cosine, sine }
}

/** The additive causal mask [time, time]: 0 where a position may look, a large negative number where not. */
export function causalMask(time: number): Float32Array {
  const mask = new Float32Array(time * time)
  for (let t = 0; t < time; t++) mask.fill(maskedScore, t * time + t + 1, (t + 1) * time)
  return mask
}

/** Small enough that its exponential is 0 beside any real score, far from overflow when added to one. */
export const maskedScore = -1e9

/** By what angles the heads are turned. */
export interface Rotary {
  /** int32 [batch, time]: rows of the tables. */
  positions: Tensor
  /** [positions, width/2], as `rotaryTable` gives them. */
  cosine: Tensor
  sine: Tensor
}

/**
 * Splits [batch * time, (heads + 2 * kvHeads) * width] into rotated queries, rotated keys, and values, each
 * [batch, heads, time, width].
 */
export function splitHeads(
  projected: Tensor,
  { positions, cosine, sine }: Rotary,
  batch: Dim,
  time: Dim,
  config: TransformerConfig,
) {
  const width = headWidth(config)
  const queries = config.num_attention_heads
  const keys = config.num_key_value_heads
  const all = queries + 2 * keys
  const turning = (queries + keys) * width
  const split = (x: Tensor, heads: number): Tensor =>
    transpose(reshape(x, [batch, time, heads, width]), [0, 2, 1, 3])
  const merged = (x: Tensor, heads: number): Tensor =>
    reshape(transpose(x, [0, 2, 1, 3]), [batch, time, heads * width])
  const rows = reshape(projected, [batch, time, all * width])
  const turned = rotate(slice(rows, { axis: 2, start: 0, end: turning }), positions, cosine, sine)
  return {
    q: split(slice(turned, { axis: 2, start: 0, end: queries * width }), queries),
    k: split(slice(turned, { axis: 2, start: queries * width, end: turning }), keys),
    v: split(slice(rows, { axis: 2, start: turning, end: all * width }), keys),
    pullback(gq: Tensor, gk: Tensor, gv: Tensor): Tensor {
      const gTurned = concat([merged(gq, queries), merged(gk, keys)], 2)
      const gRows = concat([rotateBack(gTurned, positions, cosine, sine), merged(gv, keys)], 2)
      return reshape(gRows, [product(batch, time), all * width])
    },
  }
}

/** The symbolic product of two lengths. */
export function product(a: Dim, b: Dim): Dim {
  return typeof a === 'number' && typeof b === 'number' ? a * b : `${a}*${b}`
}

/**
 * Causal grouped-query attention. q: [batch, heads, time, width]; k, v: [batch, kvHeads, time, width];
 * mask: [time, time], added to the scores. The scale of the scores is in the queries already. Gives [batch * time, heads * width].
 */
export function attend(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  mask: Tensor,
  batch: Dim,
  time: Dim,
  config: TransformerConfig,
) {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const group = heads / shared
  const folded = [batch, shared, product(group, time), width]
  const fold = (x: Tensor): Tensor => (group === 1 ? x : reshape(x, folded))
  const unfold = (x: Tensor): Tensor => (group === 1 ? x : reshape(x, [batch, heads, time, width]))
  const masked = (scores: Tensor): Tensor => {
    if (group === 1) return softmax(add(scores, mask))
    const apart = reshape(scores, [batch, shared, group, time, time])
    return reshape(softmax(add(apart, mask)), [batch, shared, product(group, time), time])
  }
  const queries = fold(q)
  const probabilities = masked(matmul(queries, k, { transposeB: true }))
  const mixed = matmul(probabilities, v)
  const y = reshape(transpose(unfold(mixed), [0, 2, 1, 3]), [product(batch, time), heads * width])
  return {
    y,
    pullback(gy: Tensor) {
      const g = fold(transpose(reshape(gy, [batch, time, heads, width]), [0, 2, 1, 3]))
      const gv = matmul(probabilities, g, { transposeA: true })
      // sum(p * dp) over the row equals sum(g * mixed): a reduction over the width instead of the time (FlashAttention).
      const inner = sum(mul(g, mixed), { axes: [-1], keepDims: true })
      const scores = mul(probabilities, sub(matmul(g, v, { transposeB: true }), inner))
      return { q: unfold(matmul(scores, k)), k: matmul(scores, queries, { transposeA: true }), v: gv }
    },
  }
}
