import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Act, Actor } from '../../agent/types.ts'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Episode } from '../../episode/types.ts'
import { createMcpEnvironment, type McpEnvironment, type McpEnvironmentOptions } from './mcp-environment.ts'
import { openMcpEnvironment } from './open-mcp-environment.ts'
import type { McpTask } from './mcp-task.ts'

const shelf = fileURLToPath(new URL('fixtures/shelf-server.mjs', import.meta.url))
const examples = fileURLToPath(new URL('../../../../examples/mcp.json', import.meta.url))
const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
// Servers are processes: on a busy machine they are slow to answer, and nothing here is about time.

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function openShelf(options: Partial<McpEnvironmentOptions> = {}, env: Record<string, string> = {}) {
  const log = join(temporary(), 'calls')
  writeFileSync(log, '')
  const server = { command: process.execPath, args: [shelf], env: { SHELF_LOG: log, ...env } }
  const environment = await createMcpEnvironment({ name: 'shelf', server, ...options })
  onTestFinished(() => environment.close())
  const called = (): Set<string> => new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))
  return { environment, called }
}

async function openExample(
  name: string,
  options: Parameters<typeof openMcpEnvironment>[1] = {},
): Promise<McpEnvironment> {
  const environment = await openMcpEnvironment(name, { file: examples, ...options })
  onTestFinished(() => environment.close())
  return environment
}

function play(environment: McpEnvironment, tasks: readonly McpTask[], actor?: Actor): Promise<Episode[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  return runEpisodes(specs, actor ?? expert, environment, limits)
}

/** An agent that always answers the same and calls nothing. */
function answering(text: string): Actor {
  const act: Act = {
    text,
    calls: [],
    finish: 'stop',
    tokens: new Int32Array(0),
    logprobs: new Float32Array(0),
    mask: new Uint8Array(0),
    weightVersion: 0,
    promptTokens: 0,
  }
  return {
    name: 'parrot',
    sampling: { temperature: 0 },
    encode: () => new Int32Array(0),
    act: async (requests) => requests.map(() => act),
  }
}

const basic = { SHELF_TOOLS: 'put_item take_item find_item list_items' }

test('by default only reading tools are called, and the plan says so before', async () => {
  const { environment, called } = await openShelf()
  expect(environment.plan).toContain('put_item: may change something')
  expect(environment.plan).toMatch(/list_items +reads/)
  expect(environment.needsConsent).toBe(false)
  // Nothing puts its state back: what was played is journaled.
  expect(environment.deterministic).toBe(false)
  expect(called()).toEqual(new Set())
  const { tasks, leftOut } = await environment.prepareTasks({
    seed: 1,
    counts: { train: 6, test: 4 },
    deadlineSeconds: 5,
  })
  expect(tasks.kinds).toContain('measure')
  const reasons = Object.fromEntries(leftOut.map((tool) => [tool.name, tool.reason]))
  expect(reasons['roll_dice']).toMatch(/another result/)
  expect(reasons['tell_time']).toMatch(/another result/)
  expect(reasons['unlock']).toMatch(/schema.*code/)
  expect(reasons['break_down']).toMatch(/server failed/)
  expect(reasons['dawdle']).toMatch(/longer than/)
  for (const name of ['put_item', 'take_item', 'wipe_all']) expect(called()).not.toContain(name)
  const session = await environment.open(tasks.task({ split: 'train', seed: 0 }), {})
  expect((await session.call('wipe_all', {})).isError).toBe(true)
  expect(called()).not.toContain('wipe_all')
  // What was left out is not on offer either.
  const calls = environment.limit.used().total
  for (const { name } of leftOut) {
    expect(environment.tools.map((tool) => tool.name)).not.toContain(name)
    expect(await session.call(name, {})).toEqual({ text: `error: no tool ${name}`, isError: true })
  }
  expect(environment.limit.used().total).toBe(calls)

  // Knowing the answer without having called anything is no success.
  const task = tasks.all('train')[0]
  const [episode] = await play(environment, [task], answering(task.expected.answer ?? ''))
  expect(episode.success).toBe(false)
})

test('in a sandbox every task is solved by its plan, and not by an incomplete one', async () => {
  const config = { reset: { files: ['shelf'] }, observe: ['list_items'], env: { SHELF_FILE: '{slot}/shelf' } }
  const { environment, called } = await openShelf({ sandbox: true, config, servers: 2 }, basic)
  expect(environment.needsConsent).toBe(true)
  expect(environment.deterministic).toBe(true)
  const { tasks } = await environment.prepareTasks({ seed: 3, counts: { train: 16 } })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['put_item', 'take_item', 'find_item', 'list_items']))
  expect(called()).toContain('take_item')
  const all = tasks.all('train')
  // More episodes open at once than there are servers: each must still see only its own shelf.
  const solved = await play(environment, all)
  expect(solved.map((episode) => [episode.task, episode.status, episode.success])).toEqual(
    all.map((task) => [task.id, 'ok', true]),
  )
  for (const actor of [answering('done'), answering('')]) {
    const idle = await play(environment, all, actor)
    expect(idle.filter((episode) => episode.success)).toEqual([])
  }
})

test('--allow admits one tool and no other; a reset by restarting', async () => {
  const config = { reset: 'restart' as const, observe: ['list_items'] }
  const few = { SHELF_TOOLS: 'put_item take_item list_items' }
  const { environment, called } = await openShelf({ allow: ['put_item'], config, servers: 2 }, few)
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  expect(tasks.kinds).toContain('put_item')
  expect(called()).toContain('put_item')
  expect(called()).not.toContain('take_item')
  const solved = await play(environment, tasks.all('train'))
  expect(solved.map((episode) => episode.success)).toEqual([true, true])
})

test('a spent budget stops the work and says so', async () => {
  const { environment } = await openShelf({ maxCalls: 10 }, { SHELF_TOOLS: 'measure' })
  await expect(environment.prepareTasks({ seed: 1, counts: { train: 50 } })).rejects.toMatchObject({
    code: 'call-budget',
  })
  expect(environment.limit.used().total).toBe(10)
})

test('bad servers are refused with a message', async () => {
  await expect(openShelf({}, { SHELF_TOOLS: 'none' })).rejects.toMatchObject({ code: 'no-tools' })
  await expect(openShelf({ allow: ['nonsense'] })).rejects.toMatchObject({
    code: 'unknown-tool',
    given: 'nonsense',
  })
  const config = { reset: 'restart' as const, observe: ['put_item'] }
  await expect(openShelf({ sandbox: true, config })).rejects.toMatchObject({ code: 'bad-config' })
})

test('configured values never come back in a result', async () => {
  const file = join(temporary(), 'mcp.json')
  const entry = {
    command: process.execPath,
    args: [shelf],
    env: { SHELF_TOKEN: 'tok-8c1f77aa', SHELF_TOOLS: 'measure tell_token' },
  }
  writeFileSync(file, JSON.stringify({ mcpServers: { shelf: entry } }))
  const environment = await openMcpEnvironment('shelf', { file })
  onTestFinished(() => environment.close())
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  const session = await environment.open(tasks.all('train')[0], {})
  expect((await session.call('tell_token', {})).text).toBe('the token is [redacted].')

  // The entry of the environment may replace the environment, and may hold a secret as well.
  const agoge = { shelf: { env: { SHELF_TOKEN: 'tok-99b2c3dd' } } }
  writeFileSync(file, JSON.stringify({ mcpServers: { shelf: entry }, agoge }))
  const second = await openMcpEnvironment('shelf', { file })
  onTestFinished(() => second.close())
  const replaced = await second.open(tasks.all('train')[0], {})
  expect((await replaced.call('tell_token', {})).text).toBe('the token is [redacted].')
})

test('the memory server: all kinds of tasks are proved and solved', async () => {
  const environment = await openExample('memory', { sandbox: true })
  const counts = { train: 36, validation: 4, test: 8, 'unseen-paraphrase': 4 }
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 5, counts })
  expect(leftOut).toEqual([])
  expect(tasks.kinds).toEqual(
    expect.arrayContaining([
      'create_entities',
      'add_observations',
      'delete_relations',
      'open_nodes',
      'read_graph',
    ]),
  )
  const all = (['train', 'validation', 'test', 'unseen-paraphrase'] as const).flatMap((split) =>
    tasks.all(split),
  )
  expect(all).toHaveLength(52)
  const solved = await play(environment, all)
  expect(solved.filter((episode) => episode.success !== true)).toEqual([])
  const idle = await play(environment, all, answering('done'))
  expect(idle.filter((episode) => episode.success !== false)).toEqual([])
})

test('the everything server: reading tools only; of a result that tells the time the other lines are asked for', async () => {
  const environment = await openExample('everything')
  const { tasks, leftOut } = await environment.prepareTasks({
    seed: 2,
    counts: { train: 24, test: 6 },
    deadlineSeconds: 10,
  })
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['echo', 'get-sum', 'get-structured-content', 'get-resource-reference']),
  )
  expect(leftOut.map((tool) => tool.name)).not.toContain('get-resource-reference')
  const all = [...tasks.all('train'), ...tasks.all('test')]
  for (const { kind, expected } of all)
    if (kind === 'get-resource-reference') expect(expected.answer).not.toMatch(/created at/)
  const solved = await play(environment, all)
  expect(solved.filter((episode) => episode.success !== true)).toEqual([])
  expect(Object.keys(environment.limit.used().tools)).not.toContain('toggle-simulated-logging')
})

test('the filesystem server in the same way: its state is the files themselves', async () => {
  const environment = await openExample('filesystem', { sandbox: true, servers: 2 })
  const { tasks } = await environment.prepareTasks({ seed: 4, counts: { train: 12 } })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['write_file', 'read_text_file']))
  const solved = await play(environment, tasks.all('train'))
  expect(solved.filter((episode) => episode.success !== true)).toEqual([])
})
