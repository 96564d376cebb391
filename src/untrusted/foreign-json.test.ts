import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { deepestJson, nestingOf, parseForeignJson } from './foreign-json.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

test('brackets count outside of texts only', () => {
  expect(nestingOf('[{"a":"[[\\"[["}]')).toBe(2)
  expect(nestingOf('1')).toBe(0)
  fc.assert(
    fc.property(fc.json(), (text) => {
      const depth = (value: unknown): number =>
        typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
      expect(nestingOf(text)).toBe(depth(JSON.parse(text)))
    }),
  )
})

test('JSON that recursive functions would break at is refused', () => {
  expect(parseForeignJson(nested(deepestJson))).toEqual(JSON.parse(nested(deepestJson)))
  for (const text of [nested(deepestJson + 1), nested(100_000), '[', ''])
    expect(() => parseForeignJson(text)).toThrow(SyntaxError)
})
