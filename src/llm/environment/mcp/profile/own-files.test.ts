import { expect, test } from 'vitest'
import type { AdmittedTool } from '../safety.ts'
import type { Observer } from '../tool-system.ts'
import { observerKey } from './observers.ts'
import { exceptFiles, filesOfMoments, kindOfPath, madeOnce, namesMoment, withoutFiles } from './own-files.ts'
import { type Tried, untried } from './tried.ts'

const now = new Date()
const stamp = (milliseconds: number) =>
  new Date(now.getTime() + milliseconds).toISOString().replaceAll(/[:.]/g, '-')

function tried(name: string, kind: AdmittedTool['kind'], paths: string[]): Tried {
  const tool = { spec: { name, inputSchema: {} }, kind } as AdmittedTool
  return {
    ...untried(tool),
    examples: [{ arguments: {}, text: '', seeds: [], changed: true, grew: true }],
    changes: new Map([['{files}', paths.length]]),
    changed: paths.length,
    succeeded: 2,
    paths: new Set(paths),
  }
}

test('a path with the present time is recognised, an old date and another number are not', () => {
  expect(namesMoment(`out/page-${stamp(0)}.yml`)).toBe(true)
  expect(namesMoment(`out/${Date.now()}.png`)).toBe(true)
  expect(namesMoment('out/page-2019-05-04T10-07-31.yml')).toBe(false)
  expect(namesMoment('notes-20.md')).toBe(false)
  expect(kindOfPath('out/page-2026-11-24.yml')).toBe('out/page-#-#-#.yml')
})

test('files named by the time are no state if three tools make them, or one that is marked as reading', () => {
  const click = tried('click', 'write', [`out/page-${stamp(0)}.yml`])
  const type = tried('type', 'write', [`out/page-${stamp(1)}.yml`])
  const hover = tried('hover', 'write', [`out/page-${stamp(2)}.yml`])
  const look = tried('look', 'read', [`out/page-${stamp(3)}.yml`])
  expect(filesOfMoments([click, type])).toEqual([])
  expect(filesOfMoments([click, type, hover])).toEqual([kindOfPath(`out/page-${stamp(0)}.yml`)])
  expect(filesOfMoments([click, look])).toHaveLength(1)
  // A store with a file for each record, named by what the caller gave.
  expect(filesOfMoments(['a', 'b', 'c'].map((name) => tried(name, 'write', [`${name}-7.json`])))).toEqual([])
})

test('what a tool changed is counted without these files, and the folder that has only them', () => {
  const path = `out/page-${stamp(0)}.yml`
  const click = tried('click', 'write', ['out', path])
  const save = tried('save', 'write', [path, 'notes.txt'])
  const witnesses: Observer[] = [{ name: '{files}', arguments: {} }]
  expect(exceptFiles([click, save], witnesses, [kindOfPath(path)])).toBe(true)
  expect(click).toMatchObject({ changed: 0, examples: [{ changed: false }] })
  expect([...save.paths]).toEqual(['notes.txt'])
  expect(save.changes.get(observerKey(witnesses[0]))).toBe(2)
  expect(exceptFiles([click, save], witnesses, [kindOfPath(path)])).toBe(false)
  const seen = { out: 'folder', [path]: 'x', 'notes.txt': 'y' }
  expect(withoutFiles(JSON.stringify(seen), [kindOfPath(path)])).toBe('{"notes.txt":"y"}')
})

test('files of the first call are the server’s own, unless the same call changes something again', () => {
  const text = (files: object) => JSON.stringify(files)
  const [first, second] = [text({}), text({ 'config.json': { a: 1 } })]
  expect(madeOnce(first, second, second)).toEqual(['config.json'])
  expect(madeOnce(first, second, text({ 'config.json': { a: 2 } }))).toEqual([])
  // What was there is not the server's own, and what is gone was not made.
  expect(madeOnce(text({ 'a.txt': 'x' }), text({ 'a.txt': 'y' }), text({ 'a.txt': 'y' }))).toEqual([])
  expect(madeOnce(first, text({ 'a.txt': null }), text({ 'a.txt': null }))).toEqual([])
})
