import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTaskFile } from '../environment/mcp/goals/task-file.ts'
import { importTraces } from './import-traces.ts'
import { writeTasks } from './tasks-of-episodes.ts'

const said = (...texts: string[]): object => ({
  messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
})

async function tasksOf(trustAnswers: boolean, ...lines: object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-tasks-'))
  const [given, episodes, out] = ['chats', 'episodes', 'tasks'].map((name) => join(folder, `${name}.jsonl`))
  writeFileSync(given, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await importTraces([given], { out: episodes, secrets: [] })
  const written = await writeTasks(episodes, { out, trustAnswers })
  return { written, tasks: readTaskFile(out, { needsExpected: false }), text: readFileSync(out, 'utf8') }
}

const lines = [
  said('What is 2 + 2?', '4'),
  said('What is 2 + 2?', '4'),
  said('What is 3 + 3?', '6'),
  said('Capital of France?', 'Paris'),
  said('Capital of France?', 'Lyon'),
  said('Tell me more.', 'About what?', 'Ships.', 'They float.'),
  said('Tell me more.', 'Ships float.'),
  said('Hello?', 'Yes?', 'Bye.', 'Bye.'),
  { messages: [{ role: 'assistant', content: 'How can I help?' }] },
]

test('one task for each prompt; answers are trusted only if somebody says so', async () => {
  const { tasks, written } = await tasksOf(false, ...lines)
  expect(tasks.map(({ prompt, expected, kind }) => [prompt, expected, kind])).toEqual(
    ['What is 2 + 2?', 'What is 3 + 3?', 'Capital of France?', 'Tell me more.', 'Hello?'].map((prompt) => [
      prompt,
      undefined,
      'imported',
    ]),
  )
  expect(written).toEqual({
    tasks: 5,
    expected: 0,
    duplicates: 3,
    nearDuplicates: 1,
    contradictions: 0,
    unanswered: 0,
    promptless: 1,
  })

  const trusted = await tasksOf(true, ...lines)
  expect(trusted.tasks.map(({ prompt, expected }) => [prompt, expected?.answer])).toEqual([
    ['What is 2 + 2?', '4'],
    ['What is 3 + 3?', '6'],
    ['Capital of France?', undefined],
    // The answer of the conversation with one request.
    ['Tell me more.', 'Ships float.'],
    ['Hello?', undefined],
  ])
  expect(trusted.written).toMatchObject({ tasks: 5, expected: 3, contradictions: 1, unanswered: 1 })
  // The same conversations give the same ids, whatever else is in the file.
  const other = await tasksOf(false, said('Capital of France?', 'Paris'))
  expect(other.tasks[0].id).toBe(tasks[2].id)
})
