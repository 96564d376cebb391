import { expect, test } from 'vitest'
import { filesystemTasks } from '../environment/filesystem/tasks.ts'
import { currentSplit, currentTaskId, splitKey } from './split.ts'

test('the earlier name of a split is read, other values stay', () => {
  expect(currentSplit('unseen-wording')).toBe('unseen-paraphrase')
  expect(currentSplit('unseen-paraphrase')).toBe('unseen-paraphrase')
  expect(currentSplit('test')).toBe('test')
  expect(currentSplit(undefined)).toBeUndefined()
  expect(currentTaskId('filesystem/unseen-wording/read/3')).toBe('filesystem/unseen-paraphrase/read/3')
  expect(currentTaskId('filesystem/test/read/3')).toBe('filesystem/test/read/3')
})

test('random streams keep the earlier key, so the tasks are those of earlier versions', () => {
  expect(splitKey('unseen-paraphrase')).toBe('unseen-wording')
  expect(splitKey('train')).toBe('train')
  const { id, prompt } = filesystemTasks.task({ split: 'unseen-paraphrase', seed: 0, kind: 'read' })
  expect(id).toBe('filesystem/unseen-paraphrase/read/0')
  expect(prompt).toBe('I need to see the text inside /laundry/butter-sorbet.txt right now')
})
