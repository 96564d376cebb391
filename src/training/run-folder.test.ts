import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { guarded, openRunFolder } from './run-folder.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-run-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('runs live in .agoge/runs, which git does not see; two of the same second do not share a folder', () => {
  const one = openRunFolder({ root })
  const two = openRunFolder({ root })
  expect(readFileSync(join(root, '.agoge', '.gitignore'), 'utf8')).toBe('*\n')
  expect(one.path.startsWith(join(root, '.agoge', 'runs'))).toBe(true)
  expect(two.path).not.toBe(one.path)
  expect(openRunFolder({ root, id: 'mine' }).path).toBe(openRunFolder({ root, id: 'mine' }).path)
})

test('files are written whole, appended and cut back', () => {
  const folder = openRunFolder({ path: join(root, 'run') })
  folder.write('evaluations/base.jsonl', 'one\n')
  expect(folder.read('evaluations/base.jsonl')).toBe('one\n')
  expect(readdirSync(join(root, 'run', 'evaluations'))).toEqual(['base.jsonl'])
  folder.append('metrics.jsonl', ['{"a":1}'])
  const size = folder.size('metrics.jsonl')
  folder.append('metrics.jsonl', ['{"a":2}', '{"a":3}'])
  folder.truncate('metrics.jsonl', size)
  expect(folder.lines('metrics.jsonl')).toEqual(['{"a":1}'])
  folder.truncate('absent.jsonl', 0)
  expect(folder.size('absent.jsonl')).toBe(0)
})

test.skipIf(!existsSync('/dev/full'))('a full disk is told by path and repair', () => {
  expect(() => guarded('/dev/full', () => writeFileSync('/dev/full', 'text'))).toThrow(
    expect.objectContaining({
      code: 'run-folder',
      given: '/dev/full',
      hint: expect.stringContaining('disk is full'),
    }),
  )
})

test('a path through a file, and a target that is a folder, are told by path', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => openRunFolder({ path: join(root, 'file', 'run') })).toThrow(/Cannot write or read .*file.run/)
  const folder = openRunFolder({ path: join(root, 'run') })
  folder.makeFolder('summary.json')
  expect(() => folder.write('summary.json', '{}')).toThrow(/summary\.json \(EISDIR\)/)
  expect(readdirSync(join(root, 'run'))).toEqual(['summary.json'])
  expect(() => folder.read('absent')).toThrow(/absent \(ENOENT\)/)
})
