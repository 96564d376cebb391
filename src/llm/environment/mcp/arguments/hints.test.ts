import { expect, test } from 'vitest'
import { type Hints, hintsOfDescription } from './hints.ts'
import { topicOf, topicOfExample } from './topics.ts'

const descriptions: [string, Hints][] = [
  ["IANA time zone, e.g. 'Europe/London'", { examples: ['Europe/London'] }],
  ['The unit to convert to (for example km, mi)', { examples: ['km', 'mi'] }],
  ['Order of the results. One of: asc, desc', { values: ['asc', 'desc'] }],
  ["Priority ('low', 'medium', 'high')", { values: ['low', 'medium', 'high'] }],
  ['Allowed values: "open", "closed" or "all"', { values: ['open', 'closed', 'all'] }],
  ['Number of links to return (1-10)', { low: 1, high: 10 }],
  ['A number between 5 and 1,000', { low: 5, high: 1000 }],
  ['At most 20 results', { high: 20 }],
  ['Must be greater than 0', { low: 1 }],
  ['A positive integer', { low: 1 }],
  ['The day in YYYY-MM-DD format', { moment: 'YYYY-MM-DD' }],
  ['Date as DD/MM/YYYY', { moment: 'DD/MM/YYYY' }],
  ['Start time (HH:mm)', { moment: 'HH:mm' }],
  ['Text to search for', {}],
  ['The name of the entity', {}],
]

test.each(descriptions)('what a description says: %s', (description, hints) => {
  expect(hintsOfDescription(description)).toEqual(hints)
})

test('the topic of a text follows from its name, its description and its tool', () => {
  const expected: [Parameters<typeof topicOf>, ReturnType<typeof topicOf>][] = [
    [['sourceTimezone'], 'zone'],
    [['currency', 'ISO 4217 code'], 'currency'],
    [['from', 'ISO 4217 currency code'], 'currency'],
    [['query', '', 'read_query Execute a SELECT query on the database'], 'sql'],
    [['query', 'The search query', 'search_nodes Search for nodes'], undefined],
    [['path', '', 'list_directory Get a listing of all files'], 'directory'],
    [['path', '', 'read_file Read a file; works within allowed directories'], 'path'],
    [['pattern', 'glob pattern to match'], 'glob'],
    [['expression', 'Expression to evaluate'], 'expression'],
    [['code', 'JavaScript code to run'], 'code'],
    [['data', 'A JSON string with the record'], 'json'],
    [['dueDate'], 'date'],
    [['x'], undefined],
  ]
  for (const [given, topic] of expected) expect(topicOf(...given), given.join(' | ')).toBe(topic)
  const examples = [
    'Europe/Paris',
    '2024-01-31',
    'a@b.org',
    '#ff0000',
    'src/a.ts',
    'SELECT 1',
    '2 + 3 * 4',
    'river',
  ]
  expect(examples.map(topicOfExample)).toEqual([
    'zone',
    'date',
    'email',
    'colour',
    'path',
    'sql',
    'expression',
    undefined,
  ])
})
