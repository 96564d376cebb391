import type { Random } from '../random/index.ts'
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
  type Tensor,
} from '../tensor/index.ts'

/** Normal with mean 0 and the given standard deviation. */
export function normalValues(random: Random, length: number, deviation: number): Float32Array {
  return Float32Array.from({ length }, () => deviation * random.normal())
}

/** Uniform in [-limit, limit). */
export function uniformValues(random: Random, length: number, limit: number): Float32Array {
  return Float32Array.from({ length }, () => limit * (2 * random.next() - 1))
}

/** A weight [outputs, inputs], uniform with variance 2 / (inputs + outputs) (Glorot and Bengio 2010). */
export function glorotUniform(random: Random, outputs: number, inputs: number): Float32Array {
  return uniformValues(random, outputs * inputs, Math.sqrt(6 / (inputs + outputs)))
}

/** A weight [outputs, inputs], normal with variance 2 / inputs, for layers with ReLU (He et al. 2015). */
export function heNormal(random: Random, outputs: number, inputs: number): Float32Array {
  return normalValues(random, outputs * inputs, Math.sqrt(2 / inputs))
}

/**
 * A weight [outputs, inputs] with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al.
 * 2014). Uses Gram-Schmidt in double precision.
 */
export function orthogonal(random: Random, outputs: number, inputs: number, gain = 1): Float32Array {
  const count = Math.min(outputs, inputs)
  const length = Math.max(outputs, inputs)
  const vectors: Float64Array[] = []
  while (vectors.length < count) {
    const vector = Float64Array.from({ length }, () => random.normal())
    // Two passes: the second removes the rounding errors of the first.
    for (let pass = 0; pass < 2; pass++) {
      for (const other of vectors) {
        let dot = 0
        for (let i = 0; i < length; i++) dot += vector[i] * other[i]
        for (let i = 0; i < length; i++) vector[i] -= dot * other[i]
      }
    }
    const norm = Math.hypot(...vector)
    vectors.push(vector.map((x) => x / norm))
  }
  const weight = new Float32Array(outputs * inputs)
  vectors.forEach((vector, v) => {
    vector.forEach((x, i) => {
      weight[outputs <= inputs ? v * inputs + i : i * inputs + v] = gain * x
    })
  })
  return weight
}

/** Weight [outputs, inputs], as in PyTorch and safetensors files; bias [outputs]. */
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

/** The name of an activation function: `relu`, `silu` or `tanh`. */
export type Activation = keyof typeof activations

/** Linear layers with an activation between them and none after the last: `x [..., inputs]` to `[..., outputs of the last]`. */
export function mlp(x: Tensor, layers: readonly LinearParameters[], activation: Activation = 'tanh'): Tensor {
  return layers.reduce((h, layer, i) => linear(i === 0 ? h : activations[activation](h), layer), x)
}

/** Divides every row of the last axis by its root mean square, times `weight` (Zhang and Sennrich 2019, arXiv:1910.07467). */
export function rmsNorm(x: Tensor, weight: Tensor, epsilon = 1e-5): Tensor {
  return mul(rmsNormalise(x, epsilon), weight)
}

/**
 * Normalises every row of the last axis to mean 0 and variance 1, then scales and shifts it (Ba et al. 2016,
 * arXiv:1607.06450).
 */
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
