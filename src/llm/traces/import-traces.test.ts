import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { type CallOptions, type LanguageModel } from '../agent/ai-sdk/read-call.ts'
import { recordCalls } from '../gateway/record-calls.ts'
import {
  conversation,
  documentedChats,
  documentedForms,
  otlpRequest,
  spanId,
  traceId,
  type WrittenSpan,
} from './fixtures/documented-forms.ts'
import { importTraces, type ImportProblem, type ImportTracesOptions } from './import-traces.ts'
import { packagedModel, traceOfSeven, traceOfSix } from './testing/real-traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-traces-'))
let files = 0

function written(...lines: (object | string)[]): string {
  const file = join(folder, `${++files}.jsonl`)
  writeFileSync(
    file,
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  )
  return file
}

async function imported(given: readonly string[], options: Partial<ImportTracesOptions> = {}) {
  const problems: ImportProblem[] = []
  const out = join(folder, `${++files}.out.jsonl`)
  const summary = await importTraces(given, {
    out,
    secrets: [],
    onProblem: (one) => problems.push(one),
    ...options,
  })
  return { summary, problems, episodes: readEpisodes(out), out }
}

/** The tree of an episode without tokens. */
const treeOf = ({ nodes }: Episode): object[] =>
  nodes.map((node) =>
    Object.fromEntries(Object.entries(node).filter(([name]) => name !== 'tokens' && name !== 'agent')),
  )

/** Spans of one trace. */
const trace = (number: number, ...spans: Partial<WrittenSpan>[]): WrittenSpan[] =>
  spans.map((span, at) => ({
    traceId: traceId(number),
    spanId: spanId(100 * number + at + 1),
    start: 2000 * at,
    attributes: {},
    ...span,
  }))

const chat = (messages: readonly string[], answer?: string) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.input.messages': JSON.stringify(
    messages.map((content, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      parts: [{ type: 'text', content }],
    })),
  ),
  ...(answer !== undefined && {
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'text', content: answer }] },
    ]),
  }),
})

test.each(Object.entries(documentedForms))('reads %s', async (_, calls) => {
  const { episodes, summary, problems } = await imported([written(otlpRequest(trace(1, ...calls)))])
  expect(problems).toEqual([])
  expect(episodes.map(treeOf)).toEqual([conversation])
  expect(episodes[0]).toMatchObject({ id: traceId(1), status: 'ok', ending: 'answered', success: null })
  expect(episodes[0].samples.map(({ path, output }) => [path, output])).toEqual([
    [[0], 1],
    [[0, 1, 2], 3],
  ])
  expect(summary).toMatchObject({
    episodes: 1,
    calls: 2,
    tools: { get_weather: 1 },
    models: { 'gpt-4': 1 },
    tokens: { input: 94, output: 34 },
  })
})

test.each(Object.entries(documentedChats))('reads chat logs of %s', async (_, line) => {
  const { episodes } = await imported([written(line)])
  expect(episodes.map(treeOf)).toEqual([conversation])
})

test('messages that cannot be read, bad lines and unknown kinds are named and left out', async () => {
  const good = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
  }
  const file = written(
    '{"messages": [',
    good,
    { messages: [{ role: 'wizard', content: 'a' }] },
    { other: 1 },
    { messages: [] },
  )
  const { episodes, problems, summary } = await imported([file])
  expect(episodes.map(({ id }) => id)).toEqual([`${file}:2`])
  expect(problems).toEqual([
    { place: `${file}:1`, problem: 'it is not JSON, or nested too deep' },
    { place: `${file}:3`, problem: 'a message has the role "wizard"' },
    { place: `${file}:4`, problem: 'it is no trace (resourceSpans) and no chat log (messages)' },
    { place: `${file}:5`, problem: 'no message is of the assistant' },
  ])
  expect(Object.values(summary.problems)).toEqual([1, 1, 1, 1])
})

test('too many problems, or nothing to import, leave no file behind', async () => {
  const out = join(folder, 'none', 'episodes.jsonl')
  const silent = trace(1, {
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4' },
  })
  await expect(importTraces([written(otlpRequest(silent))], { out })).rejects.toMatchObject({
    code: 'bad-traces',
    given: expect.stringContaining('not recorded') as string,
  })
  const broken = written(
    {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
    },
    '{',
    '{',
    '{',
  )
  await expect(importTraces([broken], { out, mostProblems: 2 })).rejects.toMatchObject({
    code: 'bad-traces',
    given: expect.stringContaining(`${broken}:4`) as string,
  })
  await expect(importTraces([join(folder, 'absent.jsonl')], { out })).rejects.toMatchObject({
    code: 'unusable-path',
  })
  expect(existsSync(out)).toBe(false)
  expect(readdirSync(join(folder, 'none'))).toEqual([])
})

test('retries and branches share their beginning, and sub-agents have conversations of their own', async () => {
  const spans = trace(
    1,
    { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner' } },
    { parent: spanId(101), attributes: chat(['go'], 'first') },
    { parent: spanId(101), attributes: chat(['go', 'first', 'more'], 'second') },
    { parent: spanId(101), attributes: chat(['go', 'first', 'more'], 'second again') },
    {
      parent: spanId(101),
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'helper' },
    },
    { parent: spanId(105), attributes: chat(['look this up'], 'found') },
    { parent: spanId(101), error: 'overloaded', attributes: chat(['go', 'first', 'more', 'second', 'end']) },
  )
  const { episodes } = await imported([written(otlpRequest(spans))])
  expect(episodes).toHaveLength(1)
  const [{ nodes, status, ending, error }] = episodes
  expect(nodes.map(({ parent, agent, text }) => [parent, agent, text])).toEqual([
    [null, 'planner', 'go'],
    [0, 'planner', 'first'],
    [1, 'planner', 'more'],
    [2, 'planner', 'second'],
    [1, 'planner', 'more'],
    [4, 'planner', 'second again'],
    [null, 'helper', 'look this up'],
    [6, 'helper', 'found'],
  ])
  expect([status, ending, error]).toEqual(['masked', 'infrastructure', 'overloaded'])
})

test('the same from memory, from files, and from one large document', async () => {
  const spans = Array.from({ length: 40 }, (_, at) =>
    trace(at + 1, { attributes: chat([`question ${at}`], 'yes') }),
  )
  const more = Array.from({ length: 40 }, (_, at) =>
    trace(at + 1, {}, { attributes: chat([`question ${at}`, 'yes', 'sure?'], 'no') }).slice(1),
  )
  const lines = written(...[...spans, ...more].map(otlpRequest))
  const document = join(folder, 'document.json')
  writeFileSync(document, JSON.stringify(otlpRequest([...spans, ...more].flat()), null, 2))
  const one = await imported([lines])
  expect(one.episodes).toHaveLength(40)
  expect(one.episodes.every(({ nodes }) => nodes.length === 4)).toBe(true)
  const byId = (episodes: readonly Episode[]) => [...episodes].sort((a, b) => a.id.localeCompare(b.id))
  const shared = await imported([lines], { bytes: { line: 100_000, share: 2000 } })
  expect(byId(shared.episodes)).toEqual(byId(one.episodes))
  for (const bytes of [undefined, { line: 3000, share: 2000 }]) {
    const whole = await imported([document], { ...(bytes && { bytes }) })
    expect(byId(whole.episodes)).toEqual(byId(one.episodes))
  }
  const cut = await imported([lines], { bytes: { line: 500, share: 2000 }, mostProblems: 1000 }).catch(
    (error: unknown) => error,
  )
  expect(cut).toMatchObject({ given: '80 times: it is longer than 500 bytes' })
})

test('the error of a failed call is redacted, and a long trace is one conversation', async () => {
  const failed = trace(1, { error: 'no access with hunter2hunter2', attributes: chat(['go']) })
  const steps = Array.from({ length: 300 }, (_, at) => `step ${at}`)
  const long = trace(
    2,
    ...Array.from({ length: 149 }, (_, at) => ({
      attributes: chat(steps.slice(0, 2 * at + 1), steps[2 * at + 1]),
    })),
  )
  const file = written(otlpRequest(failed), otlpRequest(long))
  const { episodes, problems } = await imported([file], { secrets: ['hunter2hunter2'] })
  expect(problems).toEqual([
    { place: `trace ${traceId(1)}`, problem: 'every call failed: no access with [redacted]' },
  ])
  expect(episodes.map(({ nodes }) => nodes.map(({ text }) => text))).toEqual([steps.slice(0, 298)])
})

test('secrets are redacted, and the task is that of the redacted prompt', async () => {
  const key = ['sk', 'a1b2c3d4e5f6g7h8i9j0k1l2'].join('-')
  const line = {
    messages: [
      { role: 'user', content: `use ${key} and hunter2hunter2` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', function: { name: 'login', arguments: JSON.stringify({ key }) } }],
      },
    ],
  }
  const { out, episodes } = await imported([written(line)], { secrets: ['hunter2hunter2'] })
  expect(readFileSync(out, 'utf8')).not.toMatch(/hunter2|a1b2c3/)
  expect(episodes[0].nodes.map(({ text, calls }) => [text, calls?.[0].arguments])).toEqual([
    ['use [redacted] and [redacted]', undefined],
    ['', { key: '[redacted]' }],
  ])
  const same = await imported([
    written({
      ...line,
      messages: [{ role: 'user', content: 'use [redacted] and [redacted]' }, line.messages[1]],
    }),
  ])
  expect(episodes[0].task).toBe(same.episodes[0].task)
})

let model: LanguageModel
let dispose: () => Promise<void>
beforeAll(async () => {
  ;({ model, dispose } = await packagedModel())
})
afterAll(() => dispose())

/** The same model, whose calls an evaluation records. */
function recording(recorded: ReturnType<typeof recordCalls>): LanguageModel {
  return {
    ...model,
    async doGenerate(options: CallOptions) {
      const result = await model.doGenerate(options)
      const { inputTokens, outputTokens } = result.usage
      recorded.onCall(options, {
        content: result.content,
        tokens: { input: inputTokens.total, output: outputTokens.total },
      })
      return result
    },
  }
}

test.each([
  ['6', traceOfSix],
  ['7 with @ai-sdk/otel', traceOfSeven],
])('a trace that the AI SDK %s made holds what an evaluation would have recorded', async (_, traceOf) => {
  for (const prompt of ['read the file /notes.txt', 'read the file /nothing.txt']) {
    const recorded = recordCalls()
    const file = join(folder, `${++files}.json`)
    writeFileSync(file, await traceOf(recording(recorded), [prompt]))
    const { episodes, problems } = await imported([file])
    expect(problems).toEqual([])
    expect(episodes).toHaveLength(1)
    expect(recorded.count()).toBe(2)
    // Each version words the error of a tool in its own way.
    const plain = (nodes: Episode['nodes']) =>
      nodes.map(({ text, ...node }) => ({ ...node, text: text.replace(/^(?:error: )+/i, '') }))
    expect(plain(episodes[0].nodes)).toEqual(plain(recorded.nodes))
    expect(episodes[0].samples).toEqual(recorded.samples)
    expect(episodes[0].usage).toEqual(recorded.usage)
    expect(episodes[0].context).toEqual({ source: 'opentelemetry', models: ['base'] })
  }
})
