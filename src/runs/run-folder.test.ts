import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkNewRun, openRunFolder } from './run-folder.ts'

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
  expect(folder.read('evaluations/base.jsonl', String)).toBe('one\n')
  expect(readdirSync(join(root, 'run', 'evaluations'))).toEqual(['base.jsonl'])
  folder.append('metrics.jsonl', ['{"a":1}'])
  const size = folder.size('metrics.jsonl')
  folder.append('metrics.jsonl', ['{"a":2}', '{"a":3}'])
  folder.truncate('metrics.jsonl', size)
  expect(folder.lines('metrics.jsonl')).toEqual(['{"a":1}'])
  folder.truncate('absent.jsonl', 0)
  expect(folder.size('absent.jsonl')).toBe(0)
})

test('a path through a file, and a target that is a folder, are reported by path', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => openRunFolder({ path: join(root, 'file', 'run') })).toThrow(/Cannot write or read .*file.run/)
  const folder = openRunFolder({ path: join(root, 'run') })
  folder.makeFolder('summary.json')
  expect(() => folder.write('summary.json', '{}')).toThrow(/summary\.json: it is a folder \(EISDIR\)/)
  expect(readdirSync(join(root, 'run'))).toEqual(['summary.json'])
  expect(() => folder.read('absent', String)).toThrow(/absent: there is no such file or folder \(ENOENT\)/)
})

test('a folder that a run would overwrite is refused, and the check leaves no files behind', () => {
  checkNewRun(join(root, 'new', 'run'))
  expect(readdirSync(root)).toEqual([])
  mkdirSync(join(root, 'notes'))
  writeFileSync(join(root, 'notes', 'log.txt'), '')
  checkNewRun(join(root, 'notes'))
  writeFileSync(join(root, 'notes', 'metrics.jsonl'), '')
  expect(() => checkNewRun(join(root, 'notes'))).toThrow(/notes already holds a metrics\.jsonl/)
  openRunFolder({ path: join(root, 'run') }).write('config.json', '{}')
  expect(() => checkNewRun(join(root, 'run'))).toThrow(
    expect.objectContaining({ code: 'run-exists', hint: expect.stringContaining('--resume') }),
  )
})
