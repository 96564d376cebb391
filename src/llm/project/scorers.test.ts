import { expect, test } from 'vitest'
import type { ScoringContext, Trial } from './config.ts'
import { jsonMatches, type JsonMatchesOptions } from './scorers.ts'

const context = {} as ScoringContext

async function score(
  output: unknown,
  answer: string | number | boolean | undefined,
  options: JsonMatchesOptions<unknown> = {},
): Promise<unknown> {
  const expected = answer === undefined ? {} : { answer }
  const given = { id: 'a', prompt: 'p', expected }
  const found = await jsonMatches(options)({ given, output } as unknown as Trial, context)
  return typeof found === 'object' ? found?.value : found
}

test('JSON is compared at a path, as a value or as a text, also in a fenced block', async () => {
  const path = 'cities.1.name'
  const cities = { cities: [{ name: 'Rome' }, { name: 'Oslo' }] }
  for (const output of [
    cities,
    JSON.stringify(cities),
    { text: JSON.stringify(cities) },
    `Here it is:\n\`\`\`json\n${JSON.stringify(cities, null, 2)}\n\`\`\``,
  ]) {
    expect(await score(output, 'oslo', { path })).toBe(1)
    expect(await score(output, 'Rome', { path })).toBe(0)
    expect(await score(output, 'oslo', { path: 'cities.2.name' })).toBe(0)
    expect(await score(output, 'oslo', { path: 'constructor.name' })).toBe(0)
  }
  expect(await score('Oslo, I think', 'Oslo', { path })).toBe(0)
  expect(await score(null, 'Oslo', { path })).toBe(0)
  // Numbers up to rounding, as in answers of text.
  expect(await score({ total: 2.71 }, 2.7134, { path: 'total' })).toBe(1)
  expect(await score({ total: 4 }, 2.71, { path: 'total' })).toBe(0)
})

test('a whole value is compared field by field, in any order; without a value only the schema counts', async () => {
  const equals = () => ({ a: 1, b: [1, 2] })
  expect(await score('{"b": [1, 2], "a": 1}', undefined, { equals })).toBe(1)
  expect(await score('{"b": [2, 1], "a": 1}', undefined, { equals })).toBe(0)
  expect(await score('{"a": 1}', undefined, { equals })).toBe(0)
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }
  expect(await score('{"a": 1}', undefined, { schema })).toBe(1)
  expect(await score('{"a": 1.5}', undefined, { schema })).toBe(0)
  expect(await score('{"b": 1}', undefined, { schema })).toBe(0)
})
