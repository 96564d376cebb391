import { expect, expectTypeOf, test } from 'vitest'
import { defined } from './defined.ts'

test('properties that are undefined are left out, null, 0 and empty text stay', () => {
  const result = defined({ a: undefined as number | undefined, b: null, c: 0, d: '' })
  expect(Object.keys(result)).toEqual(['b', 'c', 'd'])
  expect({ a: 1, ...result }).toEqual({ a: 1, b: null, c: 0, d: '' })
})

test('what may be undefined becomes optional', () => {
  const a: number | undefined = [1].at(0)
  const result = defined({ a, b: 2 })
  expectTypeOf(result.b).toEqualTypeOf<number>()
  const exact: { a?: number; b: number } = result
  expect(exact).toEqual({ a: 1, b: 2 })
})
