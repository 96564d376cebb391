import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkToolSchema } from './schema-check.ts'
import type { JsonSchema } from './types.ts'
import { validateArguments } from './validate.ts'

const file: JsonSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, pattern: '^\\/' },
    mode: { enum: ['read', 'write'] },
    lines: { type: 'array', items: { type: 'integer', minimum: 1, exclusiveMaximum: 10 }, maxItems: 2 },
    size: { anyOf: [{ type: 'null' }, { type: 'number', multipleOf: 0.5 }] },
    kind: { const: 'file' },
    node: { $ref: '#/$defs/node' },
  },
  required: ['path'],
  additionalProperties: false,
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
      required: ['name'],
    },
  },
}

test.each<[Record<string, unknown>, string | undefined]>([
  [{ path: '/a' }, undefined],
  [{ path: '/a', mode: 'read', lines: [1, 9], size: null, kind: 'file', node: { name: 'x' } }, undefined],
  [{}, '"path" is missing'],
  [{ path: 3 }, '"path" must be a string'],
  [{ path: '' }, '"path" must have at least 1 characters'],
  [{ path: 'a' }, '"path" must match ^\\/'],
  [{ path: '/a', mode: 'x' }, '"mode" must be one of "read", "write"'],
  [{ path: '/a', lines: [0] }, '"lines[0]" must be at least 1'],
  [{ path: '/a', lines: [1, 10] }, '"lines[1]" must be less than 10'],
  [{ path: '/a', lines: [1, 2, 3] }, '"lines" must have at most 2 items'],
  [{ path: '/a', lines: [1.5] }, '"lines[0]" must be a whole number'],
  [{ path: '/a', lines: 'x' }, '"lines" must be a list'],
  [{ path: '/a', size: 0.3 }, '"size" fits none of the allowed forms'],
  [{ path: '/a', size: 1.5 }, undefined],
  [{ path: '/a', kind: 'folder' }, '"kind" must be "file"'],
  [{ path: '/a', node: { name: 'x', next: { name: 'y', next: {} } } }, '"node.next.next.name" is missing'],
  [{ path: '/a', toString: 1 }, '"toString" is not an argument'],
])('%j: %s', (value, expected) => {
  expect(validateArguments(file, value)).toBe(expected)
})

test('combinators: all, exactly one, not', () => {
  const schema: JsonSchema = {
    type: 'object',
    allOf: [{ required: ['a'] }, { required: ['b'] }],
    oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }],
    not: { required: ['c'] },
  }
  expect(validateArguments(schema, { a: 1, b: 'x' })).toBeUndefined()
  expect(validateArguments(schema, { a: 1 })).toBe('"b" is missing')
  expect(validateArguments(schema, { a: 'x', b: 'x' })).toBe(
    'arguments fits more than one of the allowed forms',
  )
  expect(validateArguments(schema, { a: 1, b: 1 })).toBe('arguments fits none of the allowed forms')
  expect(validateArguments(schema, { a: 1, b: 'x', c: 1 })).toBe('arguments is not allowed')
})

test('agrees with zod on random values', () => {
  const shape = z.strictObject({
    s: z.string().max(3).optional(),
    n: z.number().min(-1).max(1),
    e: z.enum(['a', 'b']).nullable(),
    l: z.array(z.union([z.boolean(), z.int()])).max(2),
  })
  const schema = z.toJSONSchema(shape) as JsonSchema
  const odd = fc.constantFrom('a', 'abcd', 1, 0.5, 2, true, null, {})
  const value = fc.record(
    { s: odd, n: odd, e: odd, l: fc.array(odd, { maxLength: 3 }), x: odd },
    { requiredKeys: [] },
  )
  let good = 0
  const near = fc.record({
    n: fc.constantFrom(0, 1, 2),
    e: fc.constantFrom('a', null, 'c'),
    l: fc.array(fc.constantFrom(true, 1, 'a')),
  })
  fc.assert(
    fc.property(fc.oneof(value, near), (given) => {
      const expected = shape.safeParse(given).success
      if (expected) good++
      expect(validateArguments(schema, given) === undefined).toBe(expected)
    }),
    { numRuns: 500 },
  )
  expect(good).toBeGreaterThan(10)
})

test('never throws and never recurses for ever', () => {
  fc.assert(fc.property(fc.jsonValue(), (given) => void validateArguments(file, given)))
  const loop: JsonSchema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' } },
    $defs: { a: { $ref: '#/$defs/a' } },
  }
  expect(validateArguments(loop, { a: 1 })).toBe('"a" is nested too deep')
})

test.each<[string, JsonSchema]>([
  ['/type', { type: 'string' }],
  ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
  ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: 'https://example.com/schema' } } }],
  ['#/$defs/b/$ref', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ['/properties/a/pattern', { properties: { a: { pattern: '(' } } }],
  ['/properties/a/type', { properties: { a: { type: 'text' } } }],
  ['/properties/a', { properties: { a: 'string' } }],
  ['/properties/a/enum', { properties: { a: { enum: [] } } }],
  ['/required', { required: 'a' }],
])('a schema that cannot be used is refused at %s', (place, inputSchema) => {
  expect(() => checkToolSchema({ name: 'broken', inputSchema })).toThrow(
    expect.objectContaining({
      code: 'bad-tool-schema',
      message: expect.stringContaining(`"broken" cannot be used: at ${place},`),
    }),
  )
})

test('usable schemas pass, also recursive ones', () => {
  for (const inputSchema of [file, { type: 'object' }, {}]) checkToolSchema({ name: 'fine', inputSchema })
})
