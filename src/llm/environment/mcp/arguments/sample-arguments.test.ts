import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { validateArguments } from '../../../../untrusted/validate.ts'
import { sampleArguments } from './sample-arguments.ts'
import { UnusableSchema } from './schema-parts.ts'
import { wordsOf } from './words.ts'

const words = wordsOf('train')
const draw = (schema: object, seed: number, known: Record<string, unknown>[] = []) =>
  sampleArguments({ ...schema }, { random: createRandom(seed), words, known, reuse: known.length > 0 })

const leaf = fc.oneof(
  fc.record({
    type: fc.constant('string'),
    minLength: fc.constantFrom(1, 12),
    maxLength: fc.constantFrom(12, 40),
  }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('uri', 'email', 'date', 'date-time', 'uuid'),
  }),
  fc.record({
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.integer({ min: -50, max: 5 }),
    maximum: fc.integer({ min: 6, max: 90 }),
  }),
  fc.record({ type: fc.constant('integer'), minimum: fc.constant(3), multipleOf: fc.constantFrom(5, 10) }),
  fc.record({ enum: fc.constantFrom(['a', 'b'], [1, 2], [true]) }),
  fc.constantFrom<object>(
    { type: 'boolean' },
    { const: 'fixed' },
    { $ref: '#/$defs/word' },
    { type: ['string', 'null'] },
  ),
  fc.constantFrom<object>(
    { anyOf: [{ type: 'null' }, { type: 'integer' }] },
    { oneOf: [{ type: 'string', pattern: '^[a-z ]+$' }] },
  ),
)
const schemas = fc.letrec<{ node: object; object: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    tie('object'),
    fc.record({ type: fc.constant('array'), items: tie('node'), minItems: fc.constantFrom(1, 2) }),
  ),
  object: fc
    .dictionary(fc.constantFrom('name', 'path', 'entityType', 'count', 'city', 'tags'), tie('node'), {
      maxKeys: 4,
    })
    .map((properties) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).slice(0, 2),
      additionalProperties: false,
    })),
})).object

test('arguments fit the schema they are drawn from, and the same seed draws the same', () => {
  fc.assert(
    fc.property(schemas, fc.nat(), (object, seed) => {
      const schema = { ...object, $defs: { word: { type: 'string', minLength: 2 } } }
      const args = draw(schema, seed)
      expect(validateArguments(schema, args)).toBeUndefined()
      expect(draw(schema, seed)).toEqual(args)
    }),
    { numRuns: 300 },
  )
})

test('a schema without possible arguments is refused with the place', () => {
  const refused = (properties: object, required: string[]) => () =>
    draw({ type: 'object', properties, required }, 1)
  expect(refused({ code: { type: 'string', pattern: '^(?!a)a$' } }, ['code'])).toThrow(
    /^code: no text .* matches/,
  )
  expect(refused({ a: { type: 'object', properties: {}, required: ['x'] } }, ['a'])).toThrow(
    /^a: requires "x"/,
  )
  expect(refused({ a: { $ref: 'http://elsewhere' } }, ['a'])).toThrow(UnusableSchema)
  expect(refused({ a: { type: 'integer', minimum: 5, maximum: 4 } }, ['a'])).toThrow(/no number between/)
  // An optional property that cannot be made is simply left out.
  expect(draw({ type: 'object', properties: { code: { type: 'string', pattern: '^(?!a)a$' } } }, 1)).toEqual(
    {},
  )
})

test('arguments refer to known records by the names of properties', () => {
  const known = [{ name: 'river', entityType: 'place', observations: ['cold water'] }]
  const object = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })
  const text = { type: 'string' }
  expect(draw(object({ entityName: text }), 1, known)).toEqual({ entityName: 'river' })
  expect(draw(object({ names: { type: 'array', items: text } }), 1, known)).toEqual({ names: ['river'] })
  const deletions = {
    type: 'array',
    items: object({ entityName: text, observations: { type: 'array', items: text } }),
  }
  const args = draw(object({ deletions }), 1, known) as { deletions: object[] }
  expect(args.deletions[0]).toEqual({ entityName: 'river', observations: ['cold water'] })
})

test('making up arguments ends after a number of steps', () => {
  const names = Array.from({ length: 60 }, (_, i) => `p${i}`)
  const levels = ['a', 'b', 'c', 'd'].map((level, i, all) => {
    const next = { $ref: `#/$defs/${all[i + 1] ?? 'leaf'}` }
    const properties = Object.fromEntries(names.map((name) => [name, next]))
    return [level, { type: 'object', properties, required: names }]
  })
  const $defs = { ...Object.fromEntries(levels), leaf: { type: 'boolean' } }
  expect(() =>
    draw({ type: 'object', properties: { a: { $ref: '#/$defs/a' } }, required: ['a'], $defs }, 1),
  ).toThrow(/^its input schema: making up its arguments: it takes more than 1000000 steps$/)
})

test('a pattern that would take for ever is met or refused at once; one that looks ahead is heeded', () => {
  const object = (text: object) => ({ type: 'object', properties: { text }, required: ['text'] })
  const slow = { type: 'string', pattern: '^(a+)+$', examples: [`${'a'.repeat(36)}!`] }
  expect(draw(object(slow), 1)['text']).toMatch(/^a+$/)
  expect(() => draw(object({ ...slow, pattern: '^(a+)+b(?<!b)$' }), 1)).toThrow(
    /^text: no text can be made up that matches/,
  )
  const { text } = draw(object({ type: 'string', pattern: '^(?=.*[A-Z])(?!.*\\d)' }), 1)
  expect(text).toMatch(/^\D*[A-Z]\D*$/)
})

test('definitions that each refer twice to the next are resolved once', () => {
  const defs = Array.from({ length: 30 }, (_, i) => {
    const next = { $ref: `#/$defs/d${i + 1}` }
    return [
      `d${i}`,
      i === 29
        ? { type: 'object', required: ['name'], properties: { name: { const: 'x' } } }
        : { allOf: [next, next] },
    ]
  })
  const schema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    required: ['a'],
    $defs: Object.fromEntries(defs),
  }
  expect(draw(schema, 1)).toEqual({ a: { name: 'x' } })
  expect(() => draw({ type: 'object', anyOf: [{ $ref: '#' }] }, 1)).toThrow(/leads back to where it stands/)
})

test('a property that may be anything gets a text', () => {
  expect(draw({ type: 'object', properties: { title: true }, required: ['title'] }, 1)).toEqual({
    title: expect.any(String),
  })
})

test('dates and times have the form that their description shows, time zones exist', () => {
  const text = (name: string, description: string, seed: number): string =>
    String(
      draw(
        { type: 'object', properties: { [name]: { type: 'string', description } }, required: [name] },
        seed,
      )[name],
    )
  for (let seed = 0; seed < 20; seed++) {
    expect(text('date', 'The day. Format: YYYY-MM-DD', seed)).toMatch(/^20\d\d-[01]\d-[0-3]\d$/)
    expect(text('time', 'e.g. 2025-03-23 12:30:00', seed)).toMatch(
      /^20\d\d-\d\d-\d\d [0-2]\d:[0-5]\d:[0-5]\d$/,
    )
    expect(text('start', '2025-03-23T12:30:00Z', seed)).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(text('time', 'in 24-hour format (HH:MM)', seed)).toMatch(/^[0-2]\d:[0-5]\d$/)
    const zone = text('sourceTimezone', 'IANA name', seed)
    expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
  }
})

test('a tool that changes a record is given its name, and often other values than it has', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, id: { type: 'string' }, email: { type: 'string' } },
    required: ['name', 'id', 'email'],
  }
  const ada = { id: 'c1', name: 'Ada', email: 'ada@example.org' }
  const made = Array.from({ length: 40 }, (_, seed) =>
    sampleArguments(schema, {
      random: createRandom(seed),
      words,
      known: [{ name: 'Bob', email: 'bob@example.org' }, ada],
      reuse: true,
      changes: true,
    }),
  )
  for (const { id } of made) expect(id).toBe('c1')
  const other = made.filter(({ name }) => name !== 'Ada')
  expect(other.length).toBeGreaterThan(5)
  expect(other.length).toBeLessThan(35)
})

test('how long a tool waits is short, and what is to vanish is not waited for', () => {
  const properties = {
    time: { type: 'number', description: 'The time to wait in seconds, at most 30' },
    text: { type: 'string', description: 'The text to wait for' },
    textGone: { type: 'string', description: 'The text to wait for to disappear' },
  }
  for (let seed = 0; seed < 40; seed++) {
    const args = draw({ type: 'object', properties }, seed)
    expect(args['time']).toBeLessThanOrEqual(2)
    expect(args).not.toHaveProperty('textGone')
  }
  // A text that is waited for is one that is there, also where values are made up.
  const known = [{ ref: 'e1', role: 'button', name: 'Order', text: 'Order' }]
  const only = { type: 'object', properties: { text: properties.text }, required: ['text'] }
  for (let seed = 0; seed < 10; seed++)
    expect(
      sampleArguments({ ...only }, { random: createRandom(seed), words, known, reuse: false })['text'],
    ).toBe('Order')
})

test('rows are skipped only where a limit is given', () => {
  const number = { type: 'integer', minimum: 1 }
  const schema = { type: 'object', properties: { offset: number, limit: number } }
  const drawn = Array.from({ length: 60 }, (_, seed) => draw(schema, seed))
  expect(drawn.some((args) => 'offset' in args)).toBe(true)
  expect(drawn.every((args) => !('offset' in args) || 'limit' in args)).toBe(true)
})

test('a statement of SQL is run as usual, since a request says only what it says', () => {
  const properties = {
    operation: { enum: ['select', 'count'] },
    query: { type: 'string', description: 'SQL SELECT statement to run' },
    limit: { type: 'integer' },
    timeout: { type: 'integer', description: 'Seconds' },
  }
  const schema = { type: 'object', properties, required: ['operation', 'query'] }
  for (let seed = 0; seed < 40; seed++) {
    const args = draw(schema, seed)
    expect(Object.keys(args)).toEqual(['operation', 'query'])
    expect(args['operation']).toBe('select')
  }
  const free = Array.from({ length: 40 }, (_, seed) =>
    draw({ ...schema, properties: { ...properties, query: { type: 'string' } } }, seed),
  )
  expect(new Set(free.map((args) => args['operation']))).toEqual(new Set(['select', 'count']))
})

test('a file of which only the path is known is used for paths alone', () => {
  const properties = { path: { type: 'string' }, query: { type: 'string' } }
  for (let seed = 0; seed < 20; seed++) {
    const args = draw({ type: 'object', properties, required: ['path', 'query'] }, seed, [
      { path: '/x/a.js' },
    ])
    expect(args['path']).toBe('/x/a.js')
    expect(args['query']).not.toContain('a.js')
  }
})

test('an example of the description comes before a text of a record under another name', () => {
  const key = { type: 'string', description: 'Name of the key, such as `ArrowLeft` or `a`' }
  const known = [{ ref: 'e1', title: 'Order' }]
  const drawn = Array.from(
    { length: 30 },
    (_, seed) => draw({ type: 'object', properties: { key }, required: ['key'] }, seed, known)['key'],
  )
  expect(drawn).toContain('ArrowLeft')
  expect(drawn).not.toContain('Order')
})

test('of an argument that chooses the action, a question takes those that may read and a change those that may change', () => {
  const schemaOf = (actions: readonly string[]) => ({
    type: 'object',
    properties: { operation: { enum: actions } },
    required: ['operation'],
  })
  const drawn = (actions: readonly string[], wants: 'reads' | 'changes' | undefined) =>
    [
      ...new Set(
        Array.from({ length: 60 }, (_, seed) => {
          const context = { random: createRandom(seed), words, known: [], reuse: false, wants }
          return String(sampleArguments(schemaOf(actions), context)['operation'])
        }),
      ),
    ].toSorted()
  const actions = ['create_role', 'drop_role', 'get', 'check']
  expect(drawn(actions, 'reads')).toEqual(['check', 'get'])
  expect(drawn(actions, 'changes')).toEqual(['check', 'create_role', 'drop_role'])
  expect(drawn(actions, undefined)).toEqual(actions.toSorted())
  // Where none may do it, each is drawn. To add may be to compute.
  expect(drawn(['create', 'drop'], 'reads')).toEqual(['create', 'drop'])
  expect(drawn(['add', 'subtract'], 'reads')).toEqual(['add', 'subtract'])
})

test('steps that no number can take are those of any number, or refused', () => {
  const number = (more: object) => ({
    type: 'object',
    properties: { a: { type: 'number', ...more } },
    required: ['a'],
  })
  for (const multipleOf of [0, -1, 1e-300, 5e-324, 1e308, 3e-16])
    for (const bounds of [{}, { minimum: 0.1, maximum: 1e300 }, { minimum: -1.7e308 }])
      for (let seed = 0; seed < 5; seed++)
        try {
          expect(Number.isFinite(draw(number({ multipleOf, ...bounds }), seed)['a'])).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(UnusableSchema)
        }
  expect(draw(number({ multipleOf: 0, minimum: 3, maximum: 3 }), 1)).toEqual({ a: 3 })
})

test('descriptions that are no texts say nothing', () => {
  const odd = { type: 'string', description: { toString: 1, valueOf: 1 } }
  const properties = {
    a: odd,
    wait: { type: 'number', description: { toString: 1 } },
    action: { enum: [{ toString: 1 }] },
  }
  for (const required of [[], Object.keys(properties)])
    for (let seed = 0; seed < 5; seed++)
      expect(draw({ type: 'object', properties, required }, seed)).toBeTypeOf('object')
})

test('the forms of an allOf add up, however many they are', () => {
  const allOf = Array.from({ length: 250 }, (_, i) => ({
    properties: { [`p${i}`]: { const: i } },
    required: [`p${i}`],
  }))
  expect(
    Object.keys(draw({ type: 'object', allOf, properties: { own: { const: 0 } }, required: ['own'] }, 1)),
  ).toHaveLength(251)
  const many = Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: 'string' }])
  expect(() =>
    draw({ type: 'object', properties: Object.fromEntries(many), required: many.map(([name]) => name) }, 1),
  ).toThrow(UnusableSchema)
})
