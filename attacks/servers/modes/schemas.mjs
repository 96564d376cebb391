// Attacks by the schemas of tools: they are none, they are deep, they never end, they ask for too much.
import { given, object } from './tools.mjs'

/** A tool whose schema is nested so many levels deep. It is written as text: JSON.stringify would not get so far. */
const nested = (levels) => ({
  answers: {
    'tools/list'(_, server, id) {
      const deep = `${'{"type":"object","properties":{"in":'.repeat(levels)}{}${'}}'.repeat(levels)}`
      const tools = `[${JSON.stringify(server.listed()[0])},{"name":"look","inputSchema":${deep}}]`
      server.write(`{"jsonrpc":"2.0","id":${id},"result":{"tools":${tools}}}\n`)
    },
  },
})

/** Each definition names the one before twice: the whole is 2^levels as large. */
function doubled(levels) {
  const $defs = { at0: { type: 'string' } }
  for (let level = 1; level <= levels; level++) {
    const before = { $ref: `#/$defs/at${level - 1}` }
    $defs[`at${level}`] = { type: 'object', properties: { a: before, b: before }, required: ['a', 'b'] }
  }
  return { ...object({ all: { $ref: `#/$defs/at${levels}` } }), $defs }
}

const texts = (...patterns) =>
  patterns.map((pattern, at) => given(`look_${at}`, object({ word: { type: 'string', pattern } })))
const asks = (...schemas) => schemas.map((schema, at) => given(`look_${at}`, object({ word: schema })))
const choices = (length) => Array.from({ length }, (_, index) => `choice ${index}`)

export const schemas = {
  'schemas-no-objects': {
    tools: [null, 5, 'object', [], true, {}, { type: 'array' }, { type: ['object'] }, { type: 'string' }].map(
      (schema, at) => given(`look_${at}`, schema),
    ),
  },
  'schemas-odd-parts': {
    tools: [
      { properties: 5 },
      { properties: [] },
      { properties: { word: null } },
      { properties: { word: 7 }, required: ['word'] },
      { properties: { word: { type: 'strnig' } }, required: ['word'] },
      { properties: { word: { enum: 5 } }, required: ['word'] },
      { properties: { word: { enum: [] } }, required: ['word'] },
      { properties: { word: { type: 'string', minLength: -1, maxLength: 'x' } }, required: ['word'] },
      { properties: {}, required: 'word' },
      { properties: {}, required: [null, 'word', 'word'] },
      { properties: { word: false }, required: ['word'] },
      { allOf: 7, anyOf: {}, oneOf: [], not: {} },
      { properties: { word: { anyOf: [] } }, required: ['word'] },
      { $ref: 7 },
    ].map((schema, at) => given(`look_${at}`, { type: 'object', ...schema })),
  },
  'schemas-deep': nested(5000),
  'schemas-very-deep': nested(60_000),
  'schemas-ref-cycles': {
    tools: [
      given('look_0', { type: 'object', $ref: '#' }),
      given('look_1', {
        ...object({ word: { $ref: '#/$defs/a' } }),
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      }),
      given('look_2', object({ word: { $ref: '#/properties/word' } })),
      given('look_3', {
        ...object({ word: { $ref: '#/$defs/a' } }),
        $defs: { a: object({ in: { $ref: '#/$defs/a' } }) },
      }),
      given('look_4', object({ word: { $ref: 'https://example.com/schema.json' } })),
      given('look_5', object({ word: { $ref: '#/$defs/__proto__' } })),
    ],
  },
  'schemas-ref-doubling': { tools: [given('look', doubled(40)), given('seek', doubled(12))] },
  'patterns-backtracking': {
    tools: texts(
      '^(a+)+$',
      '^(a|a)*b$',
      '^(\\w+\\s?)*$',
      '^(?=(a+)+b)a*$',
      '(.*a){25}',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '(a)\\1',
    ),
  },
  'patterns-huge': {
    tools: texts(
      '^a{1000000}$',
      '^(a{1000}){1000}$',
      '^((a{100}){100}){100}$',
      `^${'(a|b)?'.repeat(20_000)}$`,
      `^${'('.repeat(50_000)}`,
      '[',
      '(?<',
    ),
  },
  'patterns-many': {
    tools: Array.from({ length: 300 }, (_, at) =>
      given(`look_${at}`, object({ word: { type: 'string', pattern: `^(a{1,${at + 50}}b?){1,60}$` } })),
    ),
  },
  'enums-100000': {
    tools: [
      given('look', object({ word: { enum: choices(100_000) } })),
      given(
        'seek',
        object({ word: { type: 'array', items: { enum: choices(100_000) }, uniqueItems: true } }),
      ),
    ],
  },
  'properties-50000': {
    tools: [
      given('look', object(Object.fromEntries(choices(50_000).map((name) => [name, { type: 'string' }])))),
      given('seek', object(Object.fromEntries(choices(2000).map((name) => [name, { type: 'string' }])))),
    ],
  },
  'schemas-ask-for-much': {
    tools: asks(
      { type: 'string', minLength: 1e9 },
      { type: 'array', items: { type: 'string' }, minItems: 1e9 },
      { type: 'object', minProperties: 1e9 },
      { type: 'number', multipleOf: 1e-300 },
      { type: 'integer', minimum: 1e308, maximum: 1.7e308 },
      { type: 'integer', minimum: 5, maximum: 4 },
      { type: 'string', minLength: 90_000_000, pattern: '^a+$' },
      { type: 'array', minItems: 3000, items: { type: 'array', minItems: 3000, items: { type: 'string' } } },
      { type: 'array', uniqueItems: true, minItems: 50, items: { enum: ['a', 'b'] } },
    ),
  },
  'schemas-many-alternatives': {
    tools: [
      given('look', object({ word: { anyOf: choices(30_000).map((word) => ({ const: word })) } })),
      given('seek', object({ word: { allOf: choices(5000).map(() => ({ type: 'string' })) } })),
      given(
        'find',
        object({
          word: { oneOf: choices(200).map((word) => ({ oneOf: choices(200).map(() => ({ const: word })) })) },
        }),
      ),
    ],
  },
}
