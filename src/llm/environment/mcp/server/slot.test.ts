import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AgogeError } from '../../../../error.ts'
import { createFileTracker, describeChanges } from './slot-files.ts'
import { filesAtWork, fillSlot, planSlot, slotNames } from './slot.ts'

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agoge-test-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('what arguments and variables name is copied in, and rewritten; programs and words stay', () => {
  const home = temporary()
  const slot = temporary()
  mkdirSync(join(home, 'data'))
  writeFileSync(join(home, 'data', 'a.txt'), 'hello')
  writeFileSync(join(home, 'tool.mjs'), '')
  const plan = planSlot('s', {
    command: 'node',
    args: [join(home, 'tool.mjs'), `--root=${join(home, 'data')}`, 'hello', 'https://example.org/data'],
    env: {
      FILE: join(home, 'data', 'a.txt'),
      NEW_FILE: join(home, 'later.db'),
      PATH: home,
      DATABASE: `sqlite:///${join(home, 'data', 'a.txt').slice(1)}`,
      LEVEL: 'debug',
    },
  })
  const { args = [], env = {} } = plan.server
  // A program in a small folder runs as a copy, since it may write beside its code.
  expect(args[0]).toMatch(/^\{slot\}\/program\/.*tool\.mjs$/)
  expect(args[1]).toMatch(/^--root=\{slot\}\/.*data$/)
  expect(args.slice(2)).toEqual(['hello', 'https://example.org/data'])
  expect(env).toMatchObject({ PATH: home, LEVEL: 'debug', HOME: '{slot}/home', TMPDIR: '{slot}/tmp' })
  expect(env['XDG_DATA_HOME']).toBe('{slot}/xdg/data')
  expect(env['NEW_FILE']).toMatch(/^\{slot\}\/.*later\.db$/)
  fillSlot(plan, slot)
  for (const value of [env['FILE'], env['DATABASE']?.replace('sqlite://', '')])
    expect(readFileSync(value?.replace('{slot}', slot) ?? '', 'utf8')).toBe('hello')
  expect(existsSync((env['NEW_FILE'] ?? '').replace('{slot}', slot))).toBe(false)
  // The policy and the server speak of the paths that the configuration names.
  const names = slotNames(plan, slot)
  const inside = (env['FILE'] ?? '').replace('{slot}', slot)
  expect(names.show(`read file://${inside}: ok`)).toContain('a.txt: ok')
  expect(names.show(inside)).not.toContain(slot)
  expect(names.hide({ path: names.show(inside), deep: [names.show(inside)] })).toEqual({
    path: inside,
    deep: [inside],
  })
})

test('the files of the working directory are known by their paths, if the configuration names it', () => {
  const home = temporary()
  for (const folder of ['src', 'node_modules']) mkdirSync(join(home, folder))
  for (const file of ['a.js', '.env', 'src/b.js', 'node_modules/c.js']) writeFileSync(join(home, file), '')
  const server = { command: 'lint', args: [] }
  expect(filesAtWork(planSlot('lint', { ...server, cwd: home }))).toEqual([
    { path: join(home, 'a.js') },
    { path: join(home, 'src', 'b.js') },
  ])
  expect(filesAtWork(planSlot('lint', server, { base: home }))).toEqual([])
})

test('what is too large to be copied is refused with the lines that would allow it', () => {
  const home = temporary()
  writeFileSync(join(home, 'big.bin'), Buffer.alloc(3_000_000))
  const plan = (megabytes: number) => () =>
    planSlot('files', { command: 'files', args: [join(home, 'big.bin')] }, { megabytes })
  expect(plan(5)).not.toThrow()
  let error: unknown
  try {
    plan(2)()
  } catch (reason) {
    error = reason
  }
  expect(error).toBeInstanceOf(AgogeError)
  expect(error).toMatchObject({
    code: 'slot-too-large',
    expected: 'at most 2 MB and 20000 files',
    hint: expect.stringContaining('"agoge": { "files": { "slotMegabytes": 20 } }'),
  })
})

test('files are restored exactly, also when they changed twice within one stamp of the file system', async () => {
  const folder = temporary()
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'deep', 'a.json'), '{"b":1}')
  writeFileSync(join(folder, 'same'), 'one')
  const tracker = createFileTracker(folder)
  const first = tracker.read()
  for (let round = 0; round < 20; round++) {
    writeFileSync(join(folder, 'same'), 'two')
    expect(await describeChanges(first, tracker.read())).toBe('{"same":"two"}')
    rmSync(join(folder, 'deep'), { recursive: true })
    mkdirSync(join(folder, 'new'))
    writeFileSync(join(folder, 'new', 'rows'), '{"a":1}\n{"a":2}\n')
    expect(JSON.parse(await describeChanges(first, tracker.read()))).toEqual({
      deep: null,
      'deep/a.json': null,
      new: 'folder',
      'new/rows': [{ a: 1 }, { a: 2 }],
      same: 'two',
    })
    tracker.write(first)
    expect(await describeChanges(first, tracker.read())).toBe('{}')
    expect(readFileSync(join(folder, 'deep', 'a.json'), 'utf8')).toBe('{"b":1}')
    expect(readFileSync(join(folder, 'same'), 'utf8')).toBe('one')
  }
})

/** A file with the header of a SQLite database without a write-ahead log. */
function database(counter: number, rows: string): Buffer {
  const bytes = Buffer.alloc(200)
  bytes.write('SQLite format 3\0')
  bytes[18] = 1
  bytes.writeUInt32BE(counter, 24)
  bytes.writeUInt32BE(counter, 40)
  bytes.writeUInt32BE(counter, 92)
  bytes.write(rows, 100)
  return bytes
}

test('a database of SQLite is restored in place, with numbers of changes and schema that its reader has not seen', async () => {
  const folder = temporary()
  const path = join(folder, 'shop.db')
  writeFileSync(path, database(1, 'first'))
  const tracker = createFileTracker(folder)
  const first = tracker.read()
  const counters = new Set([1])
  const { ino } = statSync(path)
  for (let round = 0; round < 5; round++) {
    // A server writes into the file that it has open.
    writeFileSync(path, database(2, `other ${round}`), { flag: 'r+' })
    counters.add(2)
    expect(await describeChanges(first, tracker.read())).toMatch(/^\{"shop.db":\{"hash":"[\da-f]{64}"\}\}$/)
    tracker.write(first)
    const now = readFileSync(path)
    expect(statSync(path).ino).toBe(ino)
    expect(now.toString('utf8', 100, 105)).toBe('first')
    for (const place of [40, 92]) expect(now.readUInt32BE(place)).toBe(now.readUInt32BE(24))
    expect(counters.has(now.readUInt32BE(24))).toBe(false)
    counters.add(now.readUInt32BE(24))
    expect(await describeChanges(first, tracker.read())).toBe('{}')
  }
  // With a log beside it, the file is replaced: what the server still has open is not to be trusted.
  writeFileSync(`${path}-wal`, 'log')
  writeFileSync(path, database(9, 'late'), { flag: 'r+' })
  tracker.write(first)
  expect(readFileSync(path).equals(database(1, 'first'))).toBe(true)
})
