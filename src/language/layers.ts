import { add, concat, matmul, mean, mul, rsqrt, sigmoid, slice, square, sub, sum } from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'

// Every layer gives its result and a hand-written pullback (from the gradient of the result to the gradients of
// what went in). The engine would derive the same, but with more passes over the large activations.

/**
 * RMSNorm (Zhang & Sennrich 2019) without its gain, which `gainedLinear` folds into the weights that follow.
 * x: [tokens, width].
 */
export function normalise(x: Tensor, epsilon: number) {
  const axes = { axes: [-1], keepDims: true }
  const scale = rsqrt(add(mean(square(x), axes), epsilon))
  const y = mul(x, scale)
  return { y, pullback: (gy: Tensor): Tensor => mul(scale, sub(gy, mul(y, mean(mul(gy, y), axes)))) }
}

/** x [tokens, in] times weight [out, in] transposed. */
export function linear(x: Tensor, weight: Tensor) {
  return {
    y: matmul(x, weight, { transposeB: true }),
    pullback: (gy: Tensor) => ({ x: matmul(gy, weight), weight: matmul(gy, x, { transposeA: true }) }),
  }
}

/** `linear` of x * gain, the gain [in] being multiplied into the weight: a small matrix instead of a large activation. */
export function gainedLinear(x: Tensor, weight: Tensor, gain: Tensor) {
  const inner = linear(x, mul(weight, gain))
  return {
    y: inner.y,
    pullback(gy: Tensor) {
      const g = inner.pullback(gy)
      return { x: g.x, weight: mul(g.weight, gain), gain: sum(mul(g.weight, weight), { axes: [0] }) }
    },
  }
}

/** Cosines and sines of the angles, broadcastable to the half heads that they turn. */
export interface RotaryTables {
  cosine: Tensor
  sine: Tensor
}

/**
 * Rotary embedding (Su et al. 2021) in the order of Hugging Face's `rotate_half`: the pairs are (i, i + width/2) of
 * `axis`, the last. The transpose is the rotation by the opposite angle, `unrotateHalves`.
 */
export function rotateHalves(x: Tensor, { cosine, sine }: RotaryTables, axis: number, width: number): Tensor {
  const left = slice(x, { axis, start: 0, end: width / 2 })
  const right = slice(x, { axis, start: width / 2, end: width })
  return concat([sub(mul(left, cosine), mul(right, sine)), add(mul(right, cosine), mul(left, sine))], axis)
}

export function unrotateHalves(
  x: Tensor,
  { cosine, sine }: RotaryTables,
  axis: number,
  width: number,
): Tensor {
  const left = slice(x, { axis, start: 0, end: width / 2 })
  const right = slice(x, { axis, start: width / 2, end: width })
  return concat([add(mul(left, cosine), mul(right, sine)), sub(mul(right, cosine), mul(left, sine))], axis)
}

/** silu(gate) * up (Shazeer 2020). */
export function swiglu(gate: Tensor, up: Tensor) {
  const s = sigmoid(gate)
  const activated = mul(gate, s)
  return {
    y: mul(activated, up),
    pullback: (gy: Tensor) => ({
      gate: mul(mul(gy, up), mul(s, add(sub(gate, activated), 1))),
      up: mul(gy, activated),
    }),
  }
}
