import { toolsPage } from '../../src/llm/tool/mcp-results.ts'
import { noSecrets, redacted } from '../../src/untrusted/untrusted.ts'
import { bomb } from './bomb.ts'
import type { Bomb } from './bomb.ts'
import { schemaTargets } from './schema-targets.ts'

type Schema = Record<string, unknown>

const list = <T>(length: number, item: (i: number) => T): T[] => Array.from({ length }, (_, i) => item(i))
const record = <T>(length: number, name: (i: number) => string, item: (i: number) => T): Record<string, T> =>
  Object.fromEntries(list(length, (i) => [name(i), item(i)]))

/** A tool with one required argument `a`. */
const argument = (a: unknown, more: Schema = {}): Schema => ({
  type: 'object',
  properties: { a },
  required: ['a'],
  ...more,
})

function nested(depth: number, wrap: (inner: unknown) => unknown, core: unknown = {}): unknown {
  let value = core
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}

/** References that double at each of `depth` levels. */
const doubling = (depth: number, wrap: (next: Schema) => Schema): Schema =>
  argument(
    { $ref: '#/$defs/d0' },
    {
      $defs: {
        ...record(
          depth,
          (i) => `d${i}`,
          (i) => wrap({ $ref: `#/$defs/d${i + 1}` }),
        ),
        [`d${depth}`]: { type: 'string', minLength: 1 },
      },
    },
  )

const schema = (name: string, make: () => unknown, value?: () => Schema): Bomb =>
  bomb(
    name,
    () => ({ schema: make() as Schema, value: value?.() ?? {} }),
    (made) => schemaTargets(made.schema, made.value),
  )

/** A page of `tools/list` with many tools, each with its own schema of one argument. */
const toolList = (name: string, count: number, make: (i: number) => unknown): Bomb =>
  bomb(
    name,
    () => ({ tools: list(count, (i) => ({ name: `tool ${i}`, inputSchema: argument(make(i)) })) }),
    (page) => ({
      'tools/list': () => {
        const read = toolsPage['~standard'].validate(page)
        if (read instanceof Promise || read.issues !== undefined) return 'no page'
        const { specs, unusable } = redacted(read.value.tools, noSecrets)
        return `${specs.length} usable, ${unusable.length} left out`
      },
    }),
  )

export const schemaBombs: readonly Bomb[] = [
  schema('$ref to itself', () => argument({ $ref: '#/properties/a' })),
  schema('a circle of 3 $refs through anyOf and allOf', () =>
    argument(
      { $ref: '#/$defs/x' },
      {
        $defs: {
          x: { anyOf: [{ $ref: '#/$defs/y' }] },
          y: { allOf: [{ $ref: '#/$defs/z' }] },
          z: { oneOf: [{ $ref: '#/$defs/x' }, { type: 'null' }] },
        },
      },
    ),
  ),
  schema(
    'a schema that holds itself in items and properties',
    () => ({
      type: 'object',
      properties: { a: { $ref: '#' }, b: { type: 'array', items: { $ref: '#' }, minItems: 2 } },
      required: ['a', 'b'],
    }),
    () => nested(200, (b) => ({ a: {}, b: [b, b] })) as Schema,
  ),
  schema('a chain of 5,000 $refs', () =>
    argument(
      { $ref: '#/$defs/d0' },
      {
        $defs: record(
          5000,
          (i) => `d${i}`,
          (i) => ({ $ref: `#/$defs/d${i + 1}` }),
        ),
      },
    ),
  ),
  schema(
    'billion laughs of allOf: 40 levels',
    () => doubling(40, (next) => ({ allOf: [next, next] })),
    () => ({ a: 'x' }),
  ),
  schema(
    'billion laughs of anyOf: 40 levels',
    () => doubling(40, (next) => ({ anyOf: [next, { ...next }] })),
    () => ({ a: 1 }),
  ),
  schema(
    'billion laughs of oneOf: 40 levels',
    () => doubling(40, (next) => ({ oneOf: [next, { ...next }] })),
    () => ({ a: 1 }),
  ),
  schema(
    'billion laughs of lists: 40 levels',
    () => doubling(40, (next) => ({ type: 'array', prefixItems: [next, next], minItems: 2, maxItems: 2 })),
    () => ({ a: nested(30, (inner) => [inner, inner], 'x') }),
  ),
  schema(
    'billion laughs of properties: 40 levels',
    () =>
      doubling(40, (next) => ({ type: 'object', properties: { l: next, r: next }, required: ['l', 'r'] })),
    () => ({ a: nested(20, (inner) => ({ l: inner, r: inner }), 1) }),
  ),
  schema('allOf of 20,000 forms', () =>
    argument({ allOf: list(20_000, (i) => ({ properties: { [`p${i}`]: {} }, required: [`p${i}`] })) }),
  ),
  schema(
    'anyOf of 50,000 forms',
    () => argument({ anyOf: list(50_000, (i) => ({ const: i })) }),
    () => ({ a: 'x' }),
  ),
  schema(
    'oneOf of 3,000 objects',
    () =>
      argument({
        oneOf: list(3000, (i) => ({
          type: 'object',
          properties: { kind: { const: i }, b: { type: 'string' } },
          required: ['kind'],
        })),
      }),
    () => ({ a: { kind: 3001 } }),
  ),
  schema('anyOf in anyOf, 100 deep, 20 wide', () =>
    argument(
      nested(100, (inner) => ({ anyOf: [...list(19, (i) => ({ type: 'integer', minimum: i })), inner] }), {
        type: 'string',
      }),
    ),
  ),
  schema('not in not, 120 deep', () => argument(nested(120, (not) => ({ not }), { type: 'string' }))),
  schema('objects 10,000 deep', () =>
    argument(nested(10_000, (a) => ({ type: 'object', properties: { a }, required: ['a'] }))),
  ),
  schema('items 10,000 deep', () => argument(nested(10_000, (items) => ({ type: 'array', items })))),
  schema(
    '20,000 properties, all required',
    () => ({
      type: 'object',
      properties: record(
        20_000,
        (i) => `property ${i}`,
        () => ({ type: 'string' }),
      ),
      required: list(20_000, (i) => `property ${i}`),
    }),
    () =>
      record(
        20_000,
        (i) => `property ${i}`,
        () => 'x',
      ),
  ),
  schema('required names that are not there: 100,000', () => ({
    type: 'object',
    properties: { a: {} },
    required: list(100_000, (i) => `p${i}`),
  })),
  schema(
    'patternProperties: 1,000 patterns against 1,000 names',
    () => ({
      type: 'object',
      patternProperties: record(
        1000,
        (i) => `^(?:a|b|${i})*$`,
        () => ({ type: 'integer' }),
      ),
      additionalProperties: false,
    }),
    () =>
      record(
        1000,
        (i) => `${'ab'.repeat(40)}${i}`,
        () => 1,
      ),
  ),
  schema(
    'uniqueItems on 100,000 items',
    () => argument({ type: 'array', uniqueItems: true, minItems: 100_000 }),
    () => ({ a: list(100_000, (i) => ({ i: [i % 50_000] })) }),
  ),
  schema(
    'an enum of 50,000 lists against a list of lists',
    () => argument({ items: { anyOf: [{ enum: list(50_000, (i) => [1, 2, 3, { i }]) }, {}] } }),
    () => ({ a: list(1000, () => [1, 2, 3, { i: -1 }]) }),
  ),
  schema(
    'dependentSchemas and if/then/else in a circle',
    () => ({
      type: 'object',
      properties: { a: {} },
      dependentSchemas: { a: { $ref: '#' } },
      ...Object.fromEntries(['if', 'then', 'else'].map((key) => [key, { $ref: '#' }])),
    }),
    () => ({ a: 1 }),
  ),
  schema(
    'contradictory bounds',
    () => ({
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 10, maximum: 1 },
        b: { type: 'string', minLength: 10, maxLength: 1 },
        c: { type: 'array', items: {}, minItems: 10, maxItems: 1 },
        d: { allOf: [{ type: 'string' }, { type: 'integer' }] },
      },
      required: ['a', 'b', 'c', 'd'],
    }),
    () => ({ a: 5, b: 'x', c: [], d: 1 }),
  ),
  schema(
    'minLength of a billion',
    () => argument({ type: 'string', minLength: 1e9 }),
    () => ({ a: 'x' }),
  ),
  schema('maxLength of a billion', () => argument({ type: 'string', maxLength: 1e9, pattern: 'a.*b' })),
  schema('minItems of a billion', () =>
    argument({ type: 'array', items: { type: 'string' }, minItems: 1e9 }),
  ),
  ...[1e-300, 5e-324, 1e308, 0, -1, 3e-16].map((multipleOf) =>
    schema(
      `multipleOf ${multipleOf}`,
      () => argument({ type: 'number', multipleOf, minimum: 0.1, maximum: 1e300 }),
      () => ({ a: 0.3 }),
    ),
  ),
  schema('bounds at the edges of numbers', () =>
    argument({
      type: 'integer',
      minimum: -Number.MAX_VALUE,
      maximum: Number.MAX_VALUE,
      exclusiveMinimum: 2 ** 53,
    }),
  ),
  schema('texts where the keywords want others', () => ({
    type: 'object',
    properties: {
      a: { type: 'string', description: { toString: 1, valueOf: 1 }, minLength: '9', format: ['date'] },
      b: { type: 'array', items: true, minItems: {} },
      c: { enum: [{ toString: 'x' }, [[]], null] },
      toString: { type: 'string', default: { a: 1 } },
      __proto__: { type: 'string' },
      constructor: { description: ['deep'], examples: 'none' },
    },
    required: ['a', 'b', 'c', 'toString', 'constructor'],
  })),
  schema('names of 100,000 characters', () =>
    argument(
      record(
        20,
        (i) => `${'n'.repeat(100_000)}${i}`,
        () => ({ type: 'string' }),
      ),
    ),
  ),
  schema('pointers of 100,000 steps', () => argument({ $ref: `#/properties${'/a'.repeat(100_000)}` })),
  schema('1,000 references with pointers of 1,000 escapes', () => ({
    type: 'object',
    properties: record(
      1000,
      (i) => `p${i}`,
      () => ({ $ref: `#/$defs/${'~1%25'.repeat(1000)}` }),
    ),
    $defs: { ['/%'.repeat(1000)]: { type: 'string' } },
  })),
  schema('a description that repeats what readers look for', () => ({
    type: 'object',
    description: 'SELECT '.repeat(20_000),
    properties: {
      query: { type: 'string', description: 'SELECT directory (a or '.repeat(5000) },
      path: { type: 'string', description: `e.g. ${'"a", '.repeat(20_000)}` },
      unit: { type: 'string', description: `one of ${'a, b or '.repeat(20_000)}` },
    },
    required: ['query', 'path', 'unit'],
  })),
  schema('anyOf of 500,000 forms', () => argument({ anyOf: list(500_000, (i) => ({ minimum: i })) })),
  toolList('2,000 tools with a pattern that cannot be used', 2000, (i) => ({
    type: 'string',
    pattern: `(?:a|b${i}){19000}c{5000}`,
  })),
  toolList('2,000 tools of 40 properties', 2000, (i) => ({
    type: 'object',
    properties: record(
      40,
      (p) => `p${i} ${p}`,
      () => ({ type: 'string' }),
    ),
  })),
]
