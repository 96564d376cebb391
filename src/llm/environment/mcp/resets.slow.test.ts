import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Episode } from '../../episode/types.ts'
import { resolveServer } from '../../tool/server-config.ts'
import { createMcpEnvironment } from './mcp-environment.ts'
import type { McpEnvironment, McpEnvironmentOptions } from './mcp-environment.ts'
import type { McpTask } from './mcp-task.ts'

const shelf = fileURLToPath(new URL('fixtures/shelf-server.mjs', import.meta.url))
const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
// Servers are processes: on a busy machine they are slow to answer, and nothing here is about time.

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function open(options: Omit<McpEnvironmentOptions, 'name'>): Promise<McpEnvironment> {
  const environment = await createMcpEnvironment({ name: 'test', sandbox: true, servers: 2, ...options })
  onTestFinished(() => environment.close())
  return environment
}

function openShelf(
  config: NonNullable<McpEnvironmentOptions['config']>,
  env: Record<string, string> = {},
): Promise<McpEnvironment> {
  const tools = { SHELF_TOOLS: 'put_item take_item list_items' }
  return open({ server: { command: process.execPath, args: [shelf], env: { ...tools, ...env } }, config })
}

function play(environment: McpEnvironment, tasks: readonly McpTask[]): Promise<Episode[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  return runEpisodes(specs, expert, environment, limits)
}

const outcome = ({ status, success, error }: Episode): unknown => ({ status, success, error })
const solved = { status: 'ok', success: true, error: undefined }

test('roots: each server of the filesystem server works in an empty folder of its own', async () => {
  const { config: server } = resolveServer({
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
  })
  const environment = await open({ server, config: { reset: { roots: true }, observe: ['{files}'] } })
  expect(environment.plan).toContain('by emptying its root folder')
  expect(environment.tools.map((tool) => tool.name)).toEqual(
    expect.arrayContaining(['write_file', 'read_text_file', 'create_directory']),
  )
  const { tasks } = await environment.prepareTasks({ seed: 4, counts: { train: 8 } })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['write_file', 'create_directory']))
  const all = tasks.all('train')
  const episodes = await play(environment, all)
  expect(episodes.map(outcome)).toEqual(all.map(() => solved))
})

test('a reset command runs before each task, separately for each server', async () => {
  const log = join(temporary(), 'resets')
  const environment = await openShelf({
    reset: { command: `rm -f "$AGOGE_SLOT/shelf" && echo "$AGOGE_SLOT" >> '${log}'` },
    observe: ['list_items'],
    env: { SHELF_FILE: '{slot}/shelf' },
  })
  expect(environment.plan).toMatch(/by the command rm -f/)
  const { tasks } = await environment.prepareTasks({ seed: 3, counts: { train: 8 } })
  const all = tasks.all('train')
  const episodes = await play(environment, all)
  expect(episodes.map(outcome)).toEqual(all.map(() => solved))
  const servers = new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))
  // Those of servers that were started anew while the tools were tried are gone already.
  expect([...servers].filter((folder) => existsSync(folder))).toHaveLength(2)
  await environment.close()
  expect([...servers].filter((folder) => existsSync(folder))).toEqual([])
})

test('a failing reset command masks the episodes and is quoted without secrets', async () => {
  const gate = join(temporary(), 'gate')
  const environment = await open({
    server: {
      command: process.execPath,
      args: [shelf],
      env: { SHELF_TOOLS: 'put_item list_items', SHELF_FILE: '{slot}/shelf' },
    },
    config: {
      reset: {
        command: `if [ -e '${gate}' ]; then echo "no database: hunter22" >&2; exit 7; fi; rm -f "$AGOGE_SLOT/shelf"`,
      },
      observe: ['list_items'],
    },
    redact: (text) => text.replaceAll('hunter22', '[redacted]'),
  })
  const { tasks } = await environment.prepareTasks({ seed: 3, counts: { train: 4 } })
  writeFileSync(gate, '')
  for (const episode of await play(environment, tasks.all('train'))) {
    expect(outcome(episode)).toEqual({
      status: 'masked',
      success: null,
      error: 'the reset command ended with 7: no database: [redacted]',
    })
  }
})

test('files outside the server: one server at a time, and they are left as they were found', async () => {
  const file = join(temporary(), 'shelf.json')
  const found = '[["lamp","red"]]'
  writeFileSync(file, found)
  const environment = await openShelf(
    { reset: { files: [file] }, observe: ['list_items'] },
    { SHELF_FILE: file },
  )
  const { tasks } = await environment.prepareTasks({ seed: 3, counts: { train: 6 } })
  const all = tasks.all('train')
  expect((await play(environment, all)).map(outcome)).toEqual(all.map(() => solved))
  expect(readFileSync(file, 'utf8')).not.toBe('')
  await environment.close()
  expect(readFileSync(file, 'utf8')).toBe(found)
})
