import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { validateArguments } from '../../../untrusted/validate.ts'
import { noSecrets, redacted } from '../../../untrusted/untrusted.ts'
import { type ListedTools, toolsPage } from '../../tool/mcp-results.ts'
import { createMcpEnvironment, type McpEnvironment } from './mcp-environment.ts'
import { sampleArguments } from './arguments/sample-arguments.ts'
import { wordsOf } from './arguments/words.ts'
import { crmConfig, openFixture, pasted, solved } from './testing/fixture-server.ts'

const raw = fileURLToPath(new URL('fixtures/raw-server.mjs', import.meta.url))

async function open(tools: readonly unknown[]): Promise<McpEnvironment> {
  const server = { command: process.execPath, args: [raw], env: { RAW_TOOLS: JSON.stringify(tools) } }
  const environment = await createMcpEnvironment({ name: 'raw', server })
  onTestFinished(() => environment.close())
  return environment
}

function listed(tools: readonly object[]): ListedTools {
  const page = toolsPage['~standard'].validate({ tools })
  if (page instanceof Promise || page.issues !== undefined) throw new Error('no page')
  return redacted(page.value.tools, noSecrets)
}

const annotations = { readOnlyHint: true }
const properties = { text: { type: 'string' } }
const good = {
  name: 'measure',
  annotations,
  inputSchema: { type: 'object', properties, required: ['text'] },
}
const broken = [
  { name: 'untyped', annotations, inputSchema: { properties } },
  { name: 'listed', annotations, inputSchema: { type: 'array' } },
  { name: 'bare', annotations },
  { annotations, inputSchema: { type: 'object' } },
]

test('a tool that is listed wrongly is left out and named with the reason; the others work', async () => {
  const environment = await open([...broken, good])
  expect(environment.tools.map(({ name }) => name)).toEqual(['measure'])
  expect(environment.plan).toContain('tools of "raw"')
  expect(environment.plan).toContain(
    'untyped: cannot be used: "inputSchema.type" must be "object", and is missing',
  )
  expect(environment.plan).toContain(
    'listed: cannot be used: "inputSchema.type" must be "object", and is "array"',
  )
  expect(environment.plan).toContain('bare: cannot be used: it has no "inputSchema"')
  expect(environment.plan).toContain('number 4: cannot be used: it has no name')
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 2, test: 2 } })
  expect(tasks.kinds).toContain('measure')
})

test('where no tool is left the error names the server, the tools and what is wrong with them', async () => {
  await expect(open(broken.slice(0, 2))).rejects.toMatchObject({
    code: 'bad-tool-schema',
    message: expect.stringMatching(
      /^no tool of the MCP server "raw" can be used\n +untyped: .*missing\n +listed: .*"array"/,
    ),
  })
})

test('the entry of a server sets how long it may take to start', async () => {
  const server = { name: 'silent', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const config = { reset: 'none' as const, observe: [], connectSeconds: 1 }
  await expect(createMcpEnvironment({ name: 'silent', server, config })).rejects.toThrow(
    'MCP server silent: connect: no answer in 1 s',
  )
})

const text = (schema: object, more: object = {}) => ({
  type: 'object',
  properties: { text: schema },
  required: ['text'],
  ...more,
})
const chain = Array.from({ length: 30 }, (_, i) => {
  const next = { $ref: `#/$defs/d${i + 1}` }
  return [`d${i}`, i === 29 ? { type: 'string' } : { allOf: [next, next] }]
})

// Each of these held up the process or ended the run, while the schema was met, checked or looked up.
test('only the tools with expensive schemas are left out, and they are neither offered nor callable', async () => {
  const hostile = {
    slow_pattern: text({ type: 'string', pattern: '^(a+)+b(?<!b)$', examples: [`${'a'.repeat(36)}!`] }),
    circle: { type: 'object', anyOf: [{ $ref: '#' }, { $ref: '#' }] },
    round: text({ anyOf: [{ $ref: '#/properties/text' }] }),
    twice: text({ $ref: '#/$defs/d0' }, { $defs: Object.fromEntries(chain) }),
    nowhere: text({ $ref: '#/%E0%A4%A' }),
    repeated: text({ type: 'string', pattern: String.raw`^(.)\1$` }),
    huge: text({ type: 'string', pattern: '(a{1000}){1000}' }),
  }
  const tools = Object.entries(hostile).map(([name, inputSchema]) => ({ name, annotations, inputSchema }))
  const environment = await open([...tools, good])
  const place = (name: string, at: string): string => `  ${name}: cannot be used: ${at} its "inputSchema"`
  expect(environment.plan).toContain(place('circle', 'it leads back to where it stands (at "#" of'))
  expect(environment.plan).toContain(
    place('round', 'it leads back to where it stands (at "#/properties/text" of'),
  )
  expect(environment.plan).toContain(
    place('nowhere', 'the reference leads nowhere (at "/properties/text/$ref" of'),
  )
  expect(environment.plan).toContain(
    place('repeated', 'the pattern refers to a group of its own (at "/properties/text/pattern" of'),
  )
  expect(environment.plan).toContain(
    place('huge', 'the pattern has more than 20000 steps (at "/properties/text/pattern" of'),
  )
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 4, test: 2 } })
  expect(leftOut).toEqual([
    { name: 'slow_pattern', reason: expect.stringContaining('no text can be made up that matches') },
  ])
  // References that go twice to the next are honest, if odd: they are worked off once.
  expect(environment.tools.map(({ name }) => name)).toEqual(['twice', 'measure'])
  expect(tasks.kinds).toEqual(expect.arrayContaining(['twice', 'measure']))
  const session = await environment.open(tasks.all('train')[0], {})
  expect(session.specs).toEqual(environment.tools)
  for (const name of Object.keys(hostile).filter((tool) => tool !== 'twice')) {
    expect(await session.call(name, { text: 'x' })).toEqual({ text: `error: no tool ${name}`, isError: true })
  }
  expect(Object.keys(environment.limit.used().tools).toSorted()).toEqual(['measure', 'twice'])
})

test('a list of a hundred large tools is usable, and arguments can be made up for each', () => {
  const of = (tool: number): [string, object][] =>
    Array.from({ length: 100 }, (_, i) => [
      `${['title', 'state', 'count', 'labels'][i % 4]}_${tool}_${i}`,
      [
        { type: 'string', description: 'A title.', pattern: '^(?!\\s).{1,2048}$' },
        { type: ['string', 'null'], enum: ['open', 'closed', null] },
        { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] },
        { type: 'array', items: { $ref: '#/$defs/label' } },
      ][i % 4],
    ])
  const label = {
    type: 'object',
    properties: { name: { type: 'string' }, within: { $ref: '#/$defs/label' } },
    required: ['name'],
  }
  const tools = Array.from({ length: 100 }, (_, i) => ({
    name: `tool_${i}`,
    annotations,
    inputSchema: text(
      { type: 'string' },
      { properties: { ...properties, ...Object.fromEntries(of(i)) }, $defs: { label } },
    ),
  }))
  const page = listed(tools)
  expect(page.unusable).toEqual([])
  expect(page.specs).toHaveLength(100)
  for (const [seed, { inputSchema }] of page.specs.entries()) {
    const random = createRandom(seed)
    const args = sampleArguments(inputSchema, { random, words: wordsOf('train'), known: [], reuse: false })
    expect(validateArguments(inputSchema, args)).toBeUndefined()
  }
})

test('tools beyond the work limit of a list are left out, with the limit as the reason', () => {
  const tools = Array.from({ length: 200 }, (_, i) => ({
    name: `tool_${i}`,
    annotations,
    inputSchema: text({ type: 'string', pattern: `${i}a{15000}` }),
  }))
  const page = listed(tools)
  expect(page.specs).toHaveLength(33)
  expect(page.unusable[0]).toEqual({
    name: 'tool_33',
    reason: 'its "inputSchema" cannot be checked: with those before it, it takes more than 1000000 steps',
  })
})

test('finding out that patterns cannot be used is work too, and so are wide schemas', () => {
  const left = (make: (i: number) => object): string[] => {
    const tools = Array.from({ length: 400 }, (_, i) => ({
      name: `tool_${i}`,
      annotations,
      inputSchema: text(make(i)),
    }))
    const page = listed(tools)
    return [...new Set(page.unusable.map(({ reason }) => reason.replace(/ \(at.*/, '')))]
  }
  const limit = 'its "inputSchema" cannot be checked: with those before it, it takes more than 1000000 steps'
  expect(left((i) => ({ type: 'string', pattern: `${i}a{19000}b{5000}` }))).toEqual([
    'the pattern has more than 20000 steps',
    limit,
  ])
  expect(left((i) => ({ type: 'string', pattern: `${'\\p{L}'.repeat(200)}${i}` }))).toEqual([limit])
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string' }]))
  expect(left(() => ({ type: 'object', properties: wide }))).toEqual([limit])
  // A reference is read character by character.
  const long = `#/$defs/${'~1'.repeat(10_000)}`
  expect(left((i) => ({ anyOf: Array.from({ length: 4 }, () => ({ $ref: `${long}${i}` })) }))).toEqual([
    'the reference leads nowhere',
    limit,
  ])
})

// Tools of which the server does not say whether they change anything. unmarked-tools.slow.test.ts has more of them.
test('without a reset, tools that change nothing carry tasks; a clock and a writer are left out with the reason', async () => {
  const config = { reset: 'none' as const, observe: [] }
  const environment = await openFixture('sums', { sandbox: true, config })
  expect(environment.plan).toMatch(/add +MAY CHANGE STATE: it is tried first \(--sandbox\)/)
  const { tasks, leftOut, hint } = await environment.prepareTasks({ seed: 1, counts: { train: 12, test: 6 } })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['add', 'unix_time', 'receipt', 'list_notes']))
  expect(tasks.kinds).not.toContain('note')
  const reasons = Object.fromEntries(leftOut.map((tool) => [tool.name, tool.reason]))
  expect(reasons).toEqual({
    now: 'the same call gives another result when repeated',
    note: 'it changes what list_notes shows, and its state cannot be reset',
  })
  const all = [...tasks.all('train'), ...tasks.all('test')]
  expect(new Set(await solved(environment, all))).toEqual(new Set([true]))
  // Of a result that has the time in one line the others are asked for.
  for (const { expected } of all.filter(({ kind }) => kind === 'receipt'))
    expect(expected.answer).toMatch(/^(Receipt \d+|Thank you)$/)
  expect(pasted(hint, 'sums')).toEqual({ reset: 'restart', observe: ['list_notes'] })
})

test('--allow of one tool tries that one and no other; where it cannot be used nothing is advised that was given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const log = join(folder, 'calls')
  writeFileSync(log, '')
  const environment = await openFixture('sums', { allow: ['add'] }, { SUMS_LOG: log })
  expect(environment.plan).toContain('note: may change something (no readOnlyHint)')
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(tasks.kinds).toEqual(['add'])
  expect(new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))).toEqual(new Set(['add']))

  const clock = await openFixture('sums', { allow: ['now'] }, { SUMS_TOOLS: 'now' })
  await expect(clock.prepareTasks({ seed: 1, counts: { train: 4 } })).rejects.toMatchObject({
    code: 'no-tasks',
    message: expect.stringContaining('now: the same call gives another result when repeated'),
    hint: undefined,
  })
  const writer = await openFixture('sums', { sandbox: true, allow: ['note'] }, { SUMS_TOOLS: 'note' })
  const error = await writer
    .prepareTasks({ seed: 1, counts: { train: 4 } })
    .then(undefined, (reason: unknown) => reason as { hint?: string })
  // Nothing shows what it changed, and it answers the same each time: no more can be known.
  expect(error).toMatchObject({ tasks: { kinds: ['note'] } })
})

test('ids come from what reading tools show, generated ones are ignored in states and answers', async () => {
  const environment = await openFixture('crm', { sandbox: true, config: crmConfig }, { CRM_BARE: '1' })
  // Ids differ from play to play: what was played is recorded for a run that is resumed.
  expect(environment.deterministic).toBe(false)
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 3, counts: { train: 24, test: 12 } })
  // The list is longer than what the model is shown of a result.
  expect(leftOut.map((tool) => tool.name)).toEqual(['list_contacts'])
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['get_contact', 'create_contact', 'update_contact', 'delete_contact']),
  )
  const all = [...tasks.all('train'), ...tasks.all('test')]
  for (const { prompt } of all.filter(({ kind }) => /^(get|update|delete)_contact$/.test(kind)))
    expect(prompt).toMatch(/\bc[123]\b/)
  for (const { expected } of all) expect(expected.answer ?? '').not.toMatch(/^c\d$|^2026-/)
  expect(new Set(await solved(environment, all))).toEqual(new Set([true]))
})
