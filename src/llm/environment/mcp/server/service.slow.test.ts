import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from './postgres.ts'
import { openPsql } from './psql-session.ts'
import { startRedis } from './redis.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { ServiceConfig } from './service-config.ts'
import { serviceStarter } from './service.ts'
import { openFixture, solved } from '../testing/fixture-server.ts'

vi.setConfig({ testTimeout: 240_000 })

const noPostgres = !existsSync('/usr/lib/postgresql') || spawnSync('psql', ['--version']).status !== 0
const noRedis = spawnSync('redis-server', ['--version']).status !== 0

function file(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

async function trained(service: ServiceConfig) {
  const config = { reset: 'auto' as const, observe: [], service }
  const environment = await openFixture('ledger', { sandbox: true, config, servers: 2 })
  const { tasks, profiles } = await environment.prepareTasks({ seed: 1, counts: { train: 6 } })
  const effects = Object.fromEntries(profiles.map(({ name, effect, shownBy }) => [name, { effect, shownBy }]))
  expect(effects).toEqual({
    list_entries: { effect: 'reading', shownBy: [] },
    add_entry: { effect: 'writing', shownBy: ['{files}'] },
  })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['add_entry']))
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
  const listed = profiles.find(({ name }) => name === 'list_entries')
  return { environment, seen: listed?.examples[0].text }
}

test.skipIf(noPostgres)('a private PostgreSQL is filled, and reset before each task', async () => {
  const seed = file(
    'schema.sql',
    "CREATE TABLE entries (id serial PRIMARY KEY, name text, amount int); INSERT INTO entries (name, amount) VALUES ('rent', 900), ('books', 40);",
  )
  const { environment, seen } = await trained({ kind: 'postgres', seed })
  expect(seen).toContain('"books"')
  expect(environment.plan).toContain('a database of its own in a private PostgreSQL of this machine')
  if (process.getuid?.() === 0) expect(environment.plan).toContain('as the user postgres')
})

test.skipIf(noPostgres)(
  'what a private PostgreSQL keeps is described, and reset without ending connections',
  async () => {
    const seed = file(
      'schema.sql',
      "CREATE TABLE entries (id serial PRIMARY KEY, name text NOT NULL); INSERT INTO entries (name) VALUES ('rent');",
    )
    const { start, close } = startPostgres({ kind: 'postgres', seed }, { redact: (text) => text })
    onTestFinished(close)
    const service = await start('/')
    const { port, database, user } = service.places
    const psql = openPsql(
      ['psql', '-X', '-q', '-h', '127.0.0.1', '-p', port, '-U', user, database],
      (text) => text,
    )
    onTestFinished(() => psql.close())
    const first = await service.describe?.()
    expect(first).toMatchObject({ 'rows of entries': [{ id: 1, name: 'rent' }] })
    expect(await service.records?.()).toEqual([
      { table: 'entries', columns: ['id integer DEFAULT', 'name text'], exact: true },
      { id: 1, name: 'rent' },
    ])
    await psql.run(
      "INSERT INTO entries (name) VALUES ('books'); CREATE INDEX by_name ON entries (name); CREATE SCHEMA other; CREATE TABLE other.t (a int);",
    )
    const second = await service.describe?.()
    expect(second).toMatchObject({
      'rows of entries': [{ name: 'rent' }, { id: 2, name: 'books' }],
      'rows of other.t': [],
    })
    expect(JSON.stringify(second)).toContain('CREATE INDEX by_name')
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
    // The same connection sees the first state, and the sequence begins where it began.
    await psql.run("INSERT INTO entries (name) VALUES ('again');")
    expect((await psql.run('SELECT id, name FROM entries ORDER BY id;')).trim()).toBe('1|rent\n2|again')
    // Only rows differ now, so the definitions stay: the table is the same to the server.
    const table = await psql.run("SELECT 'entries'::regclass::oid;")
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
    expect(await psql.run("SELECT 'entries'::regclass::oid;")).toBe(table)
    await psql.run("INSERT INTO entries (name) VALUES ('third');")
    expect((await psql.run('SELECT id, name FROM entries;')).trim()).toBe('1|rent\n2|third')
    // A definition that no description shows is reset too.
    await psql.run(
      'ALTER TABLE entries SET (fillfactor = 50); CREATE VIEW names AS SELECT name FROM entries;',
    )
    await psql.run('CREATE OR REPLACE VIEW names AS SELECT upper(name) AS name FROM entries;')
    await service.reset()
    expect(await psql.run("SELECT reloptions FROM pg_class WHERE relname = 'entries';")).toBe('\n')
    expect(await psql.run("SELECT count(*) FROM pg_class WHERE relname = 'names';")).toBe('0\n')
    expect(await service.describe?.()).toEqual(first)
  },
)

test.skipIf(noRedis)('a private Redis is filled, and reset before each task', async () => {
  const seed = file('entries.redis', 'HSET entries rent 900 books 40\n')
  const { seen } = await trained({ kind: 'redis', seed })
  expect(seen).toContain('"books"')
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const service = await startRedis({ kind: 'redis', seed }, { redact: (text) => text })(folder)
  onTestFinished(() => service.close())
  expect(await service.describe?.()).toEqual({
    entries: { hash: ['rent', '900', 'books', '40'], expires: false },
  })
})

test.skipIf(noRedis)('a service that a command starts, fills and resets', async () => {
  const redis = 'redis-cli -p $AGOGE_PORT'
  const config = {
    reset: 'auto' as const,
    observe: [],
    env: { REDIS_PORT: '{port}' },
    service: {
      start: 'redis-server --port $AGOGE_PORT --save ""',
      seed: `${redis} HSET entries rent 900`,
      reset: `${redis} FLUSHALL && ${redis} HSET entries rent 900`,
    },
  }
  const environment = await openFixture('ledger', { sandbox: true, config })
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 4 } })
  expect(tasks.kinds).toContain('add_entry')
  expect(new Set(await solved(environment, tasks.all('train')))).toEqual(new Set([true]))
})

test.skipIf(noRedis)('a command shows what a service keeps, as JSON or as text', async () => {
  const opened = async (show: string) => {
    const config = { start: 'redis-server --port $AGOGE_PORT --save ""', reset: 'true', show }
    const { start, close } = serviceStarter(config, { redact: (text) => text })
    const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const service = await start(folder)
    onTestFinished(async () => {
      await service.close()
      await close()
    })
    return service
  }
  const shown = async (show: string): Promise<unknown> => (await opened(show)).describe?.()
  expect(await (await opened(`echo '{"pets":[{"id":1}]}'`)).records?.()).toEqual([
    { table: 'pets', columns: ['id INTEGER'] },
    { id: 1 },
  ])
  expect(await shown('redis-cli -p $AGOGE_PORT ping')).toEqual({ service: 'PONG' })
  expect(await shown(`echo '{"rows":[1]}'`)).toEqual({ rows: [1] })
  await expect(shown('exit 3')).rejects.toThrow(InfrastructureError)
})

test('a service that does not start is an error with its last words', async () => {
  const service = { start: 'echo "no space left" >&2; exit 3' }
  const config = { reset: 'auto' as const, observe: [], service }
  await expect(openFixture('ledger', { sandbox: true, config })).rejects.toMatchObject({
    code: 'no-service',
    message: expect.stringContaining('it ended with exit code 3: no space left'),
  })
})
