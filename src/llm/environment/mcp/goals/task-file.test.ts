import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fromFileTask, readTaskFile, toFileTask } from './task-file.ts'

const line = { id: 'ranks', prompt: 'Who came in, in order?', expected: { answer: ['Ada', 'Alan'] } }

test('that a list is ordered is written and read back', () => {
  const ordered = { ...line, expected: { ...line.expected, ordered: true } }
  expect(toFileTask(fromFileTask(ordered, 0)).expected).toEqual(ordered.expected)
  expect(toFileTask(fromFileTask(line, 0)).expected).toEqual(line.expected)
})

test('"ordered" is true or false', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-tasks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tasks.jsonl')
  writeFileSync(file, JSON.stringify({ ...line, expected: { ...line.expected, ordered: 'yes' } }))
  expect(() => readTaskFile(file)).toThrow(/is no task/)
})
