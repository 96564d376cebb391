import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openRunFolder } from '../../runs/run-folder.ts'
import { saveRun } from '../../runs/run-store.ts'
import { readTaskFile } from '../environment/mcp/goals/task-file.ts'
import { initialState, loadState } from './state.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-split-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('a run that stopped while it measured unseen-wording resumes in that phase', async () => {
  const folder = openRunFolder({ path: join(root, 'run') })
  folder.makeFolder('checkpoints/unseen-wording-0')
  saveRun(folder, {
    checkpoint: 'unseen-wording-0',
    state: { ...initialState(), phase: 'unseen-wording' },
    times: {},
  })
  expect(await loadState(folder)).toMatchObject({
    checkpoint: 'unseen-wording-0',
    state: { phase: 'unseen-paraphrase', step: 0 },
  })
})

test('a task file of an earlier version keeps its split', () => {
  const file = join(root, 'tasks.jsonl')
  const line = {
    id: 'notes/unseen-wording/4',
    prompt: 'Who?',
    split: 'unseen-wording',
    expected: { answer: 'Ada' },
  }
  writeFileSync(file, `${JSON.stringify(line)}\n${JSON.stringify({ ...line, id: '2', split: undefined })}\n`)
  const [first, second] = readTaskFile(file)
  expect(first).toMatchObject({ id: 'notes/unseen-paraphrase/4', split: 'unseen-paraphrase' })
  expect(second).toEqual({ id: '2', prompt: 'Who?', expected: { answer: 'Ada' } })
})
