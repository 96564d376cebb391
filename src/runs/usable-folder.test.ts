import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkFolder, makeFolder, requireWritable } from './usable-folder.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-folder-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('missing parents are made one by one, and returned', () => {
  const path = join(root, 'a', 'b', 'c')
  expect(makeFolder(path)).toEqual([join(root, 'a'), join(root, 'a', 'b'), path])
  expect(makeFolder(path)).toEqual([])
  requireWritable(path)
  expect(readdirSync(path)).toEqual([])
})

test('a check leaves nothing behind, whether it succeeds or fails', () => {
  checkFolder(join(root, 'a', 'b'))
  expect(readdirSync(root)).toEqual([])
  mkdirSync(join(root, 'a'))
  checkFolder(join(root, 'a', 'b'))
  expect(readdirSync(root)).toEqual(['a'])
  writeFileSync(join(root, 'a', 'file'), '')
  expect(() => checkFolder(join(root, 'a', 'file', 'b', 'c'))).toThrow(
    /file.b.c: a part of the path is a file/,
  )
  expect(readdirSync(join(root, 'a'))).toEqual(['file'])
})

test('files, dead links and overlong names in the way are reported', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => makeFolder(join(root, 'file'))).toThrow(/a file stands where a folder is needed/)
  symlinkSync(join(root, 'nowhere'), join(root, 'link'))
  expect(() => makeFolder(join(root, 'link'))).toThrow(expect.objectContaining({ code: 'unusable-path' }))
  expect(() => makeFolder(join(root, 'x'.repeat(300)))).toThrow(/the name is too long/)
})

const sources = fileURLToPath(new URL('usable-folder.ts', import.meta.url))

test.skipIf(!existsSync('/proc/self'))('below /proc the answer comes at once', () => {
  // In a process of its own: what goes wrong here blocks a process for ever.
  const script = `import(${JSON.stringify(sources)}).then(({ makeFolder }) => makeFolder('/proc/agoge/run'))
    .catch((error) => process.stdout.write(error.code + ' ' + error.message))`
  const { stdout, signal } = spawnSync(process.execPath, ['--import', 'tsx', '-e', script], {
    encoding: 'utf8',
    timeout: 600_000,
  })
  expect({ stdout, signal }).toEqual({
    stdout: 'unusable-path Cannot make the folder /proc/agoge: its file system makes none',
    signal: null,
  })
})
