import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import type { Task } from '../../../agent/types.ts'
import type { Asked } from './asked-words.ts'
import { article, inNumber, participle, plural, singular } from './inflect.ts'
import { renderRequest } from './request.ts'
import { type RequestStep, speechOf } from './step-words.ts'

const text = { type: 'string' }
const list = { type: 'array', items: text }
function tool(name: string, description: string, properties: Record<string, object>): ToolSpec {
  return { name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) } }
}
const specs = [
  tool('create_entities', 'Create multiple new entities in the knowledge graph', {
    entities: {
      type: 'array',
      items: { type: 'object', properties: { name: text, entityType: text, observations: list } },
    },
  }),
  tool('get_contact', 'Returns a contact', { contactId: text }),
  tool('delete_contact', 'Deletes a contact', { contactId: text }),
  tool('list_contacts', 'Lists all contacts', {}),
  tool('get-sum', 'Returns the sum of two numbers', { a: { type: 'number' }, b: { type: 'number' } }),
  tool('sub', 'Subtract two numbers', { a: { type: 'number' }, b: { type: 'number' } }),
  tool('setTaskStatus', 'Sets the status of a task', {
    taskId: text,
    newStatus: { enum: ['in_progress', 'done'] },
  }),
]
const speech = speechOf(specs)
const splits = ['train', 'validation', 'test'] as const

function requests(
  steps: readonly RequestStep[],
  asked: Asked | undefined,
  split: Task['split'],
  count = 300,
  isRare = false,
) {
  return Array.from({ length: count }, (_, seed) => {
    const text = renderRequest(speech, steps, asked, split, createRandom(seed, split), isRare)
    if (text === undefined) throw new Error('no composition for the split')
    return text
  })
}

const adding: RequestStep[] = [
  {
    tool: 'create_entities',
    arguments: { entities: [{ name: 'river', entityType: 'place', observations: ['cold water', 'blue'] }] },
    effect: 'adds',
  },
]
const reading: RequestStep[] = [{ tool: 'get_contact', arguments: { contactId: 'c1' } }]
const summing: RequestStep[] = [{ tool: 'get-sum', arguments: { a: 17, b: 4 }, result: 'The sum is 21.' }]
const email: Asked = { form: 'field', of: 'email' }

test('splits share no request, and each has many', () => {
  for (const [steps, asked] of [
    [adding, undefined],
    [reading, email],
    [summing, { form: 'number' }],
    [[{ tool: 'list_contacts', arguments: {} }], { form: 'count', noun: 'contact' }],
  ] as const) {
    const sets = splits.map((split) => new Set(requests(steps, asked, split)))
    expect(sets[0].size).toBeGreaterThan(60)
    for (const set of sets) expect(set.size).toBeGreaterThan(8)
    expect([...sets[1], ...sets[2]].filter((request) => sets[0].has(request))).toEqual([])
    expect([...sets[2]].filter((request) => sets[1].has(request))).toEqual([])
  }
})

const wordsIn = (texts: readonly string[]) =>
  new Set(texts.flatMap((request) => request.toLowerCase().match(/[a-z]+/g) ?? []))

test('every word of a test request occurs in training; those of unseen paraphrases do not', () => {
  const known = wordsIn([
    ...requests(adding, undefined, 'train', 2000),
    ...requests(reading, email, 'train', 2000),
  ])
  const tests = [...requests(adding, undefined, 'test'), ...requests(reading, email, 'test')]
  expect([...wordsIn(tests)].filter((word) => !known.has(word))).toEqual([])
  const others = (isRare: boolean) => [
    ...requests(adding, undefined, 'unseen-paraphrase', 300, isRare),
    ...requests(reading, email, 'unseen-paraphrase', 300, isRare),
  ]
  const [sentences, words] = [wordsIn(others(false)), wordsIn(others(true))]
  expect([...words].filter((word) => !known.has(word)).length).toBeGreaterThan(20)
  // New sentences alone have the verbs and nouns of training.
  const synonyms = ['produce', 'establish', 'object']
  expect(synonyms.filter((word) => words.has(word))).toEqual(synonyms)
  expect(synonyms.filter((word) => sentences.has(word))).toEqual([])
  expect([...sentences].filter((word) => !known.has(word))).toContain('kindly')
})

test('a request states every value, and no name of a tool or an argument', () => {
  for (const split of [...splits, 'unseen-paraphrase'] as const)
    for (const request of requests(adding, undefined, split)) {
      for (const part of ['river', 'place', 'cold water', 'blue']) expect(request).toContain(part)
      expect(request).not.toMatch(/[a-z][A-Z]|_/)
    }
})

test('requests read like those of a person', () => {
  const removing: RequestStep[] = [
    { tool: 'delete_contact', arguments: { contactId: 'c1' }, effect: 'removes' },
  ]
  const removed = requests(removing, undefined, 'train', 1000)
  expect(removed).toContain('The contact c1 should be deleted')
  expect(requests(reading, email, 'train', 3000)).toContain('What is the email of the contact c1?')
  expect(requests(summing, { form: 'number' }, 'train', 3000)).toContain('What is 17 plus 4?')
  const setting: RequestStep[] = [
    { tool: 'setTaskStatus', arguments: { taskId: 't7', newStatus: 'in_progress' }, effect: 'changes' },
  ]
  for (const request of requests(setting, undefined, 'train')) expect(request).toMatch(/in progress/)
})

test('the order of the numbers of a computation is the one that gives the result', () => {
  const step = (result: string): RequestStep[] => [{ tool: 'sub', arguments: { a: 3, b: 10 }, result }]
  const said = requests(step('-7'), { form: 'number' }, 'train', 2000)
  const minus = (a: number, b: number) => (request: string) =>
    new RegExp(`\\b${a} (minus|less) ${b}\\b`).test(request)
  expect(said.filter(minus(3, 10)).length).toBeGreaterThan(100)
  expect(said.filter(minus(10, 3))).toEqual([])
  expect(requests(step('7'), { form: 'number' }, 'train', 500).filter(minus(10, 3)).length).toBeGreaterThan(
    20,
  )
})

test('what must be looked up is described, not named', () => {
  const steps: RequestStep[] = [
    {
      tool: 'delete_contact',
      arguments: { contactId: 'c1' },
      references: { contactId: 'the contact whose email is ada@example.org' },
      effect: 'removes',
    },
  ]
  for (const request of requests(steps, undefined, 'train')) {
    expect(request.toLowerCase()).toContain('the contact whose email is ada@example.org')
    expect(request).not.toMatch(/\bc1\b|the contact the contact/)
  }
})

test('nouns and verbs are inflected', () => {
  expect(['entity', 'box', 'child', 'status', 'news', 'key'].map(plural)).toEqual([
    'entities',
    'boxes',
    'children',
    'statuses',
    'news',
    'keys',
  ])
  expect(['entities', 'boxes', 'people', 'status', 'address', 'queries'].map(singular)).toEqual([
    'entity',
    'box',
    'person',
    'status',
    'address',
    'query',
  ])
  expect(['user', 'hour', 'entity', 'id', 'url'].map(article)).toEqual(['a', 'an', 'an', 'an', 'a'])
  expect(inNumber('phone number', true)).toBe('phone numbers')
  expect(['delete', 'drop', 'write', 'carry out', 'copy'].map(participle)).toEqual([
    'deleted',
    'dropped',
    'written',
    'carried out',
    'copied',
  ])
})

test('a request that can be put in a few shapes only is none in a split that has none of them', () => {
  const words = speechOf([
    {
      name: 'clear_cache',
      description: 'Clears the cache',
      inputSchema: { type: 'object', properties: {} },
    },
  ])
  // Only how it ends differs between the shapes of such a request.
  const texts = Array.from({ length: 11 }, (_, branches) => {
    const steps = Array.from({ length: branches + 1 }, (_step, at): RequestStep => {
      const condition = at % 2 === 0 ? `the type of the entity ${at} is free hook` : 'otherwise'
      return { tool: 'clear_cache', arguments: {}, effect: 'removes', condition }
    })
    return renderRequest(words, steps, undefined, 'validation', createRandom(branches, 'validation'))
  })
  expect(texts).toContain(undefined)
  expect(texts.some((text) => text?.startsWith('If the type of the entity 0 is free hook'))).toBe(true)
})

test('a statement of SQL that can be said in words stands in no request, whatever is asked of its result', () => {
  const sql = 'SELECT SUM(id) AS result FROM orders'
  const own = speechOf([tool('query', 'Runs a query', { sql: text })])
  const made = (asked: Asked) =>
    Array.from({ length: 200 }, (_, seed) =>
      renderRequest(own, [{ tool: 'query', arguments: { sql } }], asked, 'train', createRandom(seed)),
    )
  const requests = [...made({ form: 'field', of: 'result' }), ...made({ form: 'field', of: 'city' })]
  expect(requests.filter((request) => request?.includes('SELECT'))).toEqual([])
  expect(requests).toContain('What is the sum of the ids of the orders?')
})

test('arguments of a tool that gives one value are no properties of it', () => {
  const own = speechOf([
    tool('days_in_month', 'Get the number of days in a month', { date: text }),
    tool('relative_time', 'Get the relative time from now', { time: text }),
    tool('get_links', 'Returns links', { count: { type: 'number' } }),
  ])
  const made = (name: string, args: Record<string, unknown>, asked: Asked = { form: 'whole' }) =>
    Array.from({ length: 300 }, (_, seed) =>
      renderRequest(own, [{ tool: name, arguments: args }], asked, 'train', createRandom(seed)),
    )
  const days = made('days_in_month', { date: '2028-11-23' })
  expect(days).toContain('What is the number of days in a month for the date 2028-11-23?')
  expect(days.filter((request) => /whose|\(|: 2028|as the date/.test(request ?? ''))).toEqual([])
  const links = made('get_links', { count: 10 }, { form: 'line', which: 'first' })
  expect(links).toContain('Get the links with the count 10. What is the first line?')
  expect(links.filter((request) => /whose|as the count/.test(request ?? ''))).toEqual([])
  const relative = made('relative_time', { time: '2026-05-15' })
  expect(relative).toContain('What is the relative time of 2026-05-15?')
})

test('what is exported or changed need not be missing before, and has not yet what it shall have', () => {
  const own = speechOf([
    tool('export_table', 'Export a table', { tableName: text, outputPath: text }),
    tool('update_task', 'Update a task', { taskId: text, status: text }),
    tool('set_key', 'Set a key', { key: text, value: text, expireSeconds: { type: 'number' } }),
  ])
  const made = (step: RequestStep) =>
    Array.from({ length: 300 }, (_, seed) =>
      renderRequest(own, [step], undefined, 'train', createRandom(seed)),
    )
  const exported = made({
    tool: 'export_table',
    arguments: { tableName: 'orders', outputPath: 'a.txt' },
    effect: 'adds',
  })
  expect(exported).toContain('Export the table orders to the path a.txt')
  expect(exported.filter((request) => /there should be|missing|need a/i.test(request ?? ''))).toEqual([])
  const updated = made({
    tool: 'update_task',
    arguments: { taskId: 't7', status: 'done' },
    effect: 'changes',
  })
  expect(updated.filter((request) => request?.includes('whose'))).toEqual([])
  const set = made({
    tool: 'set_key',
    arguments: { key: 'k1', value: 'cold', expireSeconds: 60 },
    effect: 'adds',
  })
  expect(set.some((request) => request?.includes('expire seconds'))).toBe(true)
  expect(set.filter((request) => /expire second\b/.test(request ?? ''))).toEqual([])
})
