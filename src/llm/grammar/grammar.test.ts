import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateArguments } from '../../untrusted/validate.ts'
import { anyCharacter, jsonCharacter, regularExpression, utf8, without } from './regular-expression.ts'
import { createGrammars, packTexts } from './cursor.ts'
import { createAlgebra } from './expression.ts'
import type { Algebra, Expression } from './expression.ts'
import { schemaExpression } from './json-schema.ts'
import { anySchema, pickFrom } from './testing/schemas.ts'

const fits = (algebra: Algebra, expression: Expression, text: string): boolean => {
  let state = expression
  for (const byte of new TextEncoder().encode(text)) state = algebra.derivative(state, byte)
  return state.accepts
}
const compile = (schema: Record<string, unknown>, spaces = false) => {
  const algebra = createAlgebra()
  const expression = schemaExpression(algebra, { schema, spaces })
  return { algebra, expression, allows: (text: string) => fits(algebra, expression, text) }
}
const valid = (schema: Record<string, unknown>, value: unknown): boolean =>
  validateArguments({ type: 'object', properties: { value: schema } }, { value }) === undefined

test('regular expressions match the same as those of JavaScript', () => {
  const patterns = [
    'a|bc',
    '^a.c$',
    '[a-c]{2,3}x*',
    '^(?:ab|c)+$',
    '\\d+\\.\\d{2}$',
    '^[^\\s"]?\\w$',
    'é|\\u{1F600}|\\x41',
    '^$',
    '^\\/[\\w.-]+$',
    '^(?<year>\\d)-|b$',
  ]
  for (const pattern of patterns) {
    const algebra = createAlgebra()
    const found = regularExpression(algebra, pattern, (ranges) => utf8(algebra, ranges), true)
    const expected = new RegExp(pattern, 'u')
    const symbols = fc.constantFrom(...Array.from('abcx1.-/A_ "\né😀'))
    fc.assert(
      fc.property(fc.array(symbols, { maxLength: 5 }), (parts) => {
        const text = parts.join('')
        expect(fits(algebra, found, text), `${pattern} ${JSON.stringify(text)}`).toBe(expected.test(text))
      }),
      { seed: 3, numRuns: 150 },
    )
  }
  const algebra = createAlgebra()
  for (const pattern of ['(?=a)', '\\ba', '(a)\\1', 'a**', '(a', '[a', '\\p{L}', 'a)', 'x^'])
    expect(
      () => regularExpression(algebra, pattern, (ranges) => utf8(algebra, ranges), true),
      pattern,
    ).toThrow('cannot be made into a grammar')
})

test('characters are those of UTF-8 and of JSON strings', () => {
  const algebra = createAlgebra()
  const some = utf8(algebra, [
    [0x61, 0x7ff],
    [0xfffd, 0x10123],
  ])
  const json = jsonCharacter(algebra, anyCharacter)
  for (const code of [
    0, 9, 0x1f, 0x20, 0x22, 0x5c, 0x60, 0x61, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffc, 0xfffd,
    0xffff, 0x10000, 0x10123, 0x10124, 0x10ffff,
  ]) {
    const text = String.fromCodePoint(code)
    const inside = (code >= 0x61 && code <= 0x7ff) || (code >= 0xfffd && code <= 0x10123)
    expect(fits(algebra, some, text), code.toString(16)).toBe(inside)
    expect(fits(algebra, json, JSON.stringify(text).slice(1, -1)), code.toString(16)).toBe(true)
  }
  expect(fits(algebra, json, '"')).toBe(false)
  expect(
    without(
      [[0, 9]],
      [
        [3, 4],
        [9, 12],
      ],
    ),
  ).toEqual([
    [0, 2],
    [5, 8],
  ])
})

test('numbers keep their bounds', () => {
  const bound = fc.oneof(
    fc.integer({ min: -120, max: 120 }),
    fc.integer({ min: -2500, max: 2500 }).map((n) => n / 100),
  )
  const number = fc.oneof(
    fc.integer({ min: -1300, max: 1300 }).map(String),
    fc.integer({ min: -13000, max: 13000 }).map((n) => (n / 100).toFixed(2)),
    fc.integer({ min: -130, max: 130 }).map((n) => (n / 10).toFixed(1)),
  )
  const kinds = fc.subarray(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], {
    minLength: 1,
    maxLength: 2,
  })
  fc.assert(
    fc.property(
      kinds,
      bound,
      bound,
      fc.boolean(),
      fc.array(number, { minLength: 12, maxLength: 12 }),
      (names, a, b, whole, texts) => {
        const schema = {
          type: whole ? 'integer' : 'number',
          ...Object.fromEntries(names.map((name, i) => [name, [a, b][i]])),
        }
        const { allows } = compile(schema)
        for (const text of [...texts, String(a), String(b)]) {
          if (Number(text) === 0 && text.startsWith('-')) continue
          const expected = valid(schema, Number(text)) && !(whole && text.includes('.'))
          expect(allows(text), `${JSON.stringify(schema)} ${text}`).toBe(expected)
        }
      },
    ),
    { seed: 1, numRuns: 40 },
  )
  expect(compile({ type: 'number' }).allows('-12.5e-3')).toBe(true)
  expect(compile({ type: 'number' }).allows('012')).toBe(false)
  expect(compile({ type: 'integer' }).allows('1.0')).toBe(false)
})

const schemas: [Record<string, unknown>, unknown[], unknown[]][] = [
  [
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['b'] },
    [{ b: 1 }, { a: 'x"\n😀', b: -2 }],
    [{}, { a: 'x' }, { b: 1, c: 2 }, { b: 1.5 }],
  ],
  [{ type: 'object', properties: {} }, [{}], [{ a: 1 }]],
  [{ type: 'object' }, [{}, { a: [1, { b: null }] }], [[]]],
  [
    { type: 'object', properties: { a: {} }, additionalProperties: { type: 'boolean' } },
    [
      { a: 'q', b: true },
      { b: true, aa: false },
    ],
    [{ b: 1 }],
  ],
  [
    { type: 'array', items: { enum: ['x', 2, null] }, minItems: 1, maxItems: 2 },
    [['x'], [2, null]],
    [[], ['y'], ['x', 'x', 'x']],
  ],
  [
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }], items: false, minItems: 1 },
    [['a'], ['a', null]],
    [[], [null], ['a', null, 1]],
  ],
  [{ type: ['string', 'null'], maxLength: 2, pattern: '^[a-z]+$' }, ['ab', 'z', null], ['', 'abc', 'A', 1]],
  [{ type: 'string', minLength: 2, maxLength: 3 }, ['😀😀', '"""'], ['a', 'abcd']],
  [{ anyOf: [{ type: 'number' }, { const: { k: [true] } }] }, [1.5, { k: [true] }], [{ k: [] }, 'a']],
  [
    {
      oneOf: [
        { type: 'object', properties: { t: { const: 'a' } }, required: ['t'] },
        { type: 'object', properties: { t: { const: 'b' }, n: { type: 'integer' } }, required: ['t', 'n'] },
      ],
    },
    [{ t: 'a' }, { t: 'b', n: 3 }],
    [{ t: 'b' }, { t: 'a', n: 3 }],
  ],
  [
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/tree' } },
          },
          required: ['name', 'children'],
        },
      },
    },
    [{ name: 'a', children: [{ name: 'b', children: [] }] }],
    [{ name: 'a' }, { name: 'a', children: [{}] }],
  ],
  [
    {
      allOf: [
        { type: 'string', pattern: 'a' },
        { type: 'string', pattern: 'b' },
      ],
    },
    ['ab', 'xbxa'],
    ['a', 'b'],
  ],
  [{ type: 'string', enum: ['apple', 'pear', 3], maxLength: 4 }, ['pear'], ['apple', 3]],
  [{ properties: { x: { type: 'boolean' } }, required: ['x', 'y'] }, [{ x: true, y: 'any' }], [{ x: true }]],
]

test('schemas allow valid values only', () => {
  for (const [schema, good, bad] of schemas) {
    const { allows } = compile(schema)
    for (const value of good) {
      expect(valid(schema, value), JSON.stringify([schema, value])).toBe(true)
      expect(allows(JSON.stringify(value)), JSON.stringify([schema, value])).toBe(true)
    }
    for (const value of bad)
      expect(allows(JSON.stringify(value)), JSON.stringify([schema, value])).toBe(false)
  }
  const spaced = compile({ type: 'array', items: { type: 'object', properties: { a: { const: 1 } } } }, true)
  expect(spaced.allows('[{"a": 1}, {},{"a":1}]')).toBe(true)
  expect(spaced.allows('[{"a":  1}]')).toBe(false)
})

test('bounds can be exclusive as in draft 4', () => {
  const { allows } = compile({ type: 'integer', minimum: 3, exclusiveMinimum: true, maximum: 5 })
  expect(['2', '3', '4', '5', '6'].filter(allows)).toEqual(['4', '5'])
  const plain = compile({ type: 'integer', minimum: 3, exclusiveMinimum: false, maximum: 5 })
  expect(['2', '3', '4'].filter(plain.allows)).toEqual(['3', '4'])
})

test('unsupported keywords are refused with their place', () => {
  const refused: [Record<string, unknown>, string][] = [
    [
      { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } },
      '/properties/a/uniqueItems',
    ],
    [{ type: 'number', multipleOf: 2 }, '/multipleOf'],
    [{ not: { type: 'string' }, type: 'string' }, '/not'],
    [{ type: 'object', patternProperties: { a: {} } }, '/patternProperties'],
    [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, '/oneOf'],
    [{ $ref: '#/nowhere' }, '/$ref'],
    [{ $ref: 'other.json' }, '/$ref'],
    [{ type: 'thing' }, '/type'],
    [{ type: 'integer', minimum: 1e-9 }, '#'],
    [{ type: 'toString' }, '/type'],
    [{ $ref: '#/%E0%A4%A' }, '/$ref'],
    [{ type: 'object', required: [1] }, '/required'],
    [{ allOf: [] }, '/allOf'],
    // Of the wrong kind, a bound would otherwise bound nothing.
    [{ type: 'integer', minimum: '5' }, '/minimum'],
    [{ type: 'number', exclusiveMaximum: true }, '/exclusiveMaximum'],
    [{ type: 'string', minLength: '5' }, '/minLength'],
    [{ type: 'string', maxLength: 2.5 }, '/maxLength'],
    [{ type: 'string', pattern: ['a'] }, '/pattern'],
    [{ type: 'array', items: { type: 'null' }, minItems: -1 }, '/minItems'],
  ]
  for (const [schema, place] of refused) expect(() => compile(schema), place).toThrow(place)
  const grammars = createGrammars(packTexts([undefined]))
  const endless = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }
  for (const schema of [
    false,
    endless,
    { type: 'string', minLength: 3, maxLength: 2 },
    { type: 'string', pattern: '^a$', minLength: 2 },
  ])
    expect(() => grammars.start({ schema })).toThrow('nothing fits')
  expect(() => grammars.start({ token: 5 })).toThrow('not a marker')
})

test('any choice of allowed tokens gives valid text', () => {
  // Bytes, and tokens that reach over the edges of strings, names and numbers.
  const longer = [
    '":"',
    '{"',
    '"}',
    '":',
    ',"',
    'a"',
    '12',
    '.5',
    'ab',
    'true}',
    '[[',
    'é',
    '\\n',
    '"a":',
    'null,',
  ]
  const texts = packTexts([
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...longer.map((text) => new TextEncoder().encode(text)),
    undefined,
  ])
  const grammars = createGrammars(texts)
  let finished = 0
  fc.assert(
    fc.property(anySchema, fc.infiniteStream(fc.nat(2 ** 30)), (schema, numbers) => {
      const { text, complete } = pickFrom(grammars.start({ schema }), texts, 60, () => numbers.next().value!)
      // Where the shortest text does not fit, it is cut.
      if (!complete) return
      finished++
      const value: unknown = JSON.parse(text)
      expect(valid(schema, value), `${JSON.stringify(schema)} ${text}`).toBe(true)
    }),
    { seed: 8, numRuns: 60 },
  )
  expect(finished).toBeGreaterThan(45)
})

test('masks agree with trying every token, and the end is reached in time', () => {
  const words = ['yes', 'no', 'ye', 's', 'n', 'o', 'nope', 'y', 'e']
  const texts = packTexts([...words.map((text) => new TextEncoder().encode(text)), undefined, undefined])
  const cursor = createGrammars(texts).start({
    sequence: [{ choice: ['yes', 'no'] }, { token: 9 }, { repeat: 'no', least: 0, most: 2 }],
  })
  const allowed = (left: number): string[] => {
    const mask = cursor.mask(left)
    return [...words, 'marker', 'other'].filter((_, id) => ((mask[id >> 5] >> (id & 31)) & 1) === 1)
  }
  expect(allowed(100)).toEqual(['yes', 'no', 'ye', 'n', 'y'])
  expect(allowed(2)).toEqual(['yes', 'no', 'ye', 'n'])
  expect(allowed(1)).toEqual(['yes', 'no'])
  cursor.advance(2)
  expect(allowed(100)).toEqual(['s'])
  cursor.advance(3)
  expect(allowed(100)).toEqual(['marker'])
  expect(cursor.accepting).toBe(false)
  cursor.advance(9)
  expect(cursor.accepting).toBe(true)
  expect(allowed(100)).toEqual(['no', 'n'])
  expect(allowed(0)).toEqual(['no'])
  cursor.advance(1)
  cursor.advance(1)
  expect(cursor.complete).toBe(true)
})
