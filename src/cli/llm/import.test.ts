import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEpisodes } from '../../llm/episode/codec.ts'
import {
  documentedChats,
  documentedForms,
  otlpRequest,
  spanId,
  traceId,
} from '../../llm/traces/fixtures/documented-forms.ts'
import { runCli } from '../run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-import-'))

async function agoge(...words: string[]) {
  const [out, err]: string[][] = [[], []]
  const code = await runCli(words, {
    out: (text: string) => out.push(text),
    err: (text: string) => err.push(text),
    progress: () => {},
    signal: new AbortController().signal,
    debug: false,
  } as never)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const [first, second] = documentedForms['attributes of the conventions']
const traces = join(folder, 'traces.json')
writeFileSync(
  traces,
  JSON.stringify(
    otlpRequest([
      { traceId: traceId(1), spanId: spanId(1), start: 0, ...first },
      { traceId: traceId(1), spanId: spanId(2), start: 2000, ...second },
      { traceId: traceId(2), spanId: spanId(3), start: 0, attributes: { 'http.method': 'GET' } },
    ]),
    null,
    2,
  ),
)
const chats = join(folder, 'chats.jsonl')
writeFileSync(chats, `${JSON.stringify(documentedChats.openai)}\nno JSON\n`)

test('imports traces and chat logs together, and says what was left out', async () => {
  const episodes = join(folder, 'episodes.jsonl')
  const tasks = join(folder, 'tasks.jsonl')
  const { code, out, err } = await agoge(
    'import',
    traces,
    chats,
    '--out',
    episodes,
    '--tasks',
    tasks,
    '--trust-answers',
  )
  expect(code).toBe(0)
  expect(readEpisodes(episodes)).toHaveLength(2)
  expect(out).toMatch(/episodes +2\n/)
  expect(out).toMatch(/tool calls +2: get_weather 2/)
  expect(out).toMatch(/tokens +94 in, 34 out/)
  expect(out).toMatch(/models +gpt-4 1/)
  expect(out).toMatch(/traces without a model +1/)
  expect(out).toMatch(/left out +1: it is not JSON/)
  expect(out).toContain('1 tasks in')
  expect(out).toContain('nobody has checked these')
  expect(err).toContain(`left out: ${chats}:2`)
  expect(JSON.parse(readFileSync(tasks, 'utf8'))).toMatchObject({
    prompt: 'Weather in Paris?',
    expected: { answer: 'It is rainy in Paris, 57°F.' },
  })
})

test('exports the episodes as traces, and imports these again', async () => {
  const [episodes, otel, again] = ['episodes', 'otel', 'again'].map((name) =>
    join(folder, `${name}.round.jsonl`),
  )
  await agoge('import', traces, chats, '--out', episodes)
  const { code, out } = await agoge('export', episodes, '--to', 'otel', '--content', '--out', otel)
  expect([code, out]).toEqual([0, `${otel}: 2 traces with their messages`])
  expect((await agoge('import', otel, '--out', again)).code).toBe(0)
  expect(readEpisodes(again).map(({ nodes }) => nodes)).toEqual(
    readEpisodes(episodes).map(({ nodes }) => nodes),
  )
  await agoge('export', episodes, '--to', 'otel', '--out', otel)
  expect((await agoge('import', otel, '--out', again)).err).toContain('not recorded')
  expect((await agoge('export', episodes, '--to', 'sft', '--content', '--out', otel)).err).toContain(
    '--content',
  )
})

test('refuses options that mean nothing, and writes nothing then', async () => {
  const out = join(folder, 'other.jsonl')
  expect((await agoge('import', chats, '--out', out, '--trust-answers')).code).toBe(1)
  expect((await agoge('import', chats, '--out', chats)).err).toContain('named twice')
  expect((await agoge('import', chats, '--out', out, '--max-bad', '0')).err).toContain('more than 0')
  expect(existsSync(out)).toBe(false)
})
