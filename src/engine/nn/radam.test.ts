import { expect, test } from 'vitest'
import { createRAdam } from './optimisers.ts'

// Made by torch.optim.RAdam (2.13) in double precision: x = [1, -2], learning rate 0.01, gradient
// [2 x0 + 0.1 t, cos(t) + x1] at step t. The step becomes adaptive at the sixth.
test('RAdam equals torch.optim.RAdam', () => {
  const x = Float32Array.of(1, -2)
  const radam = createRAdam(2)
  for (let t = 1; t <= 12; t++) {
    radam.step(x, Float32Array.of(2 * x[0] + 0.1 * t, Math.cos(t) + x[1]), 0.01)
    if (t === 3) expectClose(x, [0.936076326, -1.942603205])
  }
  expectClose(x, [0.888790017, -1.893591623])
})

test('RAdam clips a long gradient first', () => {
  const steps = [1, 100].map((scale) => {
    const x = Float32Array.of(0, 0)
    const norm = createRAdam(2, { maxGradientNorm: 1 }).step(x, Float32Array.of(3 * scale, 4 * scale), 1)
    expect(norm).toBeCloseTo(5 * scale)
    return x
  })
  expectClose(steps[0], steps[1])
})

function expectClose(found: Float32Array, wanted: ArrayLike<number>): void {
  found.forEach((value, i) => expect(value).toBeCloseTo(wanted[i], 5))
}
