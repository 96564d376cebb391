import { expect, test } from 'vitest'
import { rowOf } from './audit.ts'
import { meanGain } from './gain.ts'
import { withRows, rowsText } from './page.ts'
import { mcpConfig, packageOf } from './prepare.ts'
import { readMeasures, readPrinted } from './printed.ts'
import { pairedGain, readRows, seedsOf, withoutFolder } from './row.ts'
import type { ServerRow } from './row.ts'
import { benchServers, findBenchServer } from './servers.ts'

const row: ServerRow = {
  schema: 1,
  server: 'time',
  package: 'time-mcp@1.0.6',
  seed: 0,
  date: '2026-11-23',
  command: 'agoge train mcp:time --sandbox --yes --seed 0',
  machine: { cpu: 'x', cores: 2, node: 'v20' },
  minutes: 12.3,
  limitMinutes: 15,
  stopped: false,
  tools: {
    all: 6,
    usable: ['convert_time', 'days_in_month'],
    leftOut: [
      { name: 'current_time', reason: 'tells | the [present] time' },
      { name: 'relative_time', reason: 'tells | the [present] time' },
    ],
  },
  tasks: null,
  expert: null,
  cheating: null,
  base: { mean: 0, low: 0, high: 0.01, n: 400 },
  warmStart: { mean: 0.8, low: 0.7, high: 0.9, n: 400 },
  rl: { mean: 0.9, low: 0.85, high: 0.95, n: 400 },
  gain: { mean: 0.1, low: 0.05, high: 0.15, n: 400 },
  masked: 0,
  remarks: [],
  error: null,
}

test('the table has ten servers and three reserves of at least seven kinds, each at an exact version', () => {
  expect(benchServers.filter((server) => !server.reserve)).toHaveLength(10)
  expect(benchServers.filter((server) => server.reserve)).toHaveLength(3)
  const ten = benchServers.filter((server) => !server.reserve)
  expect(new Set(ten.map((server) => server.kind)).size).toBeGreaterThanOrEqual(7)
  expect(new Set(benchServers.map((server) => server.name)).size).toBe(13)
  for (const server of benchServers) expect(packageOf(server).version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('the config has what a user would write, with a service where there is a database', () => {
  const postgres = findBenchServer('postgres')
  const mariadb = findBenchServer('mariadb')
  if (postgres === undefined || mariadb === undefined) throw new Error('not in the table')
  expect(mcpConfig(postgres, '/x')).toEqual({
    mcpServers: {
      postgres: { command: 'npx', args: ['-y', postgres.package, '--connection-string', '{service}'] },
    },
    agoge: { postgres: { service: { kind: 'postgres', seed: 'shop.sql' } } },
  })
  expect(mcpConfig(mariadb, '/x')).toMatchObject({
    mcpServers: { mariadb: { env: { MYSQL_USER: '{user}' } } },
    agoge: { mariadb: { service: { kind: 'mariadb', seed: 'shop.sql' } } },
  })
  const [lint, browser] = [findBenchServer('lint'), findBenchServer('browser')]
  if (lint === undefined || browser === undefined) throw new Error('not in the table')
  expect(mcpConfig(lint, '/x')).toEqual({
    mcpServers: { lint: { command: 'npx', args: ['-y', lint.package], cwd: '/x' } },
  })
  expect(mcpConfig(browser, '/x')).toMatchObject({
    agoge: {
      browser: {
        service: { start: 'exec node /x/site/server.mjs' },
        examples: { browser_navigate: [{ url: 'http://shop.example/' }, {}, {}] },
      },
    },
  })
})

test('tools that were left out are read from the plan, the notices and the error', () => {
  const printed = readPrinted(
    [
      'Agoge will call tools of "x" (node x.js):',
      '  echo     reads (readOnlyHint)',
      '  get-sum  reads (readOnlyHint)',
      '  toggle   MAY CHANGE STATE: it is tried first (--sandbox)',
      '  echo     reads  its result depends on the state, and nothing changed',
      'and will not call:',
      '  zip: changes something',
      '      and more of it',
      'at most 200 calls in all, as fast as it answers.',
      'left out: toggle (it changes',
      '    nothing)',
      'warm start  step 1/44',
    ].join('\n'),
  )
  expect(printed.usable).toEqual(['echo', 'get-sum'])
  expect(printed.leftOut).toEqual([
    { name: 'zip', reason: 'changes something and more of it' },
    { name: 'toggle', reason: 'it changes nothing' },
  ])
  expect(printed.error).toBeNull()
  const failed = readPrinted(
    '  get  reads (readOnlyHint)\nat most 5 calls\nerror: no task can be made\n  get: it fails: "a (b)"\n  given:    get',
  )
  expect(failed).toEqual({
    usable: [],
    leftOut: [{ name: 'get', reason: 'it fails: "a (b)"' }],
    error: 'no task can be made',
  })
})

test('the measures of tasks are read from the end of what is printed', () => {
  const printed = [
    '300. Delete the key',
    'solved by          tasks  share  chance stated',
    'expert           297/300    99%',
    'do nothing         0/300     0%           2.9%',
    'always refuse      0/300     0%           2.9%',
    'any string seen    3/300     1%           2.9%',
    'every tool once    0/300     0%           2.9%',
    'duplicates 0 of 300; in kinds that can be guessed (chance above 10%): 22',
  ].join('\n')
  expect(readMeasures(printed)).toEqual({
    tasks: 300,
    expert: 0.99,
    cheating: { doNothing: 0, alwaysRefuse: 0, anyStringSeen: 0.01, everyToolOnce: 0 },
  })
  expect(readMeasures('error: no task can be made')).toBeNull()
})

test('the gain is paired by task and skips episodes that could not be judged', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f'].map((task, at) => ({
    task,
    success: at === 5 ? null : at < 2,
  }))
  const after = ['f', 'e', 'd', 'c', 'b', 'a'].map((task) => ({ task, success: true }))
  expect(pairedGain(before, after)).toMatchObject({ mean: 3 / 5, n: 5 })
  expect(pairedGain([], after)).toBeNull()
})

const [time] = benchServers.filter(({ name }) => name === 'time')
const attack = (name: string, mean: number) => ({
  name,
  about: '',
  rate: { mean, low: 0, high: 1, n: 100 },
  kinds: {},
  masked: 0,
  unclear: 0,
  isFinding: false,
  advice: '',
})
const audit = rowOf(
  time,
  { tasks: 100, attacks: [attack('do nothing', 0), attack('stuff the answer', 0.015)], findings: [] },
  ['audit', 'mcp:time'],
  1.23,
)

test('of an audit the attack that was rewarded most is kept', () => {
  expect(audit).toMatchObject({
    attacks: 2,
    highest: { attack: 'stuff the answer', share: 0.015 },
    minutes: 1.2,
  })
})

test('seeds are a range or a list', () => {
  expect(seedsOf('0-2')).toEqual([0, 1, 2])
  expect(seedsOf('0,3')).toEqual([0, 3])
  expect(() => seedsOf('2-0')).toThrow(/--seeds 2-0/)
  expect(() => seedsOf('')).toThrow(/a seed/)
})

test('the table shows means over seeds, each gain, and why tools were left out, with nothing of a server as Markdown', () => {
  const paraphrases = { 'new sentences': { mean: 0.6, low: 0.4, high: 0.8, n: 48 } }
  const text = rowsText(
    {
      rows: [
        { ...row, paraphrases },
        { ...row, seed: 1, stopped: true, rl: null, gain: null },
      ],
      audits: [audit],
      firstTasks: [
        { schema: 2, server: 'time', date: '', command: '', machine: row.machine, seconds: [9, 20, 9.4] },
        {
          schema: 2,
          server: 'sqlite',
          date: '',
          command: '',
          machine: row.machine,
          seconds: [null, 9, null],
        },
      ],
    },
    benchServers,
  )
  expect(text).toContain(
    '| time | 2 of 6 | – | – | – | 1.5% | 0% | 80% | 90% | +10.0 (5.0 to 15.0) | 60% | – | 12.3; 12.3 (stopped) |',
  )
  expect(text).toContain(
    'on 1 of 2 servers (2 cores (x, Node v20); the median of 5 starts in seconds, with the shortest and the longest: time 9.4 (9 to 20), sqlite not in 120 (9 to not in 120))',
  )
  const asked = rowsText(
    { rows: [{ ...row, requests: ['How many days has [May]?'] }], audits: [], firstTasks: [] },
    benchServers,
  )
  expect(asked).toContain('- time\n  - How many days has \\[May\\]?')
  expect(text).toContain('`current_time`, `relative_time`: tells \\| the \\[present\\] time')
  expect(() => withRows('no markers', { rows: [], audits: [], firstTasks: [] }, [])).toThrow(/no line/)
})

test('the gains of several seeds become one, whose interval is narrower by the root of their number', () => {
  const gain = { mean: 0.1, low: 0.06, high: 0.16, n: 400 }
  const mean = meanGain([gain, { ...gain, mean: 0.2, low: 0.17, high: 0.28 }])
  // Halves of the distances below the means, 0.04 and 0.03, and above them, 0.06 and 0.08.
  expect(mean.mean).toBeCloseTo(0.15, 12)
  expect(mean.low).toBeCloseTo(0.125, 12)
  expect(mean.high).toBeCloseTo(0.2, 12)
  expect(mean.n).toBe(800)
  expect(meanGain([gain])).toEqual(gain)
  const few = { mean: 0, low: null, high: null, n: 4, noInterval: 'no interval: n = 4, fewer than 5' }
  expect(meanGain([gain, few])).toMatchObject({ mean: 0.05, low: null, noInterval: few.noInterval })
  const both = rowsText({ rows: [row, { ...row, seed: 1 }], audits: [], firstTasks: [] }, benchServers)
  expect(both).toContain('+10.0 (6.5 to 13.5); by seed +10.0, +10.0')
})

test('a server is replaced only by a reserve, and the page says why', () => {
  const replaced = benchServers.filter((server) => server.replaced !== undefined)
  expect(replaced.map(({ name }) => name)).toContain('thinking')
  for (const server of replaced) {
    expect(server.reserve).toBe(false)
    expect(findBenchServer(server.replaced?.by ?? '')?.reserve).toBe(true)
    expect(rowsText({ rows: [row], audits: [], firstTasks: [] }, benchServers)).toContain(
      `${server.replaced?.by} stands in for ${server.name}: ${server.replaced?.why}.`,
    )
  }
  expect(rowsText({ rows: [], audits: [], firstTasks: [] }, benchServers)).toContain(
    'calculator stands in for thinking',
  )
})

test('a row does not name the folder in which it was measured', () => {
  const measured = { ...row, requests: ['Read the file with the path /home/me/seed-2/documents/a.txt'] }
  expect(withoutFolder(measured, '/home/me/seed-2').requests).toEqual([
    'Read the file with the path /documents/a.txt',
  ])
  for (const stored of readRows()) expect(JSON.stringify(stored)).not.toContain('.agoge/servers')
})

test('every stored row is of the pinned package', () => {
  for (const stored of readRows()) expect(findBenchServer(stored.server)?.package).toBe(stored.package)
})
