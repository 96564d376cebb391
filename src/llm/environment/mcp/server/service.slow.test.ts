import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startMariadb } from './mariadb.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { ServiceConfig } from './service-config.ts'
import { startDaemon } from './service-process.ts'
import { serviceStarter } from './service.ts'
import { mariadbClient, openSqlSession, psqlClient } from './sql-session.ts'
import { openFixture, solved } from '../testing/fixture-server.ts'

const noPostgres = !existsSync('/usr/lib/postgresql') || spawnSync('psql', ['--version']).status !== 0
const noMariadb = spawnSync('mariadb', ['--version']).status !== 0
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
    const client = psqlClient(['psql', '-X', '-q', '-h', '127.0.0.1', '-p', port, '-U', user, database])
    const psql = openSqlSession(client, (text) => text)
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
    // Where nothing was written nothing is done; a sequence that went on counts as written.
    await service.reset()
    const writer = await psql.run('SELECT xmin FROM entries;')
    expect(await service.describe?.()).toEqual(first)
    await service.reset()
    expect(await psql.run('SELECT xmin FROM entries;')).toBe(writer)
    await psql.run("SELECT nextval('entries_id_seq');")
    await service.reset()
    await psql.run("INSERT INTO entries (name) VALUES ('fourth');")
    expect((await psql.run('SELECT id, name FROM entries;')).trim()).toBe('1|rent\n2|fourth')
    await psql.run("UPDATE entries SET name = 'paid' WHERE id = 1;")
    expect(await service.describe?.()).toMatchObject({ 'rows of entries': [{ name: 'paid' }, { id: 2 }] })
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

test.skipIf(noMariadb)('a private MariaDB is filled, and reset before each task', async () => {
  const seed = file(
    'schema.sql',
    "CREATE TABLE entries (id int AUTO_INCREMENT PRIMARY KEY, name varchar(60), amount int); INSERT INTO entries (name, amount) VALUES ('rent', 900), ('books', 40);",
  )
  const { environment, seen } = await trained({ kind: 'mariadb', seed })
  expect(seen).toContain('"books"')
  expect(environment.plan).toContain('a private MariaDB of this machine')
  if (process.getuid?.() === 0) expect(environment.plan).toContain('as the user mysql')
})

/** A private MariaDB with two slots, and a client of the first as the server has it. */
async function openMariadb(seed: string) {
  const start = startMariadb({ kind: 'mariadb', seed }, { redact: (text) => text })
  const [service, other] = [await start('/'), await start('/')]
  onTestFinished(() => service.close())
  onTestFinished(() => other.close())
  const { port, database, user } = service.places
  const connect = () => {
    const client = mariadbClient([
      'mariadb',
      '--no-defaults',
      '-h',
      '127.0.0.1',
      '-P',
      port,
      '-u',
      user,
      database,
    ])
    const session = openSqlSession(client, (text) => text)
    onTestFinished(() => session.close())
    return session
  }
  return { service, other, client: connect(), connect }
}

const shop = `CREATE TABLE people (id int AUTO_INCREMENT PRIMARY KEY, name varchar(60) NOT NULL, photo varbinary(9));
CREATE TABLE orders (id int PRIMARY KEY, person int NOT NULL REFERENCES people (id), total int, taxed int AS (total * 2));
INSERT INTO people (name, photo) VALUES ('Zoë', x'ff00'), ('Bob', NULL);
DELETE FROM people WHERE name = 'Bob';
INSERT INTO orders (id, person, total) VALUES (7, 1, 30);
CREATE VIEW buyers AS SELECT name FROM people JOIN orders ON person = people.id;
CREATE PROCEDURE count_people() SELECT count(*) FROM people;
`

test.skipIf(noMariadb)('the rows of a private MariaDB are put back without new tables', async () => {
  const { service, other, client } = await openMariadb(file('shop.sql', shop))
  const first = await service.describe?.()
  expect(first).toMatchObject({
    'rows of people': [{ id: 1, name: 'Zoë', photo: 'FF00' }],
    'rows of orders': [{ id: 7, person: 1, total: 30, taxed: 60 }],
    'foreign keys': [['orders', 'orders_ibfk_1', 'RESTRICT', 'RESTRICT']],
  })
  expect(await service.records?.()).toEqual([
    { table: 'buyers', columns: ['name varchar(60)'], exact: true },
    {
      table: 'orders',
      columns: ['id int(11)', 'person int(11)', 'total int(11) DEFAULT', 'taxed int(11) DEFAULT'],
      exact: true,
    },
    { id: 7, person: 1, total: 30, taxed: 60 },
    {
      table: 'people',
      columns: ['id int(11) DEFAULT', 'name varchar(60)', 'photo varbinary(9) DEFAULT'],
      exact: true,
    },
    { id: 1, name: 'Zoë', photo: 'FF00' },
  ])
  expect(await client.run('SELECT name FROM buyers;')).toBe('Zoë\n')
  await client.run("INSERT INTO people (name) VALUES ('Ada'), ('Eve'); DELETE FROM orders;")
  expect(await service.describe?.()).toMatchObject({ 'rows of orders': [], 'rows of people': { length: 3 } })
  expect(await other.describe?.()).toEqual(first)
  await service.reset()
  expect(await service.describe?.()).toEqual(first)
  // The same connection sees the first rows, and the next number is the first next one.
  await client.run("INSERT INTO people (name) VALUES ('again');")
  expect(await client.run('SELECT id FROM people ORDER BY id;')).toBe('1\n3\n')
})

test.skipIf(noMariadb)('the definitions of a private MariaDB are put back', async () => {
  const { service, client } = await openMariadb(file('shop.sql', shop))
  const first = await service.describe?.()
  for (const change of [
    'CREATE TABLE `a``b` (id int); DROP TABLE orders; CREATE INDEX by_name ON people (name);',
    'ALTER TABLE people ADD COLUMN city varchar(40), COMMENT = "people";',
    'DROP VIEW buyers; DROP PROCEDURE count_people; CREATE SEQUENCE s; CREATE FUNCTION one() RETURNS int RETURN 1;',
    'CREATE TRIGGER late BEFORE DELETE ON orders FOR EACH ROW INSERT INTO people (name) VALUES ("deleted");',
    'EXECUTE IMMEDIATE "RENAME TABLE orders TO sales";',
    "CREATE PROCEDURE spoil() EXECUTE IMMEDIATE 'ALTER TABLE people MODIFY name text'; CALL spoil();",
    'DROP PROCEDURE count_people; ALTER TABLE orders DROP COLUMN taxed;',
    'ALTER DATABASE COLLATE latin1_swedish_ci; CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders;',
  ]) {
    await client.run(change)
    expect(await service.describe?.()).not.toEqual(first)
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
  }
  expect(await client.run('CALL count_people();')).toBe('1\n')
})

test.skipIf(noMariadb)(
  'a private MariaDB is reset although triggers, locks or a dropped database are in the way',
  async () => {
    const trigger = `${shop}CREATE TRIGGER late BEFORE DELETE ON orders FOR EACH ROW INSERT INTO people (name) VALUES ('deleted');\n`
    const { service, client, connect } = await openMariadb(file('shop.sql', trigger))
    const first = await service.describe?.()
    await client.run('DELETE FROM orders;')
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
    await client.run("START TRANSACTION; INSERT INTO people (name) VALUES ('locked');")
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
    await expect(client.run('SELECT 1;')).rejects.toThrow(InfrastructureError)
    await connect().run(`DROP DATABASE ${service.places['database']};`)
    await service.reset()
    expect(await service.describe?.()).toEqual(first)
  },
)

test.skipIf(noMariadb)('what a server of a private MariaDB may not reach', async () => {
  const { connect } = await openMariadb(file('shop.sql', shop))
  await expect(connect().run('USE mysql;')).rejects.toThrow('Access denied')
  await expect(connect().run('CREATE DATABASE other;')).rejects.toThrow('Access denied')
  const seed = file('elsewhere.sql', 'CREATE DATABASE shop; USE shop; CREATE TABLE t (id int);')
  const start = startMariadb({ kind: 'mariadb', seed }, { redact: (text) => text })
  await expect(start('/')).rejects.toThrow(/Access denied .* to database 'shop'/)
})

test('a database that ends by itself is reported with its last words', async () => {
  const command = ['/bin/sh', '-c', 'sleep 0.3; echo "no space left for sk-1" >&2; exit 3']
  const redact = (text: string): string => text.replace('sk-1', '[redacted]')
  const daemon = startDaemon(command, { name: 'db', cwd: '/', redact })
  onTestFinished(() => daemon.close())
  expect(daemon.failure()).toBe(false)
  await vi.waitFor(() => expect(daemon.failure()).toBe('db ended with 3: no space left for [redacted]'), 5000)
})

test('a MariaDB that is not installed is an error that says so', async () => {
  vi.stubEnv('PATH', '/nowhere')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const start = startMariadb({ kind: 'mariadb' }, { redact: (text) => text })
  await expect(start('/')).rejects.toMatchObject({
    code: 'no-service',
    message: expect.stringContaining('MariaDB is not installed on this machine'),
  })
})

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
  const { tasks, profiles } = await environment.prepareTasks({ seed: 1, counts: { train: 4 } })
  // Without `show` only a tool of the server shows what the service keeps.
  expect(profiles.map(({ name, effect, shownBy }) => [name, effect, shownBy])).toEqual([
    ['list_entries', 'reading', []],
    ['add_entry', 'writing', ['list_entries']],
  ])
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
