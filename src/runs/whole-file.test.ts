import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkFile, writeWhole } from './whole-file.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-file-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('a file is replaced as a whole, its folders are made, nothing else is left', () => {
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
