import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runEpisodes } from '../../llm/agent/turn-loop.ts'
import {
  addTwice,
  counterEnvironment,
  limits,
  expert,
  specsOf,
  taskOf,
} from '../../llm/agent/testing/counter-environment.ts'
import { writeTinyCheckpoint } from '../../llm/agent/testing/tiny-checkpoint.ts'
import { appendEpisodes } from '../../llm/episode/codec.ts'
import { loadLocalBackend } from '../../llm/backend/local-backend.ts'
import { readCheckpoint } from '../../llm/checkpoint/checkpoint.ts'
import { agoge } from '../testing/agoge.ts'

const scratch = mkdtempSync(join(tmpdir(), 'agoge-export-'))
const at = (name: string) => join(scratch, name)
afterAll(() => rmSync(scratch, { recursive: true }))

test('agoge export: a checkpoint in halves, with its tokenizer and template', async () => {
  const from = await writeTinyCheckpoint(at('start'))
  const { code, out } = await agoge('export', from, '--to', 'merged', '--out', at('merged'), '--type', 'BF16')
  expect([code, out]).toEqual([0, expect.stringContaining('loads in transformers')])
  const [before, after] = [await readCheckpoint(from), await readCheckpoint(at('merged'))]
  expect(after.config).toEqual(before.config)
  expect(after.companions).toEqual(before.companions)
  const worst = after.parameters.data.reduce(
    (most, value, i) => Math.max(most, Math.abs(value - before.parameters.data[i])),
    0,
  )
  expect(worst).toBeGreaterThan(0)
  expect(worst).toBeLessThan(0.01)
  const again = await agoge('export', from, '--to', 'merged', '--out', at('merged'))
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('is there already')])
})

test('agoge export: the adapter of a run with --lora, and the base it began with', async () => {
  const from = await writeTinyCheckpoint(at('beneath'))
  const run = at('lora-run')
  const backend = await loadLocalBackend(from, { trainable: { lora: { rank: 2 } }, threads: 1 })
  const tokens = Int32Array.of(3, 4, 5, 6)
  const zeros = new Float32Array(4)
  const row = { tokens, logprobs: zeros, advantages: zeros }
  const weights = { rl: zeros, ce: Float32Array.of(0, 1, 1, 1), kl: zeros }
  await backend.forwardBackward([{ ...row, weights }], { name: 'cross_entropy' })
  await backend.optimStep({ learningRate: 0.01 })
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  writeFileSync(join(run, 'config.json'), JSON.stringify({ environment: 'filesystem', model: from, lora: 2 }))
  await backend.save(join(run, 'checkpoints', 'final'))
  const { code, out } = await agoge('export', run, '--to', 'lora', '--out', at('adapter'))
  expect([code, out]).toEqual([0, expect.stringContaining(`rank 2 for ${from}, loads in PEFT`)])
  const configOf = (name: string) =>
    JSON.parse(readFileSync(join(at(name), 'adapter_config.json'), 'utf8')) as Record<string, unknown>
  expect(configOf('adapter')).toMatchObject({ base_model_name_or_path: from, r: 2, peft_type: 'LORA' })
  // Over the model that it names it is what was trained.
  const again = await loadLocalBackend(from, { adapter: at('adapter'), threads: 1 })
  expect(again.parameters.data).toEqual(backend.parameters.data)
  const checkpoint = join(run, 'checkpoints', 'final')
  await agoge(
    'export',
    checkpoint,
    '--to',
    'lora',
    '--out',
    at('named'),
    '--base',
    'Qwen/X',
    '--type',
    'BF16',
  )
  expect(configOf('named')['base_model_name_or_path']).toBe('Qwen/X')
  expect(statSync(join(at('named'), 'adapter_model.safetensors')).size).toBeLessThan(
    statSync(join(at('adapter'), 'adapter_model.safetensors')).size,
  )
  await Promise.all([backend.dispose(), again.dispose()])
  const none = await agoge('export', from, '--to', 'lora', '--out', at('nothing'))
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('no adapter')])
  expect(none.err).toContain('agoge train --lora')
  const stray = await agoge('export', run, '--to', 'merged', '--out', at('nothing'), '--base', 'x')
  expect(stray.err).toContain('--base')
})

test('agoge export: an ONNX file with the tokenizer beside it', async () => {
  const from = await writeTinyCheckpoint(at('other'))
  expect((await agoge('export', from, '--to', 'onnx', '--out', at('x.onnx'))).code).toBe(0)
  expect(readFileSync(at('x.onnx')).length).toBeGreaterThan(20_000)
  expect(readFileSync(at('tokenizer.json'), 'utf8')).toBe(readFileSync(join(from, 'tokenizer.json'), 'utf8'))
  expect((await agoge('export', from, '--to', 'onnx', '--out', at('x.bin'))).err).toContain('.onnx')
})

test('agoge export: data sets from episodes, with the tools', async () => {
  const tasks = [taskOf('a', addTwice), taskOf('b', () => ({ answer: '4' }))].map((task) => ({
    ...task,
    prompt: 'Count.',
  }))
  const specs = specsOf(tasks)
  appendEpisodes(at('episodes.jsonl'), await runEpisodes(specs, expert(tasks), counterEnvironment(), limits))
  writeFileSync(at('tools.json'), JSON.stringify([{ type: 'function', function: { name: 'add' } }]))
  const sets = { sft: 1, dpo: 1, grpo: 1 }
  for (const [kind, rows] of Object.entries(sets)) {
    const tools = kind === 'grpo' ? [] : ['--tools', at('tools.json')]
    const { code, out } = await agoge('export', scratch, '--to', kind, '--out', at(`${kind}.jsonl`), ...tools)
    expect([code, out]).toEqual([0, `${at(`${kind}.jsonl`)}: ${rows} rows from 2 episodes\n`])
  }
  const [row] = readFileSync(at('sft.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(row.tools).toBe(readFileSync(at('tools.json'), 'utf8'))
  expect((await agoge('export', at('episodes.jsonl'), '--to', 'sft', '--out', at('sft.parquet'))).code).toBe(
    0,
  )
  expect(readFileSync(at('sft.parquet')).subarray(0, 4).toString()).toBe('PAR1')
})

test('agoge export: what cannot be exported is said', async () => {
  const none = await agoge('export', at('nowhere'), '--to', 'sft', '--out', at('y.jsonl'))
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('no episodes to export')])
  const ending = await agoge('export', scratch, '--to', 'sft', '--out', at('y.csv'))
  expect(ending.err).toContain('.jsonl or .parquet')
  const stray = await agoge('export', scratch, '--to', 'sft', '--out', at('y.jsonl'), '--type', 'F16')
  expect(stray.err).toContain('--type')
  expect((await agoge('export', scratch, '--to', 'gguf', '--out', at('y'))).code).toBe(1)
  expect((await agoge('export', scratch, '--to', 'sft')).code).toBe(1)
  writeFileSync(at('bad.json'), '{}')
  const bad = await agoge('export', scratch, '--to', 'sft', '--out', at('y.jsonl'), '--tools', at('bad.json'))
  expect(bad.err).toContain('holds no tools')
})
