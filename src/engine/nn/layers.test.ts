import { expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { constant, evaluateTensors } from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'
import { embedding, glorotUniform, heNormal, layerNorm, mlp, orthogonal, rmsNorm } from './layers.ts'

const x = constant(Float32Array.of(1, 2, -3, 0.5, 0.1, -0.2, 0.3, 4), [2, 4])
const weight = constant(Float32Array.of(1, 0.5, 2, -1), [4])
const run = (result: Tensor): number[] => [...evaluateTensors({ result }, {}).result.data]

function expectClose(given: number[], expected: number[]): void {
  expect(given).toHaveLength(expected.length)
  expected.forEach((value, i) => expect(given[i]).toBeCloseTo(value, 5))
}

// Expected values of the layers are those of torch.nn.functional (torch 2.13) in float32.
test('rmsNorm and layerNorm agree with PyTorch', () => {
  expectClose(
    run(rmsNorm(x, weight)),
    [0.5298122, 0.5298122, -3.1788731, -0.2649061, 0.0497826, -0.0497826, 0.2986957, -1.9913045],
  )
  expectClose(
    run(layerNorm(x, weight, constant(Float32Array.of(0.1, 0, -0.1, 0.2), [4]))),
    [0.5646057, 0.4977918, -3.4186118, 0.0008833, -0.4547584, -0.3649727, -0.9759344, -1.5226706],
  )
})

test('mlp agrees with PyTorch', () => {
  const first = constant(
    Float32Array.of(0.1, -0.2, 0.3, 0.4, 0.5, 0.6, -0.7, 0.8, -0.1, 0.2, 0.3, -0.4),
    [3, 4],
  )
  const result = mlp(x, [
    { weight: first, bias: constant(Float32Array.of(0.1, -0.1, 0.2), [3]) },
    { weight: constant(Float32Array.of(1, -1, 0.5), [1, 3]) },
  ])
  expect(result.shape).toEqual([2, 1])
  expectClose(run(result), [-1.9842736, -0.4803208])
})

test('embedding selects rows', () => {
  const table = constant(Float32Array.of(0, 1, 10, 11, 20, 21), [3, 2])
  expect(run(embedding(table, constant(Int32Array.of(2, 0, 2), [3])))).toEqual([20, 21, 0, 1, 20, 21])
})

test('initialisers have the right variances, and orthogonal has orthonormal columns', () => {
  const random = createRandom('initialise')
  const variance = (values: Float32Array) => values.reduce((sum, v) => sum + v * v, 0) / values.length
  expect(variance(glorotUniform(random, 100, 300))).toBeCloseTo(2 / 400, 3)
  expect(variance(heNormal(random, 100, 200))).toBeCloseTo(2 / 200, 3)
  for (const [rows, columns] of [
    [3, 5],
    [5, 3],
    [4, 4],
  ]) {
    const matrix = orthogonal(random, rows, columns, 2)
    const at = (vector: number, i: number) =>
      rows <= columns ? matrix[vector * columns + i] : matrix[i * columns + vector]
    for (let a = 0; a < Math.min(rows, columns); a++) {
      for (let b = 0; b <= a; b++) {
        let dot = 0
        for (let i = 0; i < Math.max(rows, columns); i++) dot += at(a, i) * at(b, i)
        expect(dot).toBeCloseTo(a === b ? 4 : 0, 5)
      }
    }
  }
})
