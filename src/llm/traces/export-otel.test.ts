import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateText, stepCountIs, tool } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { LanguageModel } from '../agent/ai-sdk/read-call.ts'
import {
  addTwice,
  counterEnvironment,
  expert,
  limits,
  specsOf,
  taskOf,
} from '../agent/testing/counter-environment.ts'
import { runEpisodes } from '../agent/turn-loop.ts'
import { encodeEpisode, readEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { defineConfig } from '../project/config.ts'
import { evaluate } from '../project/evaluate.ts'
import { stateEquals } from '../project/scorers.ts'
import { tools } from '../project/tools-environment.ts'
import { episodeToOtlp, exportOtel, type OtlpOptions } from './export-otel.ts'
import { importTraces } from './import-traces.ts'
import { packagedModel } from './testing/real-traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-otel-'))
let model: LanguageModel
let dispose: () => Promise<void>
beforeAll(async () => {
  ;({ model, dispose } = await packagedModel())
})
afterAll(() => dispose())

interface Written {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: object }[]
  events: { name: string; attributes: { key: string; value: object }[] }[]
  status: object
  startTimeUnixNano: string
  endTimeUnixNano: string
}

function spansOf(episode: Episode, options: OtlpOptions = {}): Written[] {
  const request = episodeToOtlp(episode, options) as {
    resourceSpans: { scopeSpans: { spans: Written[] }[] }[]
  }
  return request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** What a conversation is, apart from the tokens of a local model. */
const treeOf = ({ nodes }: Episode) => nodes.map(({ tokens: _tokens, invalid: _invalid, ...node }) => node)

async function roundTrip(file: string): Promise<Episode[]> {
  const [traces, again] = [`${file}.traces`, `${file}.again`]
  await exportOtel(file, { out: traces, content: true })
  await importTraces([traces], { out: again, secrets: [] })
  const byTask = readEpisodes(again)
  expect(byTask.length).toBe(readEpisodes(file).length)
  return byTask
}

/** Episodes by their first prompt and their number of nodes: an import puts them in an order of its own. */
const sorted = (episodes: readonly Episode[]): object[][] =>
  episodes.map(treeOf).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))

/** An evaluation of the packaged model with tools of this program; some of its agents ask twice, or ask a second conversation. */
async function evaluated(): Promise<string> {
  const out = join(folder, 'evaluation')
  const config = defineConfig({
    agent: async (task, { model: given, tools: offered, signal, trial }) => {
      const ask = async (prompt: string) =>
        (
          await generateText({
            model: given,
            tools: offered,
            prompt,
            temperature: 0,
            abortSignal: signal,
            stopWhen: stepCountIs(3),
            prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber < 2 - trial ? 'required' : 'auto' }),
          })
        ).text
      if (trial === 1) await ask('count the files')
      await ask(task.prompt)
      return ask(task.prompt)
    },
    environment: tools({
      state: () => ({ files: { 'notes.txt': 'milk' } as Record<string, string> }),
      tools: (state) => ({
        read_file: tool({
          description: 'Read the complete contents of a file.',
          inputSchema: z.object({ path: z.string() }),
          execute({ path }) {
            if (!(path in state.files)) throw new Error(`no such file: ${path}`)
            return state.files[path]
          },
        }),
      }),
    }),
    tasks: [
      {
        id: 'there',
        prompt: 'read the file notes.txt',
        expected: { state: { files: { 'notes.txt': 'milk' } } },
      },
      { id: 'not', prompt: 'read the file nothing.txt', expected: { state: { files: {} } } },
    ],
    score: stateEquals(),
    models: [model],
    maxOutputTokens: 60,
    trials: 2,
  })
  await evaluate(config, { out }).result
  return join(out, 'episodes.jsonl')
}

test('an import of an export gives the same conversations', async () => {
  const file = await evaluated()
  const episodes = readEpisodes(file)
  const again = await roundTrip(file)
  expect(sorted(again)).toEqual(sorted(episodes))
  expect(episodes.some(({ nodes }) => nodes.filter(({ parent }) => parent === null).length > 1)).toBe(true)
  expect(episodes.some(({ nodes }) => nodes.some(({ isError }) => isError))).toBe(true)
  expect(again.map(({ usage }) => usage.promptTokens).sort((a, b) => a - b)).toEqual(
    episodes.map(({ usage }) => usage.promptTokens).sort((a, b) => a - b),
  )
  expect(new Set(again.flatMap(({ context }) => context['models']))).toEqual(new Set(['agoge/base']))
  expect(again.flatMap(({ rewards }) => rewards.map(({ name, value }) => `${name} ${value}`)).sort()).toEqual(
    episodes.flatMap(({ rewards }) => rewards.map(({ name, value }) => `${name} ${value}`)).sort(),
  )
}, 60_000)

test('also of runs whose last result no answer followed', async () => {
  const task = taskOf('a', addTwice)
  const cut = { ...limits, turns: 1 }
  const environment = counterEnvironment()
  const episodes = [
    ...(await runEpisodes(specsOf([task]), expert([task]), environment, limits)),
    ...(await runEpisodes(specsOf([task]), expert([task]), environment, cut)).map((one) => ({
      ...one,
      id: 'cut',
    })),
  ]
  expect(episodes[1].nodes.at(-1)?.role).toBe('tool')
  const file = join(folder, 'runs.jsonl')
  writeFileSync(file, episodes.map((episode) => `${encodeEpisode(episode)}\n`).join(''))
  expect(sorted(await roundTrip(file))).toEqual(sorted(episodes))
})

test('spans name the operation, the model, the agent, the tools and the scores; messages only if asked for', async () => {
  const [episode] = readEpisodes(join(folder, 'evaluation', 'episodes.jsonl'))
  const time = new Date('2026-01-02T03:04:05Z')
  const spans = spansOf(
    { ...episode, rewards: [{ agent: 'agent', name: 'state', value: 1, reason: 'all milk' }] },
    { time },
  )
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['invoke_agent agent', 'chat agoge/base', 'execute_tool read_file']),
  )
  const [root, ...others] = spans
  expect(
    others.every(({ parentSpanId, traceId }) => parentSpanId === root.spanId && traceId === root.traceId),
  ).toBe(true)
  expect(root.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  expect(root.endTimeUnixNano).toBe(`${time.getTime()}000000`)
  expect(Number(root.endTimeUnixNano) - Number(root.startTimeUnixNano)).toBeCloseTo(
    episode.timing.seconds * 1e9,
    -6,
  )
  expect(root.events[0].attributes).toContainEqual({
    key: 'gen_ai.evaluation.score.value',
    value: { intValue: 1 },
  })
  const text = JSON.stringify(spans)
  for (const content of ['milk', 'notes.txt', 'read the file', 'gen_ai.input.messages'])
    expect(text).not.toContain(content)
  expect(JSON.stringify(spansOf(episode, { content: true }))).toContain('gen_ai.input.messages')
  // The same episode of another run is another trace.
  expect(spansOf(episode, { run: 'other' })[0].traceId).not.toBe(root.traceId)
})

test('an incomplete last line is left out, and a damaged one refused', async () => {
  const whole = readFileSync(join(folder, 'evaluation', 'episodes.jsonl'), 'utf8')
  const file = join(folder, 'killed.jsonl')
  writeFileSync(file, whole.slice(0, -20))
  const count = whole.trim().split('\n').length
  expect(await exportOtel(file, { out: `${file}.out` })).toBe(count - 1)
  writeFileSync(file, `{"schema": 1}\n${whole}`)
  await expect(exportOtel(file, { out: `${file}.out` })).rejects.toMatchObject({ code: 'bad-episode' })
})
