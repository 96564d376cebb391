// Schemas and patterns that explode, as the form of an answer and as tools.
import { base, chat } from './endpoint-fields.ts'
import { either, type Expected, legal, refused } from './judge.ts'
import { type AskedAs, type Attempt, type Kind, listOf, post } from './kinds.ts'

type Schema = Readonly<Record<string, unknown>>
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Patterns on which backtracking takes forever, or of which an automaton has very many states. */
const patterns: readonly string[] = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(.*)*x$',
  '^([a-zA-Z]+)*$',
  '^(a|aa)+$',
  '^(x+x+)+y$',
  '(.*){1,32000}[bc]',
  '^((a*)*)*$',
  '^(a|b)*a(a|b){20}$',
  '^(a|b)*a(a|b){200}$',
  '^(a{1,100}){1,100}$',
  '^(a{1,1000}){1,1000}$',
  '^a{1000000}$',
  '^a{0,4294967295}$',
  '^(?=a)(?=b)c$',
  '^(a)\\1$',
  '^(?<!a)b$',
  '^\\p{L}+$',
  '^[\\s\\S]{100000}$',
  '^(?<n>a)\\k<n>$',
  '((((((((((',
  '[',
  '(?<',
  'a**',
  '\\',
  '^[z-a]$',
  '{1}',
  '(?:',
  '^(((((((((a?)+)+)+)+)+)+)+)+)+$',
  '\0',
  '\ud800',
  `^${'(a|'.repeat(1000)}b${')'.repeat(1000)}$`,
  `^${'a?'.repeat(2000)}${'a'.repeat(2000)}$`,
  'x'.repeat(100_000),
  `^(${times(5000, (i) => `w${i}`).join('|')})$`,
  `^${'[a-z]'.repeat(5000)}$`,
  `^${'(a*)'.repeat(2000)}$`,
]

const nested = (depth: number): Schema =>
  times(depth, (i) => i).reduce<Schema>(
    (inner) => ({ type: 'object', properties: { a: inner }, required: ['a'] }),
    { type: 'string' },
  )

const chain = (length: number): Schema => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    times(length, (i) => [`d${i}`, i === length - 1 ? { type: 'string' } : { $ref: `#/$defs/d${i + 1}` }]),
  ),
})

/** Definitions that each hold two of the next: 2^30 parts when written out. */
const doubling: Schema = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    times(30, (i) => [
      `d${i}`,
      i === 29
        ? { type: 'null' }
        : { type: 'array', prefixItems: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  ),
}

const holding = (...schemas: Schema[]): Schema => ({ allOf: schemas })
const exploding = (offset: number, before = ''): Schema =>
  holding(...times(12, (i) => ({ type: 'string', pattern: `^(${before}(a|b)*a(a|b){${i + offset}})$` })))

const bombs: readonly (readonly [string, Schema])[] = [
  ...patterns.map((pattern) => [`pattern ${pattern.slice(0, 30)}`, { type: 'string', pattern }] as const),
  ['60 levels', nested(60)],
  ['80 levels', nested(80)],
  ['patterns that hold together', exploding(4)],
  ['patterns that explode at the first token', exploding(4, 'c|b')],
  [
    'a cycle of references',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  ],
  ['a reference to itself', { $ref: '#' }],
  [
    'a cycle through allOf',
    { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { type: 'string' }] } }, $ref: '#/$defs/a' },
  ],
  ['a list of itself', { type: 'array', items: { $ref: '#' }, minItems: 1 }],
  [
    'a tree',
    { type: 'object', properties: { l: { $ref: '#' }, r: { $ref: '#' } }, additionalProperties: false },
  ],
  ['a chain of 5,000 references', chain(5000)],
  ['definitions that double 30 times', doubling],
  ['a reference to another machine', { $ref: 'http://169.254.169.254/latest/meta-data' }],
  ['a reference to a file', { $ref: 'file:///etc/passwd' }],
  ['a reference to nothing', { $ref: '#/$defs/none' }],
  ['a reference to __proto__', { $ref: '#/__proto__' }],
  ['an enum of 20,000', { enum: times(20_000, (i) => `item ${i}`) }],
  ['an enum of 60,000', { enum: times(60_000, (i) => `item ${i}`) }],
  ['an enum of one text of 1 MB', { enum: ['x'.repeat(1_000_000)] }],
  ['no value', { enum: [] }],
  [
    'anyOf 5,000',
    { anyOf: times(5000, (i) => ({ type: 'object', properties: { [`p${i}`]: { type: 'integer' } } })) },
  ],
  [
    '5,000 required properties',
    {
      type: 'object',
      properties: Object.fromEntries(times(5000, (i) => [`p${i}`, {}])),
      required: times(5000, (i) => `p${i}`),
    },
  ],
  [
    'a property __proto__',
    {
      type: 'object',
      properties: JSON.parse('{"__proto__":{"type":"string"}}') as Schema,
      required: ['__proto__'],
    },
  ],
  ...(
    [
      ['minLength', 'string'],
      ['maxLength', 'string'],
      ['minItems', 'array'],
      ['maxItems', 'array'],
      ['minProperties', 'object'],
    ] as const
  ).flatMap(([word, type]) =>
    [1e9, -1, 1.5, 1e300].map((value) => [`${word}: ${value}`, { type, [word]: value }] as const),
  ),
  ['a minimum above the maximum', { type: 'integer', minimum: 5, maximum: 1 }],
  ['a range of 10^300', { type: 'integer', minimum: -1e300, maximum: 1e300 }],
  ['a range near 0', { type: 'number', exclusiveMinimum: 0, maximum: 5e-324 }],
  ['multipleOf 1e-300', { type: 'number', multipleOf: 1e-300 }],
  [
    'patternProperties',
    { type: 'object', patternProperties: { '^(a+)+$': {}, '^(a|a)*b$': { type: 'string' } } },
  ],
  ['not', { not: {} }],
  ['not not not', { not: { not: { not: {} } } }],
  [
    'if, then, else',
    JSON.parse('{"if":{"type":"string"},"then":{"minLength":3},"else":{"minimum":3}}') as Schema,
  ],
  ['an unknown type', { type: 'strin' }],
  ['a type of types', { type: ['string', ['number']] }],
  ['words of wrong types', { type: 'object', properties: [], required: 'a', additionalProperties: 'x' }],
  ['a schema that is no schema', { properties: { a: 5 } }],
  ['oneOf that overlaps', { oneOf: times(50, () => ({ type: 'string' })) }],
  ['contains', { type: 'array', contains: { const: 1 }, minContains: 1e9 }],
  ['uniqueItems', { type: 'array', items: { enum: times(500, String) }, uniqueItems: true, minItems: 400 }],
]

const formOf = (schema: unknown): Schema => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
})
const asked = (fields: Schema): AskedAs => post(chat, { ...base, max_tokens: 4, ...fields })

/** With a schema of 5,000 levels, which `JSON.stringify` could not write. */
function deep(fields: Schema): AskedAs {
  const levels = `${'{"type":"object","properties":{"a":'.repeat(5000)}{}${'}}'.repeat(5000)}`
  return post(chat, JSON.stringify({ ...base, ...fields }).replace('"THE SCHEMA"', levels))
}

/** Each may take its grammar seconds to be refused. */
const quickShare = 1 / 8

/** Every bomb as the form of the answer. */
export const forms: Kind = listOf(
  'schemas as response_format',
  () => [
    ...bombs.map(([what, schema]) => ({
      what,
      expected: either(/response_format|too many parts/),
      asked: asked(formOf(schema)),
    })),
    { what: '5,000 levels', expected: refused(/deep/), asked: deep(formOf('THE SCHEMA')) },
    ...[true, false, 5, 'x', [], null].map((schema) => ({
      what: `schema: ${JSON.stringify(schema)}`,
      expected: refused(/response_format/),
      asked: asked(formOf(schema)),
    })),
    {
      what: 'json_object for 32 rows',
      expected: legal(),
      asked: asked({ response_format: { type: 'json_object' }, n: 32 }),
    },
    {
      what: 'patterns that explode, in 32 rows and a stream',
      expected: { status: [200, 400] },
      asked: asked({ ...formOf(exploding(5, 'c|b')), n: 32, stream: true }),
    },
  ],
  quickShare,
)

const toolOf = (name: string, parameters?: unknown, more: Schema = {}): Schema => ({
  type: 'function',
  function: { name, ...(parameters === undefined ? {} : { parameters }), ...more },
})

/** Every bomb as the arguments of a tool that must be called, and many tools. */
export const tools: Kind = listOf(
  'tools',
  () => {
    const one = (
      what: string,
      fields: Schema,
      expected: Expected = either(/tool|messages|too many parts/),
    ): Attempt => ({
      what,
      expected,
      asked: asked(fields),
    })
    const names = [
      '',
      ' ',
      '__proto__',
      'constructor',
      'a"b',
      'a\nb',
      '\u0000',
      '\ud800',
      '<|end|>',
      '😀',
      'x'.repeat(100_000),
    ]
    return [
      ...bombs.map(([what, schema]) => one(what, { tools: [toolOf('t', schema)], tool_choice: 'required' })),
      {
        what: '5,000 levels',
        expected: refused(/deep/),
        asked: deep({ tools: [toolOf('t', 'THE SCHEMA')] }),
      },
      ...[10, 100, 1000, 5000, 20_000].flatMap((count) => [
        one(`${count} tools`, { tools: times(count, (i) => toolOf(`t${i}`)) }, either()),
        one(
          `${count} tools, one required`,
          { tools: times(count, (i) => toolOf(`t${i}`)), tool_choice: 'required' },
          either(),
        ),
      ]),
      one('100 tools of 20 properties', {
        tools: times(100, (i) =>
          toolOf(`t${i}`, {
            type: 'object',
            properties: Object.fromEntries(times(20, (j) => [`p${j}`, { type: 'string' }])),
          }),
        ),
      }),
      ...names.map((name) =>
        one(`the name ${JSON.stringify(name.slice(0, 20))}`, {
          tools: [toolOf(name)],
          tool_choice: 'required',
        }),
      ),
      one('the same name twice', { tools: [toolOf('a'), toolOf('a')], tool_choice: 'required' }),
      one('a description of 1 MB', { tools: [toolOf('a', {}, { description: 'x'.repeat(1_000_000) })] }),
      one(
        'a choice that is no tool',
        { tools: [toolOf('a')], tool_choice: { type: 'function', function: { name: 'b' } } },
        refused(/tool_choice/),
      ),
      one('a choice without tools', { tool_choice: 'required' }, refused(/tool_choice/)),
      one('the choice __proto__', { tools: [toolOf('a')], tool_choice: '__proto__' }, refused(/tool_choice/)),
      one('a tool of another type', { tools: [{ type: 'web_search' }] }, refused(/tools/)),
    ]
  },
  quickShare,
)
