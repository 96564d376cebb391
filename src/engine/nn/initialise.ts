import type { Random } from '../random/index.ts'

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
 * A weight [outputs, inputs] with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al. 2014). Made by
 * Gram-Schmidt in double precision.
 */
export function orthogonal(random: Random, outputs: number, inputs: number, gain = 1): Float32Array {
  const count = Math.min(outputs, inputs)
  const length = Math.max(outputs, inputs)
  const vectors: Float64Array[] = []
  while (vectors.length < count) {
    const vector = Float64Array.from({ length }, () => random.normal())
    // Twice: the second pass removes what rounding left of the first.
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
