import { expect, test } from 'vitest'
import { smallConfig } from '../model/config.ts'
import { parameterLayout } from '../model/parameters.ts'
import { modelSizes, sizedConfig } from './sizes.ts'

test('the sizes have about the parameters of their names, and the smallest is the present model', () => {
  for (const size of modelSizes) {
    const millions = parameterLayout(sizedConfig(size)).size / 1e6
    expect(millions / Number.parseFloat(size)).toBeGreaterThan(0.85)
    expect(millions / Number.parseFloat(size)).toBeLessThan(1.15)
    // In half precision, with its vocabulary, it fits into the package.
    expect(millions * 2).toBeLessThan(16)
  }
  expect(sizedConfig()).toEqual(smallConfig)
  expect(sizedConfig('2M', 2048).max_position_embeddings).toBe(2048)
})

test('other sizes and contexts are refused', () => {
  expect(() => sizedConfig('9M' as '2M')).toThrow(expect.objectContaining({ given: '9M' }))
  expect(() => sizedConfig('2M', 1000)).toThrow(/context cannot be used/)
})
