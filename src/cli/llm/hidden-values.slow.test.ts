import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defined } from '../../defined.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'

// What a server that repeats its key everywhere leaves behind of it, in the terminal and in the files of a run.
const leaky = fileURLToPath(new URL('../../llm/environment/mcp/fixtures/leaky-server.mjs', import.meta.url))
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const key = 'Zq7f2kP9wLx4vB8nTr3sYd6h'
/** Parts too: texts that are shortened must not keep half of it. */
const pieces = [key.slice(0, 8), key.slice(8, 16), key.slice(-8)]
let folder: string

async function agoge(
  words: readonly string[],
  fault?: string,
): Promise<{ code: number | null; shown: string }> {
  const env = { LEAKY_API_KEY: '${LEAKY_KEY}', ...defined({ LEAKY_FAULT: fault }) }
  const server = { command: process.execPath, args: [leaky], env }
  const file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { leaky: server } }))
  const source = ['--import', 'tsx', '--conditions', 'agoge-source', main]
  const child = spawn(process.execPath, [...source, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LEAKY_KEY: key },
  })
  let shown = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      shown += data.toString()
    })
  return { code: await new Promise((resolve) => child.once('close', resolve)), shown }
}

function expectHidden(text: string, where: string): void {
  for (const piece of pieces) {
    const at = text.indexOf(piece)
    expect(at < 0 ? '' : `${where}: ${text.slice(Math.max(0, at - 200), at + 200)}`).toBe('')
  }
}

function filesOf(root: string): string[] {
  return readdirSync(root).flatMap((name) => {
    const path = join(root, name)
    return statSync(path).isDirectory() ? filesOf(path) : [path]
  })
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agoge-hidden-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a training on a server that puts its key everywhere: neither the terminal nor any file of the run has it', async () => {
  const { warmStart, reinforcement } = smallModelPlan
  const plan: TrainingPlan = {
    ...smallModelPlan,
    demonstrations: { measure: 8 },
    warmStart: { ...warmStart, batch: 4, epochs: 1, validateEvery: 8 },
    reinforcement: { ...reinforcement, steps: 1, groups: 2, groupSize: 2 },
    tasks: { validation: 1, test: 2, unseenParaphrases: 0 },
    checkpointEvery: 1,
  }
  const run = join(folder, 'run')
  mkdirSync(run)
  // A run that has only just begun, with a few of everything.
  const config = {
    schema: 1,
    environment: 'mcp:leaky',
    seed: 3,
    compareSupervised: false,
    plan,
    mcpConfig: join(folder, 'mcp.json'),
    callsPerSecond: 100_000,
    model: baseModelFolder,
    commandLine: 'agoge train',
  }
  writeFileSync(join(run, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  const { code, shown } = await agoge(['train', '--resume', run, '--yes'])
  expect(code, shown).toBe(0)
  expectHidden(shown, 'terminal')
  expect(shown).toMatch(/measure +reads/)
  expect(shown).toMatch(/read_\[redacted\]: cannot be used: its name holds a configured value/)
  expect(shown).toMatch(/left out: fails/)
  const files = filesOf(run)
  expect(files.length).toBeGreaterThan(8)
  for (const file of files) expectHidden(readFileSync(file, 'latin1'), file)
  // The tools were stored, and what was hidden in them shows.
  expect(files.some((file) => readFileSync(file, 'latin1').includes('[redacted]'))).toBe(true)
})

test.each(['initialize', 'tools/list', 'crash'])(
  'a server that fails at %s with its key in the error',
  async (fault) => {
    const words = ['eval', 'mcp:leaky', '--mcp-config', join(folder, 'mcp.json'), '--tasks', '2', '--debug']
    const { code, shown } = await agoge(words, fault)
    expect(code).toBe(1)
    expect(shown).toContain('[redacted]')
    expectHidden(shown, 'terminal')
  },
)
