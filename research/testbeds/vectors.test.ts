import { expect, test } from 'vitest'
import { each } from './each.ts'
import { dot, softmax } from './vectors.ts'

test('counting and the inner product', () => {
  expect(each(3)).toEqual([0, 1, 2])
  expect(dot([1, 2], Float32Array.of(3, 4, 5))).toBe(11)
})

test('probabilities have the ratios of the logits, however large these are', () => {
  for (const shift of [0, 1000, -1000]) {
    const [a, b, c] = softmax([shift, shift + 1, shift - 2])
    expect(a + b + c).toBeCloseTo(1, 12)
    expect(b / a).toBeCloseTo(Math.E, 9)
    expect(a / c).toBeCloseTo(Math.exp(2), 9)
  }
})
