import { expect, test } from 'vitest'
import { createRmsProp } from './optimisers.ts'

test('RMSprop equals the formula of torch.optim.RMSprop', () => {
  const parameters = Float32Array.of(1, -2, 0.5)
  const optimiser = createRmsProp(3, { decay: 0.9, epsilon: 1e-5 })
  const expected = [1, -2, 0.5]
  const square = [0, 0, 0]
  for (let step = 1; step <= 5; step++) {
    const gradient = expected.map((_, i) => Math.sin(step * (i + 1)))
    optimiser.step(parameters, Float32Array.from(gradient), 0.01)
    gradient.forEach((g, i) => {
      square[i] = 0.9 * square[i] + 0.1 * g * g
      expected[i] -= (0.01 * g) / (Math.sqrt(square[i]) + 1e-5)
    })
  }
  expected.forEach((value, i) => expect(parameters[i]).toBeCloseTo(value, 5))
})

test('RMSprop clips a long gradient and skips one that is NaN', () => {
  const parameters = Float32Array.of(0)
  const optimiser = createRmsProp(1, { maxGradientNorm: 1 })
  expect(optimiser.step(parameters, Float32Array.of(Number.NaN), 0.1)).toBeNaN()
  expect(parameters[0]).toBe(0)
  expect(optimiser.step(parameters, Float32Array.of(50), 0.1)).toBeCloseTo(50)
  expect(optimiser.state().square[0]).toBeCloseTo(0.01, 4)
})
