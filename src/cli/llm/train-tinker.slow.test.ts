import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { loadTokenizer } from '../../llm/backend/base-model.ts'
import { createTokenizer } from '../../llm/tokenizer/tokenizer.ts'
import { tokenizerToJson } from '../../llm/tokenizer/tokenizer-json.ts'
import { createTinkerServer } from '../../llm/serving/tinker/server.ts'
import { openTinyHouse } from '../../llm/serving/tinker/testing/serve-tiny.ts'
import { startTroubledProxy } from '../../llm/serving/tinker/testing/troubled-proxy.ts'
import { runCli } from '../run-cli.ts'

let root: string
let runs = 0

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-backend-'))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A server of the protocol alone in front of `url`: nothing of Agoge's own is used, as of a hosted service. */
async function plainly(url: string): Promise<string> {
  const proxy = await startTroubledProxy(url, (path) =>
    path === 'client/config' ? { status: 404 } : undefined,
  )
  onTestFinished(() => proxy.close())
  return proxy.url
}

async function servePlainBase(): Promise<string> {
  const models = { base: baseModelFolder, other: baseModelFolder }
  const server = await createTinkerServer({ models, store: join(root, 'store'), threads: 1 })
  onTestFinished(() => server.close())
  return plainly(server.url)
}

/** A folder with a tokenizer and no weights; `turned` gives the same tokens other ids. */
async function tokenizerFolder(name: string, turned: boolean): Promise<string> {
  const { model } = await loadTokenizer(baseModelFolder)
  const tokens = turned ? [...model.tokens.slice(100), ...model.tokens.slice(0, 100)] : model.tokens
  const folder = join(root, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tokenizer.json'), tokenizerToJson(createTokenizer({ ...model, tokens }).model))
  return folder
}

/** `agoge train` of a few tasks, interrupted once the warm start has made a step; its run folder. */
async function train(...words: string[]): Promise<{ code: number; said: string; run: string }> {
  const run = join(root, `run-${++runs}`)
  const stop = new AbortController()
  let said = ''
  const hear = (text: string): void => {
    said += `${text}\n`
  }
  const command = [
    'train',
    'reasoning',
    '--task',
    'countdown',
    '--difficulty',
    '1',
    '--quick',
    '--tasks',
    '2',
  ]
  const metrics = join(run, 'metrics.jsonl')
  const watch = setInterval(() => {
    if (existsSync(metrics) && readFileSync(metrics, 'utf8').includes('"phase":"warm-start"')) stop.abort()
  }, 20)
  const code = await runCli([...command, '--backend', 'tinker', '--out', run, ...words], {
    out: hear,
    err: hear,
    progress: { write: hear },
    signal: stop.signal,
    debug: false,
  })
  clearInterval(watch)
  return { code, said, run }
}

test('a service of the protocol alone is trained from the command line: with AdamW, and a tokenizer without weights', async () => {
  const model = await tokenizerFolder('right', false)
  const { code, said, run } = await train(
    '--tinker-url',
    await servePlainBase(),
    '--tinker-model',
    'base',
    '--model',
    model,
  )
  expect({ code, said }).toMatchObject({ code: 130 })
  const { plan } = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'))
  expect(plan.warmStart).toMatchObject({ optimizer: 'adamw', learningRate: plan.reinforcement.learningRate })
  expect(plan.supervised).toMatchObject({ optimizer: 'adamw' })
})

test("Agoge's own server is trained as this process is: with Muon", async () => {
  const server = await createTinkerServer({
    models: { base: baseModelFolder },
    store: join(root, 'own'),
    threads: 1,
  })
  onTestFinished(() => server.close())
  const { code, said, run } = await train('--tinker-url', server.url)
  expect({ code, said }).toMatchObject({ code: 130 })
  expect(JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')).plan.warmStart.optimizer).toBe('muon')
})

test('a model of another vocabulary is refused before the first token, and the error says what to pass', async () => {
  const turned = await tokenizerFolder('turned', true)
  const other = await train(
    '--tinker-url',
    await servePlainBase(),
    '--tinker-model',
    'other',
    '--model',
    turned,
  )
  expect(other.code).toBe(1)
  expect(other.said).toMatch(
    /error: The model "other" of 127\.0\.0\.1:\d+ was trained with another tokenizer/,
  )
  expect(other.said).toMatch(/hint: +Pass a folder with the tokenizer\.json, .*of "other": --model FOLDER/)

  // Ids that its model does not have at all.
  const house = await openTinyHouse()
  onTestFinished(() => house.close())
  const tiny = await train('--tinker-url', await plainly((await house.serve()).url))
  expect(tiny.code).toBe(1)
  expect(tiny.said).toMatch(/error: The model "tiny" of .* was trained with another tokenizer/)

  const empty = await train('--tinker-url', 'http://127.0.0.1:9', '--model', root)
  expect(empty.said).toMatch(
    /error: There is no tokenizer in .*\n.*\n +expected: a folder with tokenizer\.json/,
  )
})
