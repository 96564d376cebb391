import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkToolSchema } from './schema-check.ts'
import type { JsonSchema } from './schema-check.ts'
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

test('never throws and never recurses without end', () => {
  fc.assert(fc.property(fc.jsonValue(), (given) => void validateArguments(file, given)))
  const loop: JsonSchema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' } },
    $defs: { a: { $ref: '#/$defs/a' } },
  }
  expect(validateArguments(loop, { a: 1 })).toBe('"a" is nested too deep')
})

/** Definitions of which each refers twice to the next; the last one is `end`. */
function twice(wrap: (reference: JsonSchema) => JsonSchema, end: JsonSchema): JsonSchema {
  const defs = Array.from({ length: 30 }, (_, i): [string, JsonSchema] => [
    `d${i}`,
    i === 29 ? end : wrap({ $ref: `#/$defs/d${i + 1}` }),
  ])
  return {
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    required: ['a'],
    $defs: Object.fromEntries(defs),
  }
}

// Each of these took 2 to the power of 30 steps.
test.each<[string, (reference: JsonSchema) => JsonSchema]>([
  ['allOf', (next) => ({ allOf: [next, next] })],
  ['anyOf', (next) => ({ anyOf: [next, next] })],
  ['oneOf and not', (next) => ({ oneOf: [{ not: next }, { allOf: [next, next] }] })],
])('definitions that refer twice to the next, by %s, are checked once', (_, wrap) => {
  const schema = twice(wrap, { type: 'string' })
  checkToolSchema({ name: 'fine', inputSchema: schema })
  expect(validateArguments(schema, { a: 'x' })).toBeUndefined()
})

test('alternatives that descend into the same value share its check', () => {
  const inner: JsonSchema = { anyOf: [{ $ref: '#/$defs/left' }, { $ref: '#/$defs/right' }] }
  const branch = (name: string): JsonSchema => ({ properties: { next: inner, [name]: { type: 'null' } } })
  const schema = { type: 'object', ...inner, $defs: { left: branch('l'), right: branch('r') } }
  const nested = (value: object): Record<string, unknown> =>
    Array.from({ length: 25 }).reduce<Record<string, unknown>>((next) => ({ next }), { ...value })
  checkToolSchema({ name: 'tree', inputSchema: schema })
  expect(validateArguments(schema, nested({}))).toBeUndefined()
  expect(validateArguments(schema, nested({ l: 1 }))).toBeUndefined()
  expect(validateArguments(schema, nested({ l: 1, r: 1 }))).toBe('arguments fits none of the allowed forms')
})

test('a circular schema is refused, and so are calls checked against it', () => {
  const alternatives: JsonSchema = { anyOf: [{ $ref: '#' }, { $ref: '#' }] }
  expect(() => checkToolSchema({ name: 'round', inputSchema: alternatives })).toThrow(
    /at #, it leads back to where it stands/,
  )
  expect(validateArguments(alternatives, {})).toBe('arguments is nested too deep')
})

test('a check ends after a number of steps, and the call is refused', () => {
  const items = { anyOf: Array.from({ length: 4000 }, (_, i) => ({ const: `c${i}` })) }
  const schema: JsonSchema = { type: 'object', properties: { list: { type: 'array', items } } }
  const list = Array.from({ length: 4000 }, () => 'c3999')
  expect(validateArguments(schema, { list })).toBe(
    'arguments cannot be checked: it takes more than 2000000 steps',
  )
  expect(validateArguments(schema, { list: list.slice(0, 5) })).toBeUndefined()
})

test('patterns are checked in linear time, and others are refused', () => {
  const of = (pattern: string): JsonSchema => ({ type: 'object', properties: { a: { pattern } } })
  expect(validateArguments(of('^(a+)+$'), { a: `${'a'.repeat(36)}!` })).toBe('"a" must match ^(a+)+$')
  expect(validateArguments({ patternProperties: { '^(a+)+$': false } }, { [`${'a'.repeat(36)}!`]: 1 })).toBe(
    undefined,
  )
  expect(validateArguments(of('^(?!b).$'), { a: 'b' })).toBe('"a" must match ^(?!b).$')
  const same = '"a" cannot be checked: the pattern refers to a group of its own'
  expect(validateArguments(of(String.raw`(.)\1`), { a: 'aa' })).toBe(same)
})

test('valid schemas work at any size or depth', () => {
  const leaf = (i: number): JsonSchema => ({
    type: ['string', 'null'],
    description: `property ${i}`,
    pattern: '^.*$',
  })
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`p${i}`, leaf(i)]))
  const wide: JsonSchema = { type: 'object', properties: many, required: Object.keys(many) }
  checkToolSchema({ name: 'wide', inputSchema: wide })
  const all = Object.fromEntries(Object.keys(many).map((key) => [key, 'x']))
  expect(validateArguments(wide, all)).toBeUndefined()
  expect(validateArguments(wide, { ...all, p399: 1 })).toBe('"p399" must be a string or null')

  const children = { type: 'array', items: { $ref: '#/$defs/node' } }
  const node = {
    anyOf: [{ type: 'string' }, { type: 'object', properties: { children }, required: ['children'] }],
  }
  const tree: JsonSchema = { type: 'object', properties: { children }, $defs: { node } }
  checkToolSchema({ name: 'tree', inputSchema: tree })
  const grow = (depth: number, end: unknown): Record<string, unknown> =>
    depth === 0 ? { children: [end] } : { children: ['leaf', grow(depth - 1, end)] }
  expect(validateArguments(tree, grow(40, 'leaf'))).toBeUndefined()
  expect(validateArguments(tree, grow(40, 3))).toMatch(/fits none of the allowed forms$/)

  const prefixItems = Array.from({ length: 5000 }, () => ({ type: 'integer' }))
  const long: JsonSchema = {
    type: 'object',
    properties: { row: { type: 'array', prefixItems, items: false } },
  }
  checkToolSchema({ name: 'long', inputSchema: long })
  expect(validateArguments(long, { row: prefixItems.map((_, i) => i) })).toBeUndefined()
  expect(validateArguments(long, { row: prefixItems.map((_, i) => i / 2) })).toBe(
    '"row[1]" must be a whole number',
  )
})

test.each<[string, JsonSchema]>([
  ['/type', { type: 'string' }],
  ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
  ['/properties/a/$ref', { type: 'object', properties: { a: { $ref: 'https://example.com/schema' } } }],
  ['#/$defs/a', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ['/properties/a/$ref', { properties: { a: { $ref: '#/%E0%A4%A' } } }],
  ['/properties/a/$ref', { properties: { a: { $ref: '#anchor' } } }],
  ['/properties/a/pattern', { properties: { a: { pattern: '(' } } }],
  ['/properties/a/pattern', { properties: { a: { pattern: String.raw`(a)\1` } } }],
  ['/properties/a/pattern', { properties: { a: { pattern: '(a{1000}){1000}' } } }],
  ['/patternProperties', { patternProperties: { '(': true } }],
  ['#', { properties: { a: deep(200) } }],
  ['#/properties/a', { properties: { a: { not: { $ref: '#/properties/a' } } } }],
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

function deep(levels: number): JsonSchema {
  return levels === 0 ? {} : { not: deep(levels - 1) }
}

test("usable schemas pass, including recursive ones and draft 3's required", () => {
  checkToolSchema({ name: 'old', inputSchema: { properties: { a: { type: 'string', required: true } } } })
  for (const inputSchema of [file, { type: 'object' }, {}]) checkToolSchema({ name: 'fine', inputSchema })
})
