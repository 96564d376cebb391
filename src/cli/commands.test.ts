import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-cli-'))
// The first call of a command loads its modules, which takes long on a busy machine; nothing here is about time.
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function agoge(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const write = (text: string): void => {
    err += text
  }
  const code = await runCli(words, {
    out: (text) => {
      out += `${text}\n`
    },
    err: (text) => write(`${text}\n`),
    progress: { write },
    signal: new AbortController().signal,
    debug: words.includes('--debug'),
  })
  return { code, out, err }
}

test('help and version answer', async () => {
  const help = await agoge('--help')
  expect(help.code).toBe(0)
  for (const command of ['train', 'pretrain', 'eval', 'chat', 'doctor']) expect(help.out).toContain(command)
  const version = await agoge('--version')
  expect(version).toMatchObject({ code: 0, err: '' })
  expect(version.out.trim()).toMatch(/^\d+\.\d+\.\d+$/)
})

const broken = join(folder, 'broken.json')
writeFileSync(broken, '{ "mcpServers": { } ')
const taken = join(folder, 'taken')
mkdirSync(taken)
writeFileSync(join(taken, 'config.json'), '{}')

const unfinished = join(folder, 'unfinished')
mkdirSync(unfinished)
writeFileSync(join(unfinished, 'config.json'), '{ "schema": 1, "environment": "filesystem" }')
const weightless = join(folder, 'weightless')
mkdirSync(join(weightless, 'checkpoints', 'rl-end'), { recursive: true })
writeFileSync(join(weightless, 'config.json'), '{ "schema": 1, "environment": "filesystem" }')
writeFileSync(join(weightless, 'summary.json'), '{}')
const network = join(folder, 'network')
mkdirSync(network)
writeFileSync(join(network, 'config.json'), '{ "schema": 1, "kind": "array", "environment": "cartpole" }')

test.each<[string[], RegExp]>([
  [['trian'], /unknown command 'trian'[\s\S]*Did you mean train/],
  [['train', '--stepps', '3'], /unknown option '--stepps'[\s\S]*--steps/],
  [['train', '--overlap'], /--overlap --max-staleness 0[\s\S]*--overlap --max-staleness 1/],
  [['train', '--max-staleness', '-1'], /--max-staleness[\s\S]*whole number of at least 0/],
  [['train', 'cartpole', '--max-staleness', '1'], /--max-staleness means nothing for cartpole/],
  [['train', '--steps', 'many'], /--steps[\s\S]*whole number of at least 1/],
  [['train', '--resume', join(folder, 'nowhere')], /no run to resume[\s\S]*nowhere/],
  [['train', '--model', join(folder, 'nothing-here')], /no model in[\s\S]*agoge pretrain/],
  [['eval', 'filesytem'], /no environment named "filesytem"[\s\S]*Did you mean "filesystem"/],
  [['eval', 'mcp:nowhere'], /nowhere/],
  [['eval', 'mcp:x', '--mcp-config', broken], /broken\.json is not JSON: line 1/],
  [['eval', '--threshold', '7'], /--threshold[\s\S]*0% to 100%/],
  [['serve', '--port', '99999'], /--port[\s\S]*from 0 to 65535/],
  [['eval', '--threshold', '%'], /--threshold[\s\S]*0% to 100%/],
  [['eval', '--temperature', '1e-30', '--tasks', '1'], /temperature of 0, which is greedy, or of 0\.000001/],
  [
    ['eval', '--model', unfinished],
    /unfinished is not finished[\s\S]*--resume \S*unfinished\), or name a checkpoint/,
  ],
  ...[['eval', '--model'], ['chat', '--model'], ['serve']].map((words): [string[], RegExp] => [
    [...words, weightless],
    /weightless is finished, but its trained weights are gone[\s\S]*a checkpoint that is left, such as \S*rl-end/,
  ]),
  [['chat', '--model', network], /network for cartpole, which has no words[\s\S]*agoge play cartpole/],
  [
    ['eval', '--model', 'https://me:hidden@a.example/v1'],
    /user name or password\.\n +given: +an address at a\.example/,
  ],
  [
    ['eval', 'filesystem', '--mcp-config', broken],
    /--mcp-config means nothing for filesystem[\s\S]*mcp:NAME/,
  ],
  [
    ['chat', 'reasoning', '--sandbox', '--max-calls', '3'],
    /--sandbox, --max-calls means nothing for reasoning/,
  ],
  [['train', '--out', join(broken, 'run')], /broken\.json.run: a part of the path is a file/],
  // Read-only for everybody, root included.
  ...(process.platform === 'linux'
    ? ([
        [['train', '--out', '/proc/agoge-run'], /\/proc\/agoge-run/],
        [['train', '--out', '/sys/kernel/agoge/run'], /\/sys\/kernel\/agoge/],
        [['train', 'cartpole', '--out', '/proc/agoge-run'], /\/proc\/agoge-run/],
        [['pretrain', '--out', '/proc/agoge-model'], /\/proc/],
        [['eval', '--json', '/proc/agoge-report.json'], /\/proc/],
      ] satisfies [string[], RegExp][])
    : []),
  [['train', '--out', taken], /taken already holds a run[\s\S]*--resume/],
  [['pretrain', '--out', join(broken, 'model')], /broken\.json.model: a part of the path is a file/],
  [['pretrain', '--out', folder], /other things than a model/],
  [
    ['eval', '--json', join(broken, 'report.json')],
    /broken\.json.report\.json: a part of the path is a file/,
  ],
  [['eval', '--json', folder], /is a folder/],
])('%j ends with code 1, a message and no stack', async (words, message) => {
  const { code, out, err } = await agoge(...words)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
  expect(err).not.toMatch(/\n {4}at /)
})

test('--debug shows where an error came from', async () => {
  expect((await agoge('eval', 'filesytem', '--debug')).err).toMatch(/\n {4}at /)
})

test('doctor lists what it checked', async () => {
  const { out } = await agoge('doctor')
  for (const check of [
    'Node',
    'ONNX Runtime',
    'cores',
    'memory',
    'base model',
    'filesystem server',
    'run folder',
  ]) {
    expect(out).toContain(check)
  }
  expect(out).toMatch(/ONNX Runtime +works; 512x512 matrix product at \d+ GFLOP\/s/)
})

test('eval says that it found no config, unless an environment or a model is named', async () => {
  // Ends before it evaluates, since a report cannot replace a folder.
  const evaluating = async (...words: string[]): Promise<string> =>
    (await agoge('eval', ...words, '--json', folder)).err
  expect(await evaluating()).toMatch(
    /no agoge\.config\.ts in this folder, so this is the environment filesystem/,
  )
  expect(await evaluating('filesystem')).not.toContain('agoge.config')
  expect(await evaluating('--model', 'models/base')).not.toContain('agoge.config')
})
