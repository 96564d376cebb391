import {
  add,
  gather,
  matmul,
  mean,
  mul,
  relu,
  rmsNormalise,
  rsqrt,
  silu,
  square,
  sub,
  tanh,
} from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'

/** Weight [outputs, inputs], as PyTorch and safetensors files have it; bias [outputs]. */
export interface LinearParameters {
  weight: Tensor
  bias?: Tensor
}

/** `x [..., inputs]` to `[..., outputs]`: x weight^T + bias. */
export function linear(x: Tensor, { weight, bias }: LinearParameters): Tensor {
  const product = matmul(x, weight, { transposeB: true })
  return bias === undefined ? product : add(product, bias)
}

const activations = { relu, silu, tanh }

export type Activation = keyof typeof activations

/** Linear layers with an activation between them and none after the last: `x [..., inputs]` to `[..., outputs of the last]`. */
export function mlp(x: Tensor, layers: readonly LinearParameters[], activation: Activation = 'tanh'): Tensor {
  return layers.reduce((h, layer, i) => linear(i === 0 ? h : activations[activation](h), layer), x)
}

/** Divides every row of the last axis by its root mean square, times `weight` (Zhang and Sennrich 2019, arXiv:1910.07467). */
export function rmsNorm(x: Tensor, weight: Tensor, epsilon = 1e-5): Tensor {
  return mul(rmsNormalise(x, epsilon), weight)
}

/** Brings every row of the last axis to mean 0 and variance 1, then scales and shifts it (Ba et al. 2016, arXiv:1607.06450). */
export function layerNorm(x: Tensor, weight: Tensor, bias: Tensor, epsilon = 1e-5): Tensor {
  const centred = sub(x, meanOfLast(x))
  return add(mul(mul(centred, rsqrt(add(meanOfLast(square(centred)), epsilon))), weight), bias)
}

/** Rows of `table [entries, width]` at `ids [...]`: `[..., width]`. */
export function embedding(table: Tensor, ids: Tensor): Tensor {
  return gather(table, ids, 0)
}

function meanOfLast(x: Tensor): Tensor {
  return mean(x, { axes: [x.shape.length - 1], keepDims: true })
}
