import { expect, test } from 'vitest'
import { addDims, canonical, dimValue, multiplyDims } from './shape.ts'

test('equal dimensions have the same canonical string', () => {
  expect(canonical('T*B')).toBe('B*T')
  expect(canonical('B*128')).toBe('128*B')
  expect(canonical('T + P')).toBe('P+T')
  expect(canonical('2*3')).toBe(6)
  expect(multiplyDims(['B', 4, 'T', 2])).toBe('8*B*T')
  expect(multiplyDims([])).toBe(1)
  expect(multiplyDims(['P+T', 2])).toBe('2*P+2*T')
})

test('sums and differences cancel', () => {
  expect(addDims('P', 'T')).toBe('P+T')
  expect(addDims('P+T', 'P', -1)).toBe('T')
  expect(addDims('B', 'B', -1)).toBe(0)
  expect(addDims('B', 3, -1)).toBe('-3+B')
  expect(addDims(addDims('B', 3, -1), 3)).toBe('B')
  expect(addDims(2, 'T', -1)).toBe('2+-1*T')
  expect(addDims('2+-1*T', 'T')).toBe(2)
})

test('values of dimensions come from the bindings', () => {
  const bindings = new Map([
    ['B', 3],
    ['T', 5],
  ])
  expect(dimValue('2*B*T+T+-1', bindings)).toBe(34)
  expect(() => dimValue('Q', bindings)).toThrow(/size Q/)
})
