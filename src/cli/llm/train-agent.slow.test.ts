import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { writeTinyCheckpoint } from '../../llm/agent/testing/tiny-checkpoint.ts'
import { createTinkerServer } from '../../llm/serving/tinker/server.ts'
import { runCli } from '../run-cli.ts'
import { agoge } from '../testing/agoge.ts'

let folder: string
const at = (name: string): string => join(folder, name)

const config = `
const ask = (text) => [{ role: 'user', content: [{ type: 'text', text }] }]
export default {
  async agent(task, { model, signal }) {
    const { content } = await model.doGenerate({ prompt: ask(task.prompt), maxOutputTokens: 3, abortSignal: signal })
    return content.map(({ text }) => text).join('')
  },
  tasks: Array.from({ length: 30 }, (_, at) => ({ id: 't' + at, prompt: 'Say a letter' })),
  score: ({ output }) => output.length % 2,
  models: [{ kind: 'run', folder: 'model' }],
}
`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agoge-train-agent-'))
  await writeTinyCheckpoint(folder, { window: 200 })
  writeFileSync(at('agoge.config.mjs'), config)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const few = ['--steps', '2', '--groups', '2', '--group-size', '6', '--learning-rate', '0.01']
const training = (...words: string[]) => agoge('train', '-c', at('agoge.config.mjs'), ...few, ...words)

test('a run is trained, and its run and its evaluation are exported as a model and as data sets', async () => {
  expect((await training('--out', at('first'))).code).toBe(0)
  const merged = await agoge('export', at('first'), '--to', 'merged', '--out', at('merged'))
  expect(merged.code).toBe(0)
  const again = await agoge(
    'train',
    '-c',
    at('agoge.config.mjs'),
    ...few,
    '--model',
    'merged',
    '--out',
    at('second'),
  )
  expect([again.code, again.err]).toEqual([0, expect.any(String) as string])
  for (const [from, to] of [
    [at('first'), 'sft'],
    [at('first'), 'dpo'],
    [at('first/evaluation'), 'sft'],
  ]) {
    const file = at(`${to}.jsonl`)
    const { code, err } = await agoge('export', from, '--to', to, '--out', file)
    expect([code, err]).toEqual([0, ''])
    const [row] = readFileSync(file, 'utf8').split('\n')
    expect(JSON.parse(row)).toMatchObject({ environment: 'agent' })
    rmSync(file)
  }
})

test('an interrupted run is resumed with the options that it was begun with', async () => {
  const stop = new AbortController()
  const say = (): void => {}
  const watch = setInterval(() => {
    const metrics = at('third/metrics.jsonl')
    if (existsSync(metrics) && readFileSync(metrics, 'utf8').includes('"phase":"rl"')) stop.abort()
  }, 20)
  onTestFinished(() => clearInterval(watch))
  const words = [
    'train',
    '-c',
    at('agoge.config.mjs'),
    ...few,
    '--lora',
    '2',
    '--steps',
    '30',
    '--out',
    at('third'),
  ]
  const terminal = { out: say, err: say, progress: { write: say }, signal: stop.signal, debug: false }
  expect(await runCli(words, terminal)).toBe(130)
  const other = await agoge('train', '--resume', at('third'), '--steps', '3')
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('keeps the options')])
  const { code, out, err } = await agoge('train', '--resume', at('third'), '--yes')
  expect([code, err]).toEqual([0, expect.stringContaining('going on with')])
  expect(out).toContain('trained less before')
  const adapter = await agoge('export', at('third'), '--to', 'lora', '--out', at('adapter'))
  expect(adapter.code).toBe(0)
  const peft = JSON.parse(readFileSync(at('adapter/adapter_config.json'), 'utf8')) as Record<string, unknown>
  expect(peft).toMatchObject({ r: 2, base_model_name_or_path: at('model') })
})

test('a model on a server of the Tinker protocol is trained there, and the table is measured there', async () => {
  const server = await createTinkerServer({ models: { tiny: at('model') }, store: at('store'), threads: 1 })
  onTestFinished(() => server.close())
  const { code, out, err } = await training(
    '--backend',
    `tinker:${server.url}`,
    '--lora',
    '2',
    '--out',
    at('remote'),
  )
  expect([code, err]).toEqual([0, expect.any(String) as string])
  expect(out).toMatch(/^success +\d+%/m)
  expect(existsSync(at('remote/checkpoints/final/tinker.json'))).toBe(true)
})
