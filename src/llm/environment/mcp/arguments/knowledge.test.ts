import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { limitedWork } from '../../../../untrusted/linear-pattern.ts'
import { validateArguments } from '../../../../untrusted/validate.ts'
import { createKnowledge, type Knowledge } from './knowledge.ts'
import { textFromPattern } from './pattern-text.ts'
import { sampleArguments } from './sample-arguments.ts'
import { tablesIn } from './sql-tables.ts'
import { wordsOf } from './words.ts'

const words = wordsOf('train')

interface Server {
  properties: Record<string, object>
  required?: string[]
  description?: string
  /** The error of a call; undefined if it is right. */
  refuses: (args: Record<string, unknown>) => string | undefined
}

function use(
  { properties, required = Object.keys(properties), description = '', refuses }: Server,
  tries: number,
) {
  const inputSchema = { type: 'object', properties, required }
  const knowledge = createKnowledge({ tools: [{ name: 'tool', description, inputSchema }] })
  const worked: boolean[] = []
  for (let seed = 0; seed < tries; seed++) {
    const args = sampleArguments(inputSchema, { random: createRandom(seed), words, known: [], reuse: false })
    expect(validateArguments(inputSchema, args)).toBeUndefined()
    const error = refuses(args)
    worked.push(error === undefined)
    knowledge.learn('tool', args, { text: error ?? 'fine', isError: error !== undefined })
  }
  return { worked, knowledge, inputSchema }
}

const text = { type: 'string' }

test('what an error message asks for is heeded in the next try', () => {
  const units = ['km', 'mi']
  const one = use(
    {
      properties: { unit: text },
      refuses: ({ unit }) => (units.includes(String(unit)) ? undefined : `"unit" must be one of: km, mi`),
    },
    6,
  )
  expect(one.worked.slice(1)).toEqual([true, true, true, true, true])
  const range = use(
    {
      properties: { n: { type: 'number' } },
      refuses: ({ n }) => (Number(n) >= 500 ? undefined : 'n must be between 500 and 600'),
    },
    6,
  )
  expect(range.worked.slice(1)).toEqual([true, true, true, true, true])
  const missing = use(
    {
      properties: { city: text, country: text },
      required: ['city'],
      refuses: ({ country }) => (country === undefined ? "'country' is required" : undefined),
    },
    12,
  )
  expect(missing.worked.slice(-8)).toEqual(Array.from({ length: 8 }, () => true))
})

test('where the message says nothing, other kinds of values are tried, and what worked is used more', () => {
  const { worked } = use(
    { properties: { thing: text }, refuses: ({ thing }) => (/^\d+$/.test(String(thing)) ? undefined : 'no') },
    80,
  )
  const good = (part: boolean[]): number => part.filter(Boolean).length
  expect(good(worked.slice(40))).toBeGreaterThan(24)
  expect(good(worked.slice(40))).toBeGreaterThan(good(worked.slice(0, 40)))
})

test('after learning has ended the same draws give the same arguments', () => {
  const { knowledge, inputSchema } = use({ properties: { unit: text }, refuses: () => 'no' }, 3)
  const draw = () => sampleArguments(inputSchema, { random: createRandom(9), words, known: [], reuse: false })
  knowledge.settle()
  const before = draw()
  for (let time = 0; time < 20; time++) {
    const args = draw()
    expect(knowledge.learn('tool', args, { text: '"unit" must be one of: km, mi', isError: true })).toBe(
      false,
    )
  }
  expect(draw()).toEqual(before)
})

test('examples of the configuration are used as they are and as a source of values; splits share none of many', () => {
  const inputSchema = {
    type: 'object',
    properties: { code: text, n: { type: 'number' } },
    required: ['code', 'n'],
  }
  const examples = Array.from({ length: 30 }, (_, n) => ({ code: `X-${n}`, n }))
  const knowledge: Knowledge = createKnowledge({
    tools: [{ name: 'tool', inputSchema }],
    examples: { tool: examples },
  })
  const whole = (split: 'train' | 'test') =>
    Array.from({ length: 200 }, (_, seed) =>
      sampleArguments(inputSchema, {
        random: createRandom(seed),
        words: wordsOf(split),
        known: [],
        reuse: false,
      }),
    ).filter(({ code, n }) => code === `X-${Number(n)}`)
  const [train, test] = [whole('train'), whole('test')].map((list) => new Set(list.map(({ n }) => n)))
  expect(train.size).toBeGreaterThan(5)
  expect(test.size).toBeGreaterThan(2)
  expect(knowledge.examples('other')).toEqual([])
  // A wrong example is not used.
  createKnowledge({ tools: [{ name: 'tool', inputSchema }], examples: { tool: [{ code: 7 }] } })
  for (let seed = 0; seed < 10; seed++)
    expect(
      validateArguments(
        inputSchema,
        sampleArguments(inputSchema, { random: createRandom(seed), words, known: [], reuse: false }),
      ),
    ).toBeUndefined()
})

test('SQL is about the tables that are known: a table first, then rows, then what reads them', () => {
  const properties = { query: { type: 'string', description: 'SQL query' } }
  const schema = (name: string, description: string) => {
    const inputSchema = { type: 'object', properties, required: ['query'] }
    createKnowledge({ tools: [{ name, description, inputSchema }] })
    return inputSchema
  }
  const draw = (inputSchema: object, known: Record<string, unknown>[], seed: number): string =>
    String(
      sampleArguments({ ...inputSchema }, { random: createRandom(seed), words, known, reuse: true })['query'],
    )
  const create = schema('create_table', 'Create a table. CREATE TABLE statement')
  const insert = schema('write_query', 'Execute an INSERT query')
  const select = schema('read_query', 'Execute a SELECT query')
  const statement = sampleArguments(create, { random: createRandom(1), words, known: [], reuse: false })
  expect(statement['query']).toMatch(/^CREATE TABLE \w+ \(id INTEGER PRIMARY KEY, \w+ \w+, \w+ \w+\)$/)
  const shops = { table: 'shops', columns: ['id INTEGER PRIMARY KEY', 'city TEXT', 'year INTEGER'] }
  const row = { id: 1, city: "Val d'Or", year: 1990 }
  for (let seed = 0; seed < 40; seed++) {
    const values = sampleArguments(insert, { random: createRandom(seed), words, known: [shops], reuse: true })
    expect(values['query']).toMatch(/^INSERT INTO shops \(city, year\) VALUES \('[^']+', \d+\)$/)
    const read = sampleArguments(select, {
      random: createRandom(seed),
      words,
      known: [shops, row],
      reuse: true,
    })
    expect(read['query']).toMatch(
      /^SELECT (?:\*|id|city|year|COUNT\(\*\) AS total|(?:SUM|MIN|MAX|AVG)\(year\) AS result) FROM shops(?: WHERE (?:city = 'Val d''Or'|(?:id|year) [=<>]+ \d+))?(?: ORDER BY (?:id|city|year)(?: DESC)?)?$/,
    )
    expect(draw(select, [], seed)).toMatch(/^\w/)
  }
})

test.each([
  '^Q\\d{3}$',
  '^[A-Z]{2}-\\d+$',
  '^(?:red|blue)(-dark)?$',
  '^[^\\s@]+@[a-z]+\\.(com|org)$',
  '\\d{4}-\\d{2}',
  '^[0-9a-f]{8}$',
])('a text is written out from the pattern %s', (pattern) => {
  for (let seed = 0; seed < 30; seed++)
    expect(textFromPattern(pattern, createRandom(seed), limitedWork(10_000))).toMatch(new RegExp(pattern))
})

test('a pattern that cannot be written out, or only at great length, gives no text', () => {
  for (const pattern of ['^(.)\\1$', '\\p{L}', '(((', '[a-', 'a{99999}', '(a{99}){99}', '('.repeat(100)])
    expect(textFromPattern(pattern, createRandom(1), limitedWork(100_000)), pattern).toBeUndefined()
})

test('a forbidden property is given no more, and no more is forbidden after learning has ended', () => {
  const { knowledge, inputSchema } = use(
    { properties: { text, file: text }, required: ['text'], refuses: () => undefined },
    1,
  )
  const given = (): number =>
    Array.from({ length: 40 }, (_, seed) =>
      sampleArguments(inputSchema, { random: createRandom(seed), words, known: [], reuse: false }),
    ).filter((args) => 'file' in args).length
  expect(given()).toBeGreaterThan(0)
  knowledge.forbid('tool', 'file')
  expect(given()).toBe(0)
  knowledge.settle()
  knowledge.forbid('tool', 'text')
  expect(knowledge.hints('tool', 'text')).toBeUndefined()
})

test('an optional property that fails in one tool is given less in another that describes it alike', () => {
  const described = (description: string): Record<string, object> => ({
    connection: { ...text, description },
    label: { ...text, description: 'A label' },
  })
  const schemas = [
    described('Where the database is'),
    described('Where the database is'),
    described('A name'),
  ]
  const tools = schemas.map((properties, at) => ({
    name: `tool ${at}`,
    inputSchema: { type: 'object', properties },
  }))
  const knowledge = createKnowledge({ tools })
  const shareOf = (at: number): number => {
    const drawn = Array.from({ length: 200 }, (_, seed) =>
      sampleArguments(tools[at].inputSchema, { random: createRandom(seed), words, known: [], reuse: false }),
    )
    return drawn.filter((args) => 'connection' in args).length / drawn.length
  }
  const before = shareOf(1)
  for (let seed = 0; seed < 20; seed++) {
    const args = sampleArguments(tools[0].inputSchema, {
      random: createRandom(seed),
      words,
      known: [],
      reuse: false,
    })
    knowledge.learn('tool 0', args, { text: 'failed', isError: 'connection' in args })
  }
  expect(before).toBeGreaterThan(0.3)
  expect(shareOf(1)).toBeLessThan(before / 3)
  expect(shareOf(2)).toBeGreaterThan(0.3)
})

test('a key that the database does not fill itself is given, even where a result calls it a key', () => {
  const exact = { table: 'boats', columns: ['id integer', 'name text'], exact: true }
  const guessed = { table: 'boats', columns: ['id INTEGER PRIMARY KEY', 'name TEXT'] }
  for (const records of [
    [exact, guessed],
    [guessed, exact],
  ])
    expect(tablesIn(records)[0].columns.map(({ generated }) => generated)).toEqual([false, false])
  expect(tablesIn([guessed])[0].columns.map(({ generated }) => generated)).toEqual([true, false])
})
