import { add, concat, matmul, mul, reshape, slice, softmax, sub, sum, transpose } from '../tensor/index.ts'
import type { Dim, Tensor } from '../tensor/index.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { rotateHalves, unrotateHalves } from './layers.ts'
import type { RotaryTables } from './layers.ts'

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

/**
 * Splits [batch * time, (heads + 2 * kvHeads) * width] into rotated queries (times `scale`), rotated keys, and values,
 * each [batch, heads, time, width]. The tables are [time, width/2] or [batch, 1, time, width/2].
 */
export function splitHeads(
  projected: Tensor,
  tables: RotaryTables,
  batch: Dim,
  time: Dim,
  config: TransformerConfig,
  scale = 1 / Math.sqrt(headWidth(config)),
) {
  const width = headWidth(config)
  const queries = config.num_attention_heads
  const keys = config.num_key_value_heads
  const all = queries + 2 * keys
  const heads = transpose(reshape(projected, [batch, time, all, width]), [0, 2, 1, 3])
  const scaled = { cosine: mul(tables.cosine, scale), sine: mul(tables.sine, scale) }
  const take = (start: number, end: number): Tensor => slice(heads, { axis: 1, start, end })
  return {
    q: rotateHalves(take(0, queries), scaled, 3, width),
    k: rotateHalves(take(queries, queries + keys), tables, 3, width),
    v: take(queries + keys, all),
    pullback(gq: Tensor, gk: Tensor, gv: Tensor): Tensor {
      const parts = [unrotateHalves(gq, scaled, 3, width), unrotateHalves(gk, tables, 3, width), gv]
      return reshape(transpose(concat(parts, 1), [0, 2, 1, 3]), [product(batch, time), all * width])
    },
  }
}

/** The symbolic product of two lengths. */
export function product(a: Dim, b: Dim): Dim {
  return typeof a === 'number' && typeof b === 'number' ? a * b : `${a}*${b}`
}

/**
 * Causal grouped-query attention. q: [batch, heads, time, width]; k, v: [batch, kvHeads, time, width];
 * mask: [time, time], added to the scores. Gives [batch * time, heads * width].
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
