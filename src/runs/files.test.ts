import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AgogeError } from '../error.ts'
import {
  asFileError,
  checkFile,
  checkFolder,
  fileErrorCode,
  makeFolder,
  requireWritable,
  withFileErrors,
  withFileErrorsAsync,
  writeWhole,
} from './files.ts'

test.skipIf(!existsSync('/dev/full'))('a full disk is reported by path, reason and repair', async () => {
  const full = expect.objectContaining({
    message: 'Cannot write or read /dev/full: the disk is full (ENOSPC)',
    given: '/dev/full',
    hint: expect.stringContaining('Make room'),
  })
  const write = () => writeFileSync('/dev/full', 'text')
  expect(() => withFileErrors('/dev/full', write)).toThrow(full)
  // Other libraries wrap the system's error in a less specific one.
  const wrapped = withFileErrorsAsync('/dev/full', async () => {
    try {
      write()
    } catch (cause) {
      throw new AgogeError('not saved', { code: 'bad-argument', cause })
    }
  })
  await expect(wrapped).rejects.toEqual(full)
})

test('errors that are not about files stay unchanged', async () => {
  const plain = new TypeError('odd')
  expect(asFileError('/x', plain)).toBe(plain)
  expect(fileErrorCode(spawnSync('/nowhere/at-all').error)).toBeUndefined()
  const [refused] = (await once(createConnection('/nowhere/socket'), 'error')) as [Error]
  expect(refused).toMatchObject({ code: 'ENOENT' })
  expect(fileErrorCode(refused)).toBeUndefined()
  expect(() => withFileErrors('/nowhere/file', () => readFileSync('/nowhere/file'))).toThrow(/no such file/)
  const own = new AgogeError('not saved', { code: 'bad-argument' })
  await expect(withFileErrorsAsync('/x', () => Promise.reject(own))).rejects.toBe(own)
})

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

test('a check leaves no files behind, whether it succeeds or fails', () => {
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

const sources = fileURLToPath(new URL('files.ts', import.meta.url))

test.skipIf(!existsSync('/proc/self'))('below /proc the answer comes at once', () => {
  // In a separate process: a failure here blocks a process forever.
  const script = `import(${JSON.stringify(sources)}).then(({ makeFolder }) => makeFolder('/proc/agoge/run'))
    .catch((error) => process.stdout.write(error.code + ' ' + error.message))`
  const { stdout, signal } = spawnSync(process.execPath, ['--import', 'tsx', '-e', script], {
    encoding: 'utf8',
    timeout: 600_000,
  })
  expect({ stdout, signal }).toEqual({
    stdout: 'unusable-path Cannot create the folder /proc/agoge: its file system does not allow it',
    signal: null,
  })
})

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-file-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('a file is replaced atomically, its folders are created, no temporary file is left', () => {
  const path = join(root, 'a', 'report.json')
  checkFile(path)
  expect(readdirSync(root)).toEqual([])
  writeWhole(path, 'one')
  checkFile(path)
  expect(readFileSync(path, 'utf8')).toBe('one')
  writeWhole(path, 'two')
  expect(readFileSync(path, 'utf8')).toBe('two')
  expect(readdirSync(join(root, 'a'))).toEqual(['report.json'])
})

test.skipIf(!existsSync('/dev/full'))('devices are written, never replaced, also through a link', () => {
  const link = join(root, 'out')
  symlinkSync('/dev/full', link)
  for (const path of [link, '/dev/full']) {
    checkFile(path)
    expect(() => writeWhole(path, 'text')).toThrow(/: the disk is full \(ENOSPC\)/)
  }
  expect(statSync(link).isCharacterDevice()).toBe(true)
})

test('a folder, and a path through a file, are refused before anything is written', () => {
  mkdirSync(join(root, 'folder'))
  writeFileSync(join(root, 'file'), '')
  expect(() => checkFile(join(root, 'folder'))).toThrow(/folder is a folder/)
  expect(() => checkFile(join(root, 'file', 'report.json'))).toThrow(/file/)
  expect(() => writeWhole(join(root, 'folder'), 'text')).toThrow(/folder: it is a folder/)
  expect(readdirSync(root).sort()).toEqual(['file', 'folder'])
})
