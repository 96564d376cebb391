import { expect, test } from 'vitest'
import { answers } from '../definition/solution.ts'
import { type FilesystemTask, judgeOutcome } from './task.ts'
import { filesystemTasks } from './tasks.ts'

const outcome = (answer: string | null): { answer: string | null; calls: number; invalidCalls: number } => ({
  answer,
  calls: 1,
  invalidCalls: 0,
})

function tasksOf(kind: string): FilesystemTask[] {
  return Array.from({ length: 25 }, (_, seed) => filesystemTasks.task({ split: 'test', seed, kind }))
}

const right = (task: FilesystemTask): string =>
  task.answer.kind === 'any'
    ? 'done'
    : String(task.answer.kind === 'text' ? task.answer.text : task.answer.number)

test('reaching the goal succeeds; doing nothing, no answer or another answer fails', () => {
  for (const kind of filesystemTasks.kinds) {
    for (const task of tasksOf(kind)) {
      expect(judgeOutcome(task, task.goal, outcome(right(task))).value, task.prompt).toBe(1)
      expect(judgeOutcome(task, task.goal, outcome(null)).value).toBe(0)
      expect(judgeOutcome(task, task.goal, outcome(' ')).value).toBe(0)
      expect(judgeOutcome(task, task.start, outcome('done')).value, task.prompt).toBe(0)
      if (task.answer.kind !== 'any') {
        expect(judgeOutcome(task, task.goal, outcome('lobster')).value).toBe(0)
      }
    }
  }
})

test('an additional change fails, and so does deleting something on the way', () => {
  for (const kind of filesystemTasks.kinds) {
    for (const task of tasksOf(kind).slice(0, 5)) {
      const { folders, files } = task.goal
      const [path] = Object.keys(files)
      const { [path]: lost, ...rest } = files
      for (const tree of [
        { folders: [...folders, '/extra'], files },
        { folders: folders.slice(1), files },
        { folders, files: { ...files, '/extra.txt': '' } },
        { folders, files: rest },
        { folders, files: { ...files, [path]: `${lost} more` } },
      ]) {
        const judged = judgeOutcome(task, tree, outcome(right(task)))
        expect(judged).toMatchObject({ value: 0, parts: { state: 0, answer: 1 } })
        expect(judged.reason).toMatch(/^the (?:file|folder) \//)
      }
    }
  }
})

test('an answer that lists all values fails', () => {
  for (const kind of ['read', 'find', 'find-and-read', 'count']) {
    for (const task of tasksOf(kind)) {
      const { files } = task.start
      const everything = Object.entries(files).map(([path, text]) => `${path}: ${text}`)
      expect(answers(task.answer, everything.join('\n')), task.prompt).toBe(false)
      expect(answers(task.answer, Object.values(files).join('\n'))).toBe(false)
      expect(answers(task.answer, Object.keys(files).join(' '))).toBe(false)
      expect(answers(task.answer, '0 1 2 3 4 5 6 7')).toBe(false)
    }
  }
})

test('a text may stand in quotes or in a short sentence, but not inside another word or path', () => {
  const wanted = {
    kind: 'text',
    text: 'paint red boat',
    others: ['paint red boat house', 'sell kite'],
  } as const
  for (const said of [
    'paint red boat',
    ' paint red boat.\n',
    '"paint red boat"',
    'The file says: paint red boat',
    '/notes/a.txt says "paint red boat".',
  ]) {
    expect(answers(wanted, said), said).toBe(true)
  }
  for (const said of [
    'Paint red boat',
    'repaint red boat',
    'paint red boats',
    'paint red boat and sell kite',
    'paint red',
    `paint red boat ${'or something else '.repeat(8)}`,
  ]) {
    expect(answers(wanted, said), said).toBe(false)
  }
  const path = { kind: 'text', text: '/notes/oak.txt', others: ['/oak.txt', '/notes/red-oak.txt'] } as const
  expect(answers(path, 'It is at /notes/oak.txt.')).toBe(true)
  for (const said of [
    '/old/notes/oak.txt',
    '/notes/oak.txt.md',
    'oak.txt',
    '/notes/oak.txt or /notes/red-oak.txt',
  ]) {
    expect(answers(path, said), said).toBe(false)
  }
})

test('a number must be the only number in the answer', () => {
  const wanted = { kind: 'number', number: 4 } as const
  for (const said of ['4', ' 4.\n', 'There are 4 files.']) expect(answers(wanted, said), said).toBe(true)
  for (const said of ['5', '3 or 4', '-4', '4.5', 'four', '44', ''])
    expect(answers(wanted, said), said).toBe(false)
})

test('a line break at the end of a text does not count', () => {
  const task = filesystemTasks.task({ split: 'train', seed: 1, kind: 'write' })
  const files = Object.fromEntries(Object.entries(task.goal.files).map(([path, text]) => [path, `${text}\n`]))
  expect(judgeOutcome(task, { ...task.goal, files }, outcome('done')).value).toBe(1)
})
