import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { EpisodeLimits } from '../../agent/episode-state.ts'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Episode } from '../../episode/types.ts'
import {
  callLimits,
  createMcpEnvironment,
  type McpEnvironment,
  type McpEnvironmentOptions,
} from './mcp-environment.ts'
import type { McpTask } from './mcp-task.ts'
import { createCallLimit, limitToolbox } from './server/call-limit.ts'

function recording() {
  const calls: string[] = []
  const specs = ['look', 'destroy'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  return {
    calls,
    toolbox: { specs, call: async (name: string) => (calls.push(name), { text: '', isError: false }) },
  }
}

test('a tool that is not allowed is neither listed nor called', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(toolbox, createCallLimit({ allowed: ['look'], maxCalls: 5 }))
  expect(withFileErrors.specs.map((spec) => spec.name)).toEqual(['look'])
  await withFileErrors.call('look', {})
  await expect(withFileErrors.call('destroy', {})).rejects.toMatchObject({
    code: 'tool-not-allowed',
    given: 'destroy',
  })
  expect(calls).toEqual(['look'])
})

test('the budget holds over all toolboxes behind one guard', async () => {
  const one = recording()
  const two = recording()
  const limit = createCallLimit({ allowed: ['look'], maxCalls: 3 })
  const boxes = [limitToolbox(one.toolbox, limit), limitToolbox(two.toolbox, limit)]
  const outcomes = await Promise.allSettled([0, 1, 0, 1, 0].map((box) => boxes[box].call('look', {})))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(3)
  expect(one.calls.length + two.calls.length).toBe(3)
  expect(limit.used()).toEqual({ total: 3, tools: { look: 3 } })
  await expect(boxes[0].call('look', {})).rejects.toMatchObject({ code: 'call-budget' })
})

test('calls are spaced by the rate, and waiting can be given up', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(
    toolbox,
    createCallLimit({ allowed: ['look'], maxCalls: 9, callsPerSecond: 50 }),
  )
  const began = performance.now()
  await Promise.all([1, 2, 3, 4].map(() => withFileErrors.call('look', {})))
  expect(performance.now() - began).toBeGreaterThan(55)
  expect(calls).toHaveLength(4)
})

test('waiting for the rate can be given up', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(
    toolbox,
    createCallLimit({ allowed: ['look'], maxCalls: 9, callsPerSecond: 0.001 }),
  )
  await withFileErrors.call('look', {})
  const stop = new AbortController()
  const waiting = withFileErrors.call('look', {}, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(calls).toHaveLength(1)
})

const shelf = fileURLToPath(new URL('fixtures/shelf-server.mjs', import.meta.url))
const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
// Servers are processes: on a busy machine they are slow to start.

async function open(options: Partial<McpEnvironmentOptions> = {}): Promise<McpEnvironment> {
  const env = { SHELF_TOOLS: 'measure' }
  const server = { command: process.execPath, args: [shelf], env }
  const environment = await createMcpEnvironment({ name: 'shelf', server, servers: 1, ...options })
  onTestFinished(() => environment.close())
  return environment
}

function play(
  environment: McpEnvironment,
  tasks: readonly McpTask[],
  episodeLimits: EpisodeLimits = limits,
): Promise<Episode[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  return runEpisodes(specs, expert, environment, episodeLimits)
}

test('only a sandbox on this machine is called as often and as fast as it answers', () => {
  const [remote, local] = [callLimits(true, false), callLimits(false, false)]
  expect(callLimits(true, true)).toEqual(remote)
  expect(remote.maxCalls).toBeLessThan(local.maxCalls)
  expect(remote.callsPerSecond).toBeLessThan(local.callsPerSecond ?? 0)
  const sandbox = callLimits(false, true)
  expect(sandbox.callsPerSecond).toBeUndefined()
  expect(sandbox.maxCalls).toBeGreaterThan(local.maxCalls)
  expect(Number.isFinite(sandbox.maxCalls)).toBe(true)
})

test('the plan names the limits that hold', async () => {
  expect((await open()).plan).toContain('at most 40000 calls in all, at most 50 a second.')
  expect((await open({ sandbox: true })).plan).toContain(
    'at most 500000 calls in all, as fast as it answers.',
  )
  const given = await open({ sandbox: true, maxCalls: 70, callsPerSecond: 3 })
  expect(given.plan).toContain('at most 70 calls in all, at most 3 a second.')
})

test('a budget that is spent in the midst of episodes ends the job; nothing is masked', async () => {
  const environment = await open({ maxCalls: 240, callsPerSecond: 1000 })
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 8 } })
  const all = tasks.all('train')
  expect((await play(environment, all)).map(({ status }) => status)).toEqual(all.map(() => 'ok'))
  const waves = async (): Promise<never> => {
    for (;;) {
      const episodes = await play(environment, all)
      expect(episodes.filter(({ status }) => status === 'masked')).toEqual([])
    }
  }
  await expect(waves()).rejects.toMatchObject({
    code: 'call-budget',
    message: 'the budget of 240 calls is spent',
    hint: expect.stringContaining('--max-calls'),
  })
  expect(environment.limit.used().total).toBe(240)
})

test('waiting for the rate masks no episode', async () => {
  const { tasks } = await (await open({})).prepareTasks({ seed: 1, counts: { train: 9 } })
  // Nine calls take eight seconds in all, in which the last of them waits for longer than its deadlines.
  const environment = await open({ callsPerSecond: 1 })
  const tight = { turns: 6, deadlineSeconds: 6, toolDeadlineSeconds: 5 }
  const began = performance.now()
  const episodes = await play(environment, tasks.all('train'), tight)
  expect(performance.now() - began).toBeGreaterThan(7900)
  expect(episodes.map(({ status }) => status)).toEqual(episodes.map(() => 'ok'))
})
