import {
  add,
  matmul,
  mean,
  mul,
  rmsNormaliseWithScale,
  sigmoid,
  silu,
  sub,
  sum,
  transpose,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { Factors } from './low-rank.ts'

// Every layer returns its result and a hand-written pullback, from the gradient of the result to those of the inputs.
// The engine would derive the same, with more passes over the large activations.

/** RMSNorm (Zhang & Sennrich 2019) without its gain, which is folded into the following weights. x: [tokens, width]. */
export function normalise(x: Tensor, epsilon: number) {
  const { y, scale } = rmsNormaliseWithScale(x, epsilon)
  const over = { axes: [-1], keepDims: true }
  return { y, pullback: (gy: Tensor): Tensor => mul(scale, sub(gy, mul(y, mean(mul(gy, y), over)))) }
}

/**
 * x [tokens, in] times the transpose of weight [out, in]. `factors` of an adapter, which the weight already includes,
 * get gradients of their own; programs drop the gradients that they do not return.
 */
export function linear(x: Tensor, weight: Tensor, factors?: Factors) {
  // The product over all tokens is faster with the longer side first (by a quarter, for 352 and 128).
  const wide = Number(weight.shape[1]) > Number(weight.shape[0])
  return {
    y: matmul(x, weight, { transposeB: true }),
    pullback: (gy: Tensor) => ({
      x: matmul(gy, weight),
      weight: wide
        ? transpose(matmul(x, gy, { transposeA: true }), [1, 0])
        : matmul(gy, x, { transposeA: true }),
      factors: factors && pullFactors(x, gy, factors),
    }),
  }
}

/** The gradients of A [rank, in], and of B transposed [rank, out]. */
function pullFactors(x: Tensor, gy: Tensor, { a, b }: Factors): Factors {
  return {
    a: matmul(matmul(gy, b), x, { transposeA: true }),
    b: matmul(matmul(x, a, { transposeB: true }), gy, { transposeA: true }),
  }
}

/** x [tokens, width] plus a bias [width]. */
export function shift(x: Tensor, bias: Tensor) {
  return { y: add(x, bias), pullback: (gy: Tensor) => ({ bias: sum(gy, { axes: [0] }) }) }
}

/** silu(gate) * up (Shazeer 2020). */
export function swiglu(gate: Tensor, up: Tensor) {
  const activated = silu(gate)
  return {
    y: mul(activated, up),
    pullback: (gy: Tensor) => ({
      gate: mul(mul(gy, up), mul(sigmoid(gate), add(sub(gate, activated), 1))),
      up: mul(gy, activated),
    }),
  }
}
