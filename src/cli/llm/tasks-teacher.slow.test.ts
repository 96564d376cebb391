import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { FileTask } from '../../llm/environment/mcp/goals/task-file.ts'
import type { ParaphraseMark } from '../../llm/environment/mcp/teacher/paraphrase-tasks.ts'
import {
  draftsReply,
  type KnownRequest,
  scriptedTeacher,
} from '../../llm/environment/mcp/teacher/testing/scripted-teacher.ts'
import { agoge } from '../testing/agoge.ts'

// The teacher of these tests is scripted: an HTTP endpoint that follows rules. The MCP server and its judge are real.

const shelf = fileURLToPath(new URL('../../llm/environment/mcp/fixtures/shelf-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'agoge-teacher-'))
const config = join(folder, 'mcp.json')
const key = 'sk-5ecret0fTheTest'
type Line = FileTask & { paraphrase?: ParaphraseMark }
let plain: Line[] = []

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function readLines(file: string): Line[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

async function runTasks(...words: string[]) {
  vi.stubEnv('KEY_OF_THE_TEST', key)
  onTestFinished(() => void vi.unstubAllEnvs())
  const result = await agoge('tasks', 'mcp:shelf', '--mcp-config', config, '--sandbox', '--yes', ...words)
  expect(result.out + result.err).not.toContain(key)
  return result
}

/** What a line asks for, done by its reference. */
function known({ prompt, reference = [], expected = {} }: Line): KnownRequest {
  const answer = Array.isArray(expected.answer)
    ? expected.answer.join(', ')
    : String(expected.answer ?? 'done')
  return {
    prompt,
    plan: (results) => (results.length < reference.length ? { call: reference[results.length] } : { answer }),
  }
}

beforeAll(async () => {
  const env = { SHELF_TOOLS: 'put_item find_item list_items', SHELF_FILE: '{slot}/shelf' }
  writeFileSync(
    config,
    JSON.stringify({
      mcpServers: { shelf: { command: process.execPath, args: [shelf], env } },
      agoge: { shelf: { reset: { files: ['shelf'] }, observe: ['list_items'] } },
    }),
  )
  // The same seed makes the same tasks: so the teacher knows how each is done.
  const out = join(folder, 'plain.jsonl')
  await agoge(
    'tasks',
    'mcp:shelf',
    '--mcp-config',
    config,
    '--sandbox',
    '--yes',
    '--count',
    '8',
    '--out',
    out,
  )
  plain = readLines(out)
})

test('the cost is printed before, kept requests are tasks of the file, and the file can be used', async () => {
  const { asked, baseUrl } = await scriptedTeacher({
    requests: plain.map(known),
    drafts: ({ prompt }) =>
      draftsReply({ polite: `Would you do this? ${prompt}`, casual: 'hm, look at what there is' }),
  })
  const out = join(folder, 'taught.jsonl')
  const teacher = ['--teacher', `${baseUrl}#scripted`, '--api-key-env', 'KEY_OF_THE_TEST']
  const shown = await runTasks('--count', '8', '--out', out, ...teacher)
  expect(shown).toMatchObject({ code: 0 })
  expect(shown.err).toMatch(/^The teacher scripted at 127\.0\.0\.1:\d+ is sent requests, tools and results/m)
  expect(shown.err).toMatch(
    /^8 requests for drafts and at most \d+ to read them\. Usually that takes about [\d,]+ tokens, at most about/m,
  )
  expect(shown.err).toContain('It ends before it takes more than 200,000 tokens (--teacher-tokens).')
  expect(shown.out).toMatch(/^teacher: 8 of 16 drafts kept, in \d+ requests and [\d,]+ tokens$/m)
  expect(shown.out).toMatch(/^drafts dropped: 7: the same as another request$/m)
  expect(shown.out).toMatch(/^drafts dropped: 1: the reading did something else$/m)
  expect(shown.out).toMatch(/^expert +16\/16 /m)
  expect(asked[0].authorization).toBe(`Bearer ${key}`)

  const lines = readLines(out)
  expect(readFileSync(out, 'utf8')).not.toContain(key)
  expect(lines.filter(({ paraphrase }) => paraphrase === undefined)).toEqual(plain)
  for (const line of lines.filter(({ paraphrase }) => paraphrase !== undefined)) {
    const original = plain.find(({ id }) => id === line.paraphrase?.of)
    expect(line).toEqual({
      ...original,
      id: `${original?.id}/paraphrase-1`,
      prompt: `Would you do this? ${original?.prompt}`,
      paraphrase: { of: original?.id, style: 'polite', teacher: 'scripted' },
    })
  }
  const again = await runTasks('--from', out, '--count', '8')
  expect(again.code).toBe(0)
  expect(again.out).not.toContain('not usable')
  expect(again.out).toMatch(/^expert +16\/16 /m)
})

test('the limit of tokens ends it; a teacher that is gone is an error, after the tasks are in the file', async () => {
  const { baseUrl } = await scriptedTeacher({
    requests: plain.map(known),
    drafts: ({ prompt }) => draftsReply({ polite: `Would you do this? ${prompt}` }),
  })
  const out = join(folder, 'limited.jsonl')
  const limit = ['--teacher-tokens', '6000']
  const limited = await runTasks('--count', '8', '--out', out, '--teacher', `${baseUrl}#scripted`, ...limit)
  expect(limited.code).toBe(0)
  expect(limited.err).toContain('The limit of 6,000 tokens was reached. What was kept so far stays.')
  const kept = Number(/^teacher: (\d+) of/m.exec(limited.out)?.[1])
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThan(8)
  expect(readLines(out)).toHaveLength(8 + kept)

  const gone = join(folder, 'gone.jsonl')
  const dead = await runTasks('--count', '8', '--out', gone, '--teacher', 'http://127.0.0.1:9/v1#scripted')
  expect(dead.code).toBe(1)
  expect(dead.err).toContain('The teacher "scripted" gives no answer.')
  expect(readLines(gone)).toEqual(plain)
})

test.each([
  [['--teacher', 'some-model'], /The teacher of tasks is an OpenAI-compatible endpoint/],
  [['--teacher-tokens', '100'], /Only a teacher takes a limit of tokens and a key/],
  [['--teacher', 'http://user:secret@127.0.0.1/v1#m'], /contains a user name or password/],
])('%j is refused before the server is started', async (words, message) => {
  const { code, err } = await agoge('tasks', 'mcp:nobody', ...words)
  expect(code).toBe(1)
  expect(err).toMatch(message)
  expect(err).not.toContain('nobody')
})
