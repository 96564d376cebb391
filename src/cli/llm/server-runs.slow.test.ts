import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import { earlierCounts, openEnvironment } from './open-environment.ts'
import type { OpenedNamed, OpeningOptions } from './open-environment.ts'
import { agoge } from '../testing/agoge.ts'

// A run on a foreign server that goes on, or is evaluated, later: is it still the same server, with the same tasks?
const shelf = fileURLToPath(new URL('../../llm/environment/mcp/fixtures/shelf-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'agoge-runs-'))
const file = join(folder, 'mcp.json')
const run = join(folder, 'run')
const environment = { environment: 'mcp:shelf', mcpConfig: file, callsPerSecond: 100_000, maxCalls: 100_000 }
let taskFingerprint: string | undefined

function configure(env: Record<string, string>): void {
  const shelves = { SHELF_FILE: '{slot}/shelf', ...env }
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: { shelf: { command: process.execPath, args: [shelf], env: shelves } },
      agoge: { shelf: { reset: { files: ['shelf'] }, observe: ['list_items'] } },
    }),
  )
}

const reading = { SHELF_TOOLS: 'list_items measure' }
const writing = { SHELF_TOOLS: 'list_items put_item' }

/** The server opened by somebody who cannot be asked. */
async function open(opening: Partial<OpeningOptions>): Promise<{ opened: OpenedNamed; said: string }> {
  let said = ''
  const err = (text: string): void => {
    said += `${text}\n`
  }
  const terminal = {
    out: err,
    err,
    progress: { write: err },
    signal: new AbortController().signal,
    debug: false,
  }
  const opened = await openEnvironment(
    { ...environment, sandbox: true },
    { seed: 3, wanted: { train: 4, test: 4 }, ...opening },
    terminal,
  )
  await opened.environment.close()
  return { opened, said }
}

beforeAll(async () => {
  configure(reading)
  const opened = await open({ wanted: earlierCounts })
  ;({ taskFingerprint } = opened.opened)
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  symlinkSync(baseModelFolder, join(run, 'checkpoints', 'final'))
  const { sandbox, ...kept } = { ...environment, sandbox: true }
  const config = {
    schema: 1,
    seed: 3,
    compareSupervised: false,
    plan: { ...smallModelPlan, demonstrations: {} },
    ...kept,
    sandbox,
    model: baseModelFolder,
    taskFingerprint: '0123456789abcdef',
    commandLine: 'agoge train mcp:shelf',
  }
  writeFileSync(join(run, 'config.json'), JSON.stringify(config))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('what was agreed to when a run began is not asked about again, unless the server is another', async () => {
  configure(writing)
  const { opened } = await open({ yes: true })
  const { agreement } = opened
  expect(agreement).not.toContain('shelf')
  const again = await open({ agreed: agreement })
  expect(again.said).not.toContain('another than when this run began')
  expect(again.opened.taskFingerprint).toBe(opened.taskFingerprint)
  expect(again.opened.agreement).not.toBe(agreement)

  // The same name and command in another environment.
  configure({ ...writing, DATABASE: 'production' })
  await expect(open({ agreed: agreement })).rejects.toMatchObject({ code: 'confirmation-needed' })
  await expect(open({})).rejects.toMatchObject({ code: 'confirmation-needed' })
  const confirmed = await open({ agreed: agreement, yes: true })
  expect(confirmed.said).toContain('another than when this run began')
})

test('a run is not resumed with other tasks than it was begun with', async () => {
  configure(reading)
  const { code, err } = await agoge('train', '--resume', run)
  expect(err).toMatch(
    /The tasks that mcp:shelf gives now are not those[\s\S]*expected: +tasks 0123456789abcdef/,
  )
  expect(err).toContain(`tasks ${taskFingerprint}`)
  expect(code).toBe(1)
})

test("a run's model is evaluated on the run's held-out tasks; other tasks are an error", async () => {
  configure(reading)
  const config = join(run, 'config.json')
  writeFileSync(config, JSON.stringify({ environment: 'mcp:shelf', seed: 3, taskFingerprint }))
  const words = ['eval', 'mcp:shelf', '--mcp-config', file, '--sandbox', '--model', run, '--tasks', '4']
  const own = await agoge(...words)
  expect(own.err).not.toContain('these tasks are not those of')
  expect(own.out).toMatch(/judged +4/)
  const other = await agoge(...words, '--seed', '4')
  expect(other.err).toContain(`these tasks are not those of ${run} (seed 3)`)
  expect(other.out).toMatch(/judged +4/)
})
