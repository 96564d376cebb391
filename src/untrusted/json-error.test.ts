import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { locateJsonError } from './json-error.ts'

test.each<[string, number, number]>([
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a": 1,}', 1, 9],
  ['{"a": 1\n "b": 2}', 2, 2],
  ['[1, 2\n', 2, 1],
  ['{"a" 1}', 1, 6],
  ["{'a': 1}", 1, 2],
  ['{"a": 1} x', 1, 10],
  ['{"a": "tab\there"}', 1, 7],
  ['{\n// comment\n}', 2, 1],
])('%j fails at line %i, column %i', (text, line, column) => {
  expect(locateJsonError(text)).toEqual({ line, column })
})

test('accepts exactly what JSON.parse accepts', () => {
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', '"', '1', ' ', '\\', 'x', '-'))
    .map(
      ([text, at, char]) =>
        text.slice(0, at % (text.length + 1)) + char + text.slice((at % (text.length + 1)) + 1),
    )
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged), (text) => {
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      expect(locateJsonError(text) === undefined).toBe(valid)
    }),
    { numRuns: 1000 },
  )
})
