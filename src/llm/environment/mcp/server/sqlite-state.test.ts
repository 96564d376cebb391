import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite from 'node-sqlite3-wasm'
import { afterEach, expect, test } from 'vitest'
import { createFileTracker, databasesIn, describeChanges } from './slot-files.ts'
import { databaseDifference, databaseRecords } from './sqlite-reader.ts'
import { createTableReader } from './sqlite-state.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function shop(): { folder: string; run: (statement: string) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  folders.push(folder)
  const run = (statement: string): void => {
    const database = new sqlite.Database(join(folder, 'shop.db'))
    database.exec(statement)
    database.close()
  }
  run(`create table pets (id integer primary key, name text not null, born date default '2020-01-01');
    create table "odd ""names" (a integer, b blob, primary key (a, b));
    create index by_name on pets (name);
    insert into pets (name) values ('Rex'), ('Ada');
    insert into "odd ""names" values (9007199254740993, x'ff00');`)
  return { folder, run }
}

test('a database is described by its rows in one order, and by its schema', async () => {
  const { folder } = shop()
  const path = join(folder, 'shop.db')
  const read = await createTableReader()
  const before = statSync(path)
  expect(read(readFileSync(path))?.state).toEqual({
    schema: [
      'CREATE INDEX by_name on pets (name)',
      'CREATE TABLE "odd ""names" (a integer, b blob, primary key (a, b))',
      expect.stringMatching(/^CREATE TABLE pets /),
    ],
    'rows of odd "names': [{ a: '9007199254740993', b: { base64: '/wA=' } }],
    'rows of pets': [
      { id: 1, name: 'Rex', born: '2020-01-01' },
      { id: 2, name: 'Ada', born: '2020-01-01' },
    ],
  })
  expect(await databaseRecords(readFileSync(path))).toEqual(
    expect.arrayContaining([
      { table: 'pets', columns: ['id INTEGER PRIMARY KEY', 'name TEXT', 'born date DEFAULT'], exact: true },
      { id: 2, name: 'Ada', born: '2020-01-01' },
    ]),
  )
  expect(statSync(path).mtimeMs).toBe(before.mtimeMs)
})

test('what is no database is not read', async () => {
  const broken = Buffer.alloc(4096, 7)
  broken.write('SQLite format 3\0')
  expect(await databaseDifference(undefined, broken)).toBeUndefined()
  expect(await databaseRecords(broken)).toEqual([])
})

test('changes of a database are those of its tables, and other bytes with the same rows are none', async () => {
  const { folder, run } = shop()
  const files = createFileTracker(folder)
  const first = files.read()
  const changes = async (): Promise<unknown> => JSON.parse(await describeChanges(first, files.read()))
  run("insert into pets (name) values ('Bo')")
  expect(await changes()).toEqual({
    'shop.db': { 'rows of pets': { added: [{ id: 3, name: 'Bo', born: '2020-01-01' }], removed: [] } },
  })
  run('delete from pets where id = 3; vacuum')
  expect(databasesIn(files.read())[0].equals(databasesIn(first)[0])).toBe(false)
  expect(await changes()).toEqual({})
  run('drop table "odd ""names"')
  expect(await changes()).toMatchObject({ 'shop.db': { 'rows of odd "names': null } })
  run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 900) insert into pets (name) select 'Pet ' || i from n`,
  )
  expect(await changes()).toMatchObject({
    'shop.db': { 'rows of pets': { added: { rows: 900, digest: expect.any(String) }, removed: [] } },
  })
})

test('a generated column is not read: it says nothing new, and may be of any size', async () => {
  const { folder, run } = shop()
  run('create table parts (id integer, big text generated always as (hex(zeroblob(300000000))) virtual)')
  run('insert into parts (id) values (1)')
  const [database] = databasesIn(createFileTracker(folder).read())
  expect((await createTableReader())(database)?.state).toMatchObject({ 'rows of parts': [{ id: 1 }] })
})

test('a large database is read in a thread: this one goes on', async () => {
  const { folder, run } = shop()
  run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) insert into pets (name) select 'Pet ' || i from n`,
  )
  let turns = 0
  const timer = setInterval(() => turns++, 10)
  const contents = readFileSync(join(folder, 'shop.db'))
  expect(await databaseDifference(undefined, contents)).toMatchObject({
    'rows of pets': { rows: 200_002, digest: expect.any(String) },
  })
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})
