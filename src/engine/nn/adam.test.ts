import { expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { clipScale, createAdam, globalNorm } from './optimisers.ts'

test.each([1, 3, 8, 101])('Adam of %d numbers agrees with a loop in double precision', (length) => {
  const random = createRandom('adam', length)
  const draw = (): Float32Array => Float32Array.from({ length }, () => random.normal())
  const options = { beta1: 0.8, beta2: 0.99, epsilon: 1e-5 }
  const adam = createAdam(length, { ...options, maxGradientNorm: 0.5 })
  const found = draw()
  const wanted = Float64Array.from(found)
  const [first, second] = [new Float64Array(length), new Float64Array(length)]
  for (let step = 1; step <= 30; step++) {
    const gradient = draw()
    const norm = globalNorm([gradient])
    const scale = clipScale(norm, 0.5)
    const { beta1, beta2, epsilon } = options
    for (let i = 0; i < length; i++) {
      const g = gradient[i] * scale
      first[i] = beta1 * first[i] + (1 - beta1) * g
      second[i] = beta2 * second[i] + (1 - beta2) * g * g
      const mean = first[i] / (1 - beta1 ** step)
      wanted[i] -= (0.01 * mean) / (Math.sqrt(second[i] / (1 - beta2 ** step)) + epsilon)
    }
    expect(adam.step(found, gradient, 0.01)).toBeCloseTo(norm, 10)
  }
  found.forEach((value, i) => expect(Math.abs(value - wanted[i])).toBeLessThan(1e-6))
  const state = adam.state()
  expect([state.first.length, state.second.length, state.steps]).toEqual([length, length, 30])
})

test('a restored Adam resumes exactly', () => {
  const adam = createAdam(5)
  const other = createAdam(5)
  const gradient = Float32Array.of(1, -2, 3, 0, 0.5)
  const parameters = new Float32Array(5)
  adam.step(parameters, gradient, 0.1)
  other.restore(structuredClone(adam.state()))
  const again = parameters.slice()
  adam.step(parameters, gradient, 0.1)
  other.step(again, gradient, 0.1)
  expect(again).toEqual(parameters)
})

test('a tiny gradient changes nothing', () => {
  const parameters = new Float32Array(2)
  createAdam(2).step(parameters, Float32Array.of(1e-20, 1), 0.1)
  expect(parameters[0]).toBe(0)
  expect(parameters[1]).toBeCloseTo(-0.1)
})

test("parameters in the optimiser's own memory change in the same way, and the target copy follows", () => {
  const random = createRandom('own', 1)
  const length = 7
  const [adam, other] = [createAdam(length), createAdam(length)]
  const parameters = new Float32Array(length)
  const target = new Float32Array(length)
  for (let step = 0; step < 10; step++) {
    for (let i = 0; i < length; i++) adam.own.gradient[i] = random.normal()
    adam.step(adam.own.parameters, adam.own.gradient, 0.1)
    other.step(parameters, adam.own.gradient.slice(), 0.1)
    expect(adam.own.parameters).toEqual(parameters)
    adam.follow(0.25)
    target.forEach((value, i) => (target[i] = value + 0.25 * (parameters[i] - value)))
    target.forEach((value, i) => expect(adam.own.target[i]).toBeCloseTo(value, 6))
  }
  adam.follow(1)
  expect(adam.own.target).toEqual(parameters)
})
