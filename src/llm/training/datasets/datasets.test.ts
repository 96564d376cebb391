import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, expect, test } from 'vitest'
import { runEpisodes } from '../../agent/turn-loop.ts'
import {
  addTwice,
  counterEnvironment,
  limits,
  expert,
  taskOf,
} from '../../agent/testing/counter-environment.ts'
import type { Expert } from '../../agent/types.ts'
import type { Episode } from '../../episode/types.ts'
import { taskReward } from '../../reward/rewards.ts'
import { toParquet } from './parquet.ts'
import { type DatasetKind, datasetRows, writeDataset } from './datasets.ts'

const scratch = mkdtempSync(join(tmpdir(), 'agoge-datasets-'))
afterAll(() => rmSync(scratch, { recursive: true }))
const wrong: Expert = () => ({ answer: '4' })
const slow: Expert = (results) =>
  results.length === 0 ? { call: { name: 'add', arguments: { n: 0 } } } : addTwice(results.slice(1))

/** One group of a task: two successes (one with an additional call), one failure, one masked episode. */
async function played(): Promise<Episode[]> {
  const tasks = [addTwice, slow, wrong, addTwice].map((plan, i) => ({
    ...taskOf(`t${i}`, plan),
    prompt: 'Count to 3.',
  }))
  const specs = tasks.map((task) => ({ id: `e-${task.id}`, group: 'g', task }))
  const episodes = await runEpisodes(specs, expert(tasks), counterEnvironment(), { ...limits, turns: 6 })
  return episodes.map((episode, i) => ({
    ...episode,
    id: `rl/7/0:t/${i}`,
    task: 't',
    samples: episode.samples.map((sample) => ({ ...sample, weightVersion: 14 })),
    ...(i === 3 ? { status: 'masked' as const, success: null } : {}),
  }))
}
const episodes = await played()
const rowsOf = (kind: DatasetKind) =>
  datasetRows(episodes, { kind, run: 'run-1', reward: taskReward({ perCall: -0.1 }) })
const from = {
  run: 'run-1',
  environment: 'counter',
  task: 't',
  kind: 'sum',
  seed: 7,
  step: 7,
  weight_version: 14,
}
const start = [
  { role: 'system', content: 'Count.' },
  { role: 'user', content: 'Count to 3.' },
]
const call = (n: number) => ({ type: 'function', function: { name: 'add', arguments: { n } } })

test('sft: conversations that succeeded, with their rewards and where they come from', () => {
  const rows = rowsOf('sft')
  expect(rows.length).toBe(2)
  expect(rows[0]).toMatchObject({
    ...from,
    episode: 'rl/7/0:t/0',
    reward: 0.8,
    reward_parts: { success: 1, calls: -0.2 },
  })
  expect(rows[0]['messages']).toEqual([
    ...start,
    { role: 'assistant', content: '', tool_calls: [call(1)] },
    { role: 'tool', name: 'add', content: '1' },
    { role: 'assistant', content: '', tool_calls: [call(2)] },
    { role: 'tool', name: 'add', content: '3' },
    { role: 'assistant', content: '3' },
  ])
  const again = datasetRows([...episodes, ...episodes], {
    kind: 'sft',
    run: 'r',
    reward: taskReward(),
    tools: [{ a: 1 }],
  })
  expect(again.length).toBe(2)
  expect(again[0]['tools']).toBe('[{"a":1}]')
})

test('dpo: the best with the worst of a group', () => {
  const rows = rowsOf('dpo')
  expect(rows).toEqual([
    {
      ...from,
      prompt: start,
      chosen: expect.arrayContaining([{ role: 'assistant', content: '3' }]),
      rejected: [{ role: 'assistant', content: '4' }],
      score_chosen: 0.8,
      score_rejected: 0,
      episode_chosen: 'rl/7/0:t/0',
      episode_rejected: 'rl/7/0:t/2',
    },
  ])
})

test('grpo: every prompt once, with how it went', () => {
  expect(rowsOf('grpo')).toEqual([
    { ...from, prompt: start, episodes: 3, success: 2 / 3, reward: (0.8 + 0.7) / 3 },
  ])
})

test.each(['sft', 'dpo', 'grpo'] as const)('%s: JSONL and Parquet hold the same', async (kind) => {
  const rows = rowsOf(kind)
  const lines = join(scratch, `${kind}.jsonl`)
  const table = join(scratch, `${kind}.parquet`)
  writeDataset(lines, rows)
  writeDataset(table, rows)
  const read = readFileSync(lines, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(read).toEqual(rows)
  const bytes = readFileSync(table)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  expect(withoutNulls(await parquetReadObjects({ file }))).toEqual(JSON.parse(JSON.stringify(rows)))
})

test('parquet: fields that differ, lists of lists, values that differ in kind, texts of any script', async () => {
  const rows = [
    {
      a: 1,
      list: [[1, 2], []],
      args: { x: 'ü日', y: 1.5 },
      mixed: 'text',
      empty: {},
      big: 2 ** 40,
      flag: true,
    },
    { a: null, list: [], args: { z: false }, mixed: 3, empty: {}, big: 1, flag: false },
  ]
  const { buffer } = toParquet(rows)
  const read = withoutNulls(await parquetReadObjects({ file: buffer as ArrayBuffer }))
  expect(read).toEqual([
    { ...rows[0], mixed: '"text"', empty: '{}' },
    { list: [], args: { z: false }, mixed: '3', empty: '{}', big: 1, flag: false },
  ])
})

test('a file of no known kind is refused', () => {
  expect(() => writeDataset(join(scratch, 'x.csv'), [])).toThrow(
    expect.objectContaining({ code: 'unknown-format' }),
  )
})

/** As TRL reads rows: without undefined fields. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null && inner !== undefined)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  )
}
