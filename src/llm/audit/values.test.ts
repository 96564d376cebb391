import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { fillArguments, valuesIn, wordsIn } from './values.ts'

const fill = (property: object, values: string[] = []) =>
  fillArguments(
    { type: 'object', properties: { a: property }, required: ['a'] },
    { random: createRandom(1), values },
  )['a']

test('bounds of a schema that are no numbers bound nothing', () => {
  const odd = { toString: 1, valueOf: 1 }
  for (const name of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])
    for (const bound of [odd, '5', null, [[]]])
      expect(Number.isInteger(fill({ type: 'integer', [name]: bound }))).toBe(true)
  expect(fill({ type: 'array', items: { type: 'null' }, minItems: odd })).toEqual([null])
  expect(fill({ type: 'string', maxLength: odd }, ['b'])).toBe('b')
  expect(fill({ type: 'string', minLength: 1e9 })).toHaveLength(10_000)
  expect(fill({ type: 'integer', minimum: 5, maximum: 5 })).toBe(5)
})

test('values of long runs are read in linear time', () => {
  for (const piece of ['"', "'", '“', ')', ',', '.', ' ', '-', '1', '[', '{"a":'])
    for (const text of [`x${piece.repeat(50_000)}x`, piece.repeat(50_000)]) {
      expect(valuesIn(text).length).toBeLessThanOrEqual(200)
      expect(wordsIn(text).length).toBeLessThanOrEqual(200)
    }
  expect(valuesIn('name: "Ada", age: 36')).toEqual([
    'name: "Ada", age: 36',
    'name',
    '"Ada"',
    'age',
    '36',
    'Ada',
  ])
  expect(wordsIn('Move "a b".txt, please!')).toEqual(['a b', 'Move', 'a', 'b".txt', 'please'])
})
