import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InfrastructureError } from '../../../tool/tool.ts'
import { createFileTracker } from './slot-files.ts'

/** A slot with one file, and a folder of a user, on one disk. */
function places() {
  const parent = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const [slot, user] = [join(parent, 'slot'), join(parent, 'user')]
  for (const folder of [slot, user]) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'notes'), `of the ${folder === slot ? 'slot' : 'user'}`)
  }
  const tracker = createFileTracker(slot, { bytes: 1000, files: 5 })
  return { slot, user, tracker, first: tracker.read() }
}

test.skipIf(process.platform === 'win32')('a named pipe is never opened, and is removed', () => {
  const { slot, tracker, first } = places()
  rmSync(join(slot, 'notes'))
  execFileSync('mkfifo', [join(slot, 'notes'), join(slot, 'other')])
  expect([...tracker.read().keys()]).toEqual(['notes', 'other'])
  tracker.write(first)
  expect(readFileSync(join(slot, 'notes'), 'utf8')).toBe('of the slot')
  expect(existsSync(join(slot, 'other'))).toBe(false)
})

test('what a server adds has a limit of bytes and of files, also where it has no contents', () => {
  const big = places()
  writeFileSync(join(big.slot, 'hole'), '')
  truncateSync(join(big.slot, 'hole'), 20_000_000_000)
  expect(() => big.tracker.read()).toThrow(InfrastructureError)
  const many = places()
  for (let index = 0; index < 6; index++) writeFileSync(join(many.slot, String(index)), '')
  expect(() => many.tracker.read()).toThrow(/added more than 0 MB or 5 files/)
  rmSync(join(many.slot, '0'))
  expect(many.tracker.read().size).toBe(6)
})

test('a slot that is gone, or replaced by a link, is a fault of the server, and nothing else is touched', () => {
  const gone = places()
  rmSync(gone.slot, { recursive: true })
  expect(() => gone.tracker.read()).toThrow(InfrastructureError)
  const { slot, user, tracker, first } = places()
  writeFileSync(join(user, 'more'), 'more of the user')
  renameSync(slot, `${slot}-away`)
  symlinkSync(user, slot)
  expect(() => tracker.write(first)).toThrow('the server replaced the folder that it runs in')
  expect(readFileSync(join(user, 'notes'), 'utf8')).toBe('of the user')
  expect(existsSync(join(user, 'more'))).toBe(true)
})

test('a database that has a second name elsewhere is replaced, not written into', () => {
  const { slot, user } = places()
  const database = (rows: string): Buffer => {
    const bytes = Buffer.alloc(200)
    bytes.write('SQLite format 3\0')
    bytes[18] = 1
    bytes.write(rows, 100)
    return bytes
  }
  writeFileSync(join(slot, 'a.db'), database('of the slot'))
  writeFileSync(join(user, 'a.db'), database('of the user'))
  const tracker = createFileTracker(slot)
  const first = tracker.read()
  rmSync(join(slot, 'a.db'))
  linkSync(join(user, 'a.db'), join(slot, 'a.db'))
  tracker.write(first)
  expect(readFileSync(join(user, 'a.db')).toString('utf8', 100, 111)).toBe('of the user')
  expect(readFileSync(join(slot, 'a.db')).toString('utf8', 100, 111)).toBe('of the slot')
})
