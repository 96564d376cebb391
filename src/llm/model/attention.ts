import {
  add,
  concat,
  matmul,
  minimum,
  mul,
  reshape,
  rotate,
  rotateBack,
  slice,
  softmax,
  sub,
  sum,
  transpose,
} from '../../engine/tensor/index.ts'
import type { Dim, Tensor } from '../../engine/tensor/index.ts'
import { headWidth, rotaryFrequencies, type TransformerConfig } from './config.ts'
import { linear, normalise, shift } from './layers.ts'
import { factorsOf, namedFactors } from './low-rank.ts'
import type { AdaptedPart, NamedFactors } from './low-rank.ts'

/** Cosines and sines for positions 0 .. positions-1, flat [positions, width/2]; angles as in Hugging Face's models. */
export function rotaryTable(config: TransformerConfig, positions: number) {
  const width = headWidth(config)
  const half = width / 2
  const { frequencies, amplitude } = rotaryFrequencies(config.rope_theta, width, config.rope_scaling)
  const cosine = new Float32Array(positions * half)
  const sine = new Float32Array(positions * half)
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i])
      cosine[position * half + i] = amplitude * Math.cos(angle)
      sine[position * half + i] = amplitude * Math.sin(angle)
    }
  }
  return { cosine, sine }
}

/**
 * Scores are limited instead of masked. A limit is added to the row's own score (that of a position with itself, which
 * is always visible), and bounds the other scores. A hidden position then weighs less than e^-50 of a visible one,
 * which vanishes in single precision. With a mask of -1e9 the exponentials would be subnormal numbers, which make the
 * softmax seven times slower.
 */
export const scoreLimits = { hidden: -50, visible: 1e30 } as const

/** `scoreLimits` [time, time] of a causal pass. */
export function causalLimits(time: number): Float32Array {
  const limits = new Float32Array(time * time).fill(scoreLimits.visible)
  for (let t = 0; t < time; t++) limits.fill(scoreLimits.hidden, t * time + t + 1, (t + 1) * time)
  return limits
}

/**
 * Limits in the shape that broadcasts to scores of `rank` axes: [batch, time, time] per row is reshaped; [time, time]
 * for all rows stays as it is.
 */
function ofRows(limits: Tensor, batch: Dim, time: Dim, rank: number): Tensor {
  if (limits.shape.length === 2) return limits
  return reshape(limits, [batch, ...Array<number>(rank - 3).fill(1), time, time])
}

/** Limits scores [..., time, positions]. `limits` broadcasts to them, `own` is [..., time, 1]. */
export function limited(scores: Tensor, limits: Tensor, own: Tensor): Tensor {
  return minimum(scores, add(limits, own))
}

/** The score of every position with itself. q, k: [..., width], whose axes broadcast. Returns [..., 1]. */
export function ownScores(q: Tensor, k: Tensor): Tensor {
  return sum(mul(q, k), { axes: [-1], keepDims: true })
}

/** The rotary angles of the heads. */
export interface Rotary {
  /** int32 [batch, time]: rows of the tables. */
  positions: Tensor
  /** [positions, width/2], as from `rotaryTable`. */
  cosine: Tensor
  sine: Tensor
}

/**
 * The weights that project normalised states to heads. `attentionParts` says which optional ones exist. `PART.a` and
 * `PART.b` are the factors of an adapter.
 */
export interface HeadWeights extends NamedFactors {
  /** [(heads + 2 * kvHeads) * width, in] */
  qkv: Tensor
  /** [(heads + 2 * kvHeads) * width] */
  qkvBias?: Tensor
  /** [width], gains of the norm of each head. */
  queryNorm?: Tensor
  keyNorm?: Tensor
}

const headParts = ['q', 'k', 'v'] as const

/**
 * Projects x [batch * time, in] to rotated queries, rotated keys, and values, each [batch, heads, time, width]. Three
 * products instead of one, whose result would have to be split.
 */
export function projectHeads(
  x: Tensor,
  weights: HeadWeights,
  { positions, cosine, sine }: Rotary,
  batch: Dim,
  time: Dim,
  config: TransformerConfig,
) {
  const width = headWidth(config)
  const heads = [config.num_attention_heads, config.num_key_value_heads, config.num_key_value_heads]
  const parts = heads.map((count, part) => {
    const start = heads.slice(0, part).reduce((sum, before) => sum + before * width, 0)
    const cut = (whole: Tensor): Tensor => slice(whole, { axis: 0, start, end: start + count * width })
    const projected = linear(x, cut(weights.qkv), factorsOf<AdaptedPart>(weights, headParts[part]))
    const shifted = weights.qkvBias && shift(projected.y, cut(weights.qkvBias))
    const rows = reshape(shifted?.y ?? projected.y, [batch, time, count * width])
    const gain = [weights.queryNorm, weights.keyNorm][part]
    const apart = (y: Tensor): Tensor => reshape(y, [batch, time, count, width])
    const normal = gain && normaliseHeads(apart(rows), gain, config)
    const whole = normal === undefined ? rows : reshape(normal.y, [batch, time, count * width])
    const turned = part < 2 ? rotate(whole, positions, cosine, sine) : whole
    return {
      y: transpose(apart(turned), [0, 2, 1, 3]),
      pullback(gy: Tensor) {
        const g = reshape(transpose(gy, [0, 2, 1, 3]), [batch, time, count * width])
        const gTurned = part < 2 ? rotateBack(g, positions, cosine, sine) : g
        const gNormal = normal?.pullback(apart(gTurned))
        const gRows = reshape(gNormal?.x ?? gTurned, [product(batch, time), count * width])
        return { ...projected.pullback(gRows), bias: shifted?.pullback(gRows).bias, gain: gNormal?.gain }
      },
    }
  })
  const [q, k, v] = parts
  return {
    q: q.y,
    k: k.y,
    v: v.y,
    pullback(gq: Tensor, gk: Tensor, gv: Tensor) {
      const [ofQ, ofK, ofV] = [q.pullback(gq), k.pullback(gk), v.pullback(gv)]
      const ofWeights: HeadWeights = {
        qkv: concat([ofQ.weight, ofK.weight, ofV.weight], 0),
        ...namedFactors('q', ofQ.factors),
        ...namedFactors('k', ofK.factors),
        ...namedFactors('v', ofV.factors),
      }
      if (ofQ.bias && ofK.bias && ofV.bias) ofWeights.qkvBias = concat([ofQ.bias, ofK.bias, ofV.bias], 0)
      if (ofQ.gain && ofK.gain) Object.assign(ofWeights, { queryNorm: ofQ.gain, keyNorm: ofK.gain })
      return { x: add(add(ofQ.x, ofK.x), ofV.x), weights: ofWeights }
    },
  }
}

/** RMSNorm of every head separately. x: [batch, time, heads, width]; gain: [width]. */
function normaliseHeads(x: Tensor, gain: Tensor, config: TransformerConfig) {
  const unit = normalise(x, config.rms_norm_eps)
  return {
    y: mul(unit.y, gain),
    pullback: (gy: Tensor) => ({
      x: unit.pullback(mul(gy, gain)),
      gain: sum(mul(gy, unit.y), { axes: [0, 1, 2] }),
    }),
  }
}

/** The symbolic product of two lengths. */
export function product(a: Dim, b: Dim): Dim {
  return typeof a === 'number' && typeof b === 'number' ? a * b : `${a}*${b}`
}

/**
 * Causal grouped-query attention. q: [batch, heads, time, width]; k, v: [batch, kvHeads, time, width]; limits: [time,
 * time], or [batch, time, time] if rows differ, see `scoreLimits`. The queries already include the scale of the scores.
 * Returns [batch * time, heads * width].
 */
export function attend(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  limits: Tensor,
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
  const queries = fold(q)
  const scores = matmul(queries, k, { transposeB: true })
  const apart = (x: Tensor, rows: Dim, last: Dim): Tensor =>
    group === 1 ? x : reshape(x, [batch, shared, rows, time, last])
  const own = ownScores(apart(q, group, width), apart(k, 1, width))
  const within = softmax(
    limited(apart(scores, group, time), ofRows(limits, batch, time, group === 1 ? 4 : 5), own),
  )
  const probabilities = group === 1 ? within : reshape(within, [batch, shared, product(group, time), time])
  const mixed = matmul(probabilities, v)
  const y = reshape(transpose(unfold(mixed), [0, 2, 1, 3]), [product(batch, time), heads * width])
  return {
    y,
    pullback(gy: Tensor) {
      const g = fold(transpose(reshape(gy, [batch, time, heads, width]), [0, 2, 1, 3]))
      const gv = matmul(probabilities, g, { transposeA: true })
      // sum(p * dp) over the row equals sum(g * mixed): a reduction over the width instead of the time (FlashAttention).
      const inner = sum(mul(g, mixed), { axes: [-1], keepDims: true })
      const gScores = mul(probabilities, sub(matmul(g, v, { transposeB: true }), inner))
      return { q: unfold(matmul(gScores, k)), k: matmul(gScores, queries, { transposeA: true }), v: gv }
    },
  }
}
