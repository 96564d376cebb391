import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AgogeError } from '../error.ts'
import { defineTools } from '../tool/define-tools.ts'
import { InfrastructureError } from '../tool/infrastructure-error.ts'
import { createServerPool } from '../tool/server-pool.ts'
import type { Toolbox } from '../tool/types.ts'
import type { EpisodeLimits, EpisodeSpec } from './episode-state.ts'
import { createPlannerActor } from './planner-actor.ts'
import { runEpisodes } from './turn-loop.ts'
import type { Act, Actor, ActRequest, Judgement, Planner, Task, ToolWorld } from './types.ts'

const limits: EpisodeLimits = { turns: 4, deadlineSeconds: 30, toolDeadlineSeconds: 5 }

function taskOf(id: string, plan: Planner): Task {
  const fixed = { family: 'sum', seed: 7, split: 'train', difficulty: 1, context: { id } } as const
  return { id, ...fixed, prompt: `task ${id}`, plan }
}

function specsOf(tasks: readonly Task[]): EpisodeSpec[] {
  return tasks.map((task) => ({ id: `e-${task.id}`, group: 'g', task }))
}

function planner(tasks: readonly Task[]): Actor {
  return createPlannerActor({ tasks: new Map(tasks.map((task) => [`e-${task.id}`, task])) })
}

interface WorldOptions {
  tools?: (log: string[]) => Promise<Toolbox>
  judge?: (answer: string | null) => Judgement | Promise<Judgement>
}

/** A world of one counter an episode; records every session that is opened and closed. */
function counterWorld(options: WorldOptions = {}): ToolWorld & { open_: Set<string>; log: string[] } {
  const log: string[] = []
  const open_ = new Set<string>()
  const tools =
    options.tools ??
    (() => {
      let sum = 0
      return defineTools({
        add: {
          inputSchema: z.strictObject({ n: z.number() }),
          execute: ({ n }: { n: number }) => {
            log.push(`add ${n}`)
            return (sum += n)
          },
        },
        wait: {
          inputSchema: z.object({ ms: z.number() }),
          execute: async ({ ms }: { ms: number }) => {
            await new Promise((resolve) => setTimeout(resolve, ms))
            return 'waited'
          },
        },
      })
    })
  return {
    name: 'counter',
    tools: [],
    system: 'Count.',
    log,
    open_,
    async open(task) {
      open_.add(task.id)
      const toolbox = await tools(log)
      return {
        ...toolbox,
        judge: async ({ answer }) =>
          options.judge === undefined
            ? { success: answer === '3', parts: { answer: answer === '3' ? 1 : 0 } }
            : options.judge(answer),
        async close() {
          open_.delete(task.id)
        },
      }
    },
    async close() {},
  }
}

const add = (n: number): { call: { name: string; arguments: Record<string, unknown> } } => ({
  call: { name: 'add', arguments: { n } },
})
const addTwice: Planner = (results) =>
  results.length < 2 ? add(results.length + 1) : { answer: results[results.length - 1].text }

/** An actor that says what it is told to, turn by turn; what the endpoint of a model would give. */
function scripted(turns: (request: ActRequest) => Partial<Act> | Error): Actor & { batches: string[][] } {
  const batches: string[][] = []
  return {
    name: 'scripted',
    sampling: { temperature: 1 },
    batches,
    encode: ({ text }) => Int32Array.from(text, (char) => char.charCodeAt(0)),
    act: (requests) => {
      batches.push(requests.map((request) => request.episode))
      return Promise.resolve(
        requests.map((request) => {
          const said = turns(request)
          if (said instanceof Error) return said
          const tokens = said.tokens ?? Int32Array.from([4, 9, 1])
          const basic = { text: '', calls: [], finish: 'stop' as const, weightVersion: 3, promptTokens: 10 }
          const mask = new Uint8Array(tokens.length).fill(1, 1)
          return { ...basic, tokens, mask, logprobs: new Float32Array(tokens.length), ...said }
        }),
      )
    },
  }
}

test('an episode that is solved: the whole record', async () => {
  const task = taskOf('a', addTwice)
  const world = counterWorld()
  const [episode] = await runEpisodes(specsOf([task]), planner([task]), world, limits)
  expect(episode).toMatchObject({
    schema: 1,
    id: 'e-a',
    group: 'g',
    world: 'counter',
    task: 'a',
    family: 'sum',
    seed: 7,
    context: { id: 'a' },
    status: 'ok',
    ending: 'answered',
    success: true,
    rewards: [{ agent: 'agent', name: 'part:answer', value: 1 }],
    usage: { calls: 2, invalidCalls: 0 },
  })
  expect(episode.error).toBeUndefined()
  expect(episode.nodes.map(({ id, parent, role, text }) => [id, parent, role, text])).toEqual([
    [0, null, 'system', 'Count.'],
    [1, 0, 'user', 'task a'],
    [2, 1, 'assistant', ''],
    [3, 2, 'tool', '1'],
    [4, 3, 'assistant', ''],
    [5, 4, 'tool', '3'],
    [6, 5, 'assistant', '3'],
  ])
  expect(episode.nodes[3]).toMatchObject({ callId: episode.nodes[2].calls?.[0].id, isError: false })
  expect(episode.samples.map(({ path, output }) => [path, output])).toEqual([
    [[0, 1], 2],
    [[0, 1, 2, 3], 4],
    [[0, 1, 2, 3, 4, 5], 6],
  ])
  expect(world.open_.size).toBe(0)
})

test('a wrong answer is ok and unsuccessful', async () => {
  const task = taskOf('a', () => ({ answer: '4' }))
  const [episode] = await runEpisodes(specsOf([task]), planner([task]), counterWorld(), limits)
  expect(episode).toMatchObject({
    status: 'ok',
    success: false,
    rewards: [{ name: 'part:answer', value: 0 }],
  })
})

test('batches are in the order of the specs and do not depend on which tool was fast', async () => {
  const waits = [40, 1, 20, 5]
  const tasks = waits.map((ms, i) => taskOf(`${i}`, () => ({ answer: `${ms}` })))
  const actor = scripted(({ episode, turn }) =>
    turn < (episode === 'e-1' ? 1 : 2)
      ? { calls: [{ id: `${turn}.0`, name: 'wait', arguments: { ms: waits[Number(episode.slice(2))] } }] }
      : { text: 'done' },
  )
  const progress: number[] = []
  const episodes = await runEpisodes(specsOf(tasks), actor, counterWorld(), limits, {
    onTurn: ({ live }) => progress.push(live),
  })
  expect(actor.batches).toEqual([
    ['e-0', 'e-1', 'e-2', 'e-3'],
    ['e-0', 'e-1', 'e-2', 'e-3'],
    ['e-0', 'e-2', 'e-3'],
  ])
  expect(progress).toEqual([4, 3, 0])
  expect(episodes.map((episode) => episode.id)).toEqual(['e-0', 'e-1', 'e-2', 'e-3'])
  expect(episodes[0].samples[0]).toMatchObject({
    weightVersion: 3,
    trainable: true,
    sampling: { temperature: 1 },
  })
  // Three outputs of two sampled tokens each; the marker is forced.
  expect(episodes[0].usage).toEqual({ promptTokens: 30, sampledTokens: 6, calls: 2, invalidCalls: 0 })
})

test('calls of one turn run in order, and those that do not fit are told so', async () => {
  const world = counterWorld()
  const actor = scripted(({ turn }) =>
    turn > 0
      ? { text: '3' }
      : {
          calls: [
            { id: '0.0', name: 'add', arguments: { n: 1 } },
            { id: '0.1', name: 'subtract', arguments: {} },
            { id: '0.2', name: 'add', arguments: { n: 'two' } },
            { id: '0.3', name: 'add', arguments: { n: 2 } },
          ],
        },
  )
  const [episode] = await runEpisodes(specsOf([taskOf('a', addTwice)]), actor, world, limits)
  expect(
    episode.nodes.filter((node) => node.role === 'tool').map((node) => [node.text, node.isError]),
  ).toEqual([
    ['1', false],
    ['error: unknown tool subtract', true],
    ['error: "n" must be a number', true],
    ['3', false],
  ])
  expect(episode.usage).toMatchObject({ calls: 4, invalidCalls: 2 })
  expect(episode.nodes[2].invalid).toBe('unknown tool subtract')
  expect(world.log).toEqual(['add 1', 'add 2'])
})

test('an output that cannot be understood is answered and counted', async () => {
  const actor = scripted(({ turn }) => (turn === 0 ? { invalid: 'the call is not JSON' } : { text: '3' }))
  const [episode] = await runEpisodes(specsOf([taskOf('a', addTwice)]), actor, counterWorld(), limits)
  expect(episode.nodes[3]).toMatchObject({ role: 'tool', text: 'error: the call is not JSON', isError: true })
  expect(episode).toMatchObject({ status: 'ok', success: true, usage: { calls: 1, invalidCalls: 1 } })
})

test('turn and token limits are the failure of the agent: judged, and trained', async () => {
  const loop = taskOf('loop', () => add(1))
  const [turns] = await runEpisodes(specsOf([loop]), planner([loop]), counterWorld(), limits)
  expect(turns).toMatchObject({ status: 'failed', ending: 'turn-limit', success: false, usage: { calls: 4 } })
  expect(turns.rewards).toHaveLength(1)

  const cut = scripted(() => ({
    finish: 'length',
    text: 'blah',
    calls: [{ id: '0.0', name: 'add', arguments: { n: 1 } }],
  }))
  const world = counterWorld()
  const [length] = await runEpisodes(specsOf([loop]), cut, world, limits)
  expect(length).toMatchObject({
    status: 'failed',
    ending: 'token-limit',
    success: false,
    usage: { calls: 0 },
  })
  expect(length.samples[0].trainable).toBe(true)
  expect(world.log).toEqual([])

  const chatty = scripted(() => ({ calls: [{ id: '0.0', name: 'add', arguments: { n: 1 } }] }))
  const [window] = await runEpisodes(specsOf([loop]), chatty, counterWorld(), {
    ...limits,
    totalTokens: 28,
    tokensPerTurn: 8,
  })
  // 6 + 9 tokens of system and user, 3 of the output, 1 of the result: 19, and 27 would be too close after one more.
  expect(window).toMatchObject({ status: 'failed', ending: 'token-limit' })
  expect(window.samples).toHaveLength(2)
})

test('a server that crashes or hangs masks its episode alone, and is replaced', async () => {
  const pool = createServerPool({
    server: {
      command: process.execPath,
      args: [fileURLToPath(new URL('../tool/fixtures/faulty-server.mjs', import.meta.url))],
    },
    size: 2,
    callSeconds: 0.5,
  })
  onTestFinished(() => pool.close())
  const first = await pool.lease()
  const { specs } = first
  await first.release()
  const world = counterWorld({
    tools: () =>
      Promise.resolve({
        specs,
        async call(name, args, options) {
          const lease = await pool.lease()
          try {
            return await lease.call(name, args, options)
          } finally {
            await lease.release()
          }
        },
      }),
    judge: (answer) => ({ success: answer === 'done', parts: {} }),
  })
  const tasks = ['slow', 'crash', 'slow', 'hang', 'slow', 'slow'].map((name, i) =>
    taskOf(`${i}`, (results) =>
      results.length < 2
        ? { call: { name: i % 2 === 1 && results.length === 0 ? 'slow' : name, arguments: {} } }
        : { answer: 'done' },
    ),
  )
  const episodes = await runEpisodes(specsOf(tasks), planner(tasks), world, limits)
  expect(episodes.map(({ status, ending, success }) => [status, ending, success])).toEqual([
    ['ok', 'answered', true],
    ['masked', 'infrastructure', null],
    ['ok', 'answered', true],
    ['masked', 'infrastructure', null],
    ['ok', 'answered', true],
    ['ok', 'answered', true],
  ])
  expect(episodes[1].error).toMatch(/crash: .*out of cheese/)
  expect(episodes[3].error).toMatch(/hang: no answer in time/)
  expect(episodes.flatMap(({ status, rewards }) => (status === 'masked' ? rewards : []))).toEqual([])
  expect(world.open_.size).toBe(0)
})

test('a tool that takes no notice of anything ends at the deadline of the call', async () => {
  const deaf = counterWorld({
    tools: () =>
      defineTools({ add: { inputSchema: { type: 'object' }, execute: () => new Promise(() => {}) } }),
  })
  const task = taskOf('a', addTwice)
  const [episode] = await runEpisodes(specsOf([task]), planner([task]), deaf, {
    ...limits,
    toolDeadlineSeconds: 0.05,
  })
  expect(episode).toMatchObject({
    status: 'masked',
    ending: 'infrastructure',
    success: null,
    rewards: [],
    error: 'add gave no answer in 0.05 s',
  })
  expect(deaf.open_.size).toBe(0)
})

test('faults of opening, judging and acting mask; the rest goes on', async () => {
  const good = taskOf('good', addTwice)
  const bad = taskOf('bad', addTwice)
  const world = counterWorld()
  const opened = {
    ...world,
    open: (task: Task, options: { signal?: AbortSignal }) =>
      task === bad ? Promise.reject(new InfrastructureError('no room')) : world.open(task, options),
  }
  const [a, b] = await runEpisodes(specsOf([good, bad]), planner([good, bad]), opened, limits)
  expect([a.status, b.status, b.error]).toEqual(['ok', 'masked', 'no room'])

  const unknown = counterWorld({
    judge: () => ({ success: null, parts: { state: 1 }, reason: 'the disk is gone' }),
  })
  const [judged] = await runEpisodes(specsOf([good]), planner([good]), unknown, limits)
  expect(judged).toMatchObject({
    status: 'masked',
    ending: 'answered',
    success: null,
    rewards: [],
    error: 'the disk is gone',
  })

  const broken = counterWorld({ judge: () => Promise.reject(new TypeError('x is undefined')) })
  const [thrown] = await runEpisodes(specsOf([good]), planner([good]), broken, limits)
  expect(thrown).toMatchObject({ status: 'masked', success: null, error: 'x is undefined' })
  expect(broken.open_.size).toBe(0)

  const actor = scripted(({ episode }) => (episode === 'e-bad' ? new Error('503') : { text: '3' }))
  const acted = await runEpisodes(specsOf([bad, good]), actor, counterWorld(), limits)
  expect(acted.map((episode) => [episode.status, episode.ending])).toEqual([
    ['masked', 'infrastructure'],
    ['ok', 'answered'],
  ])
  const gone = { ...actor, act: () => Promise.reject(new Error('no model')) }
  const masked = await runEpisodes(specsOf([bad, good]), gone, counterWorld(), limits)
  expect(masked.map((episode) => episode.error)).toEqual(['no model', 'no model'])
})

test('a mistake of the user ends the run, with all sessions closed', async () => {
  const world = counterWorld()
  const actor = scripted(() => ({ text: '3' }))
  const wrong = { ...actor, act: () => Promise.reject(new AgogeError('wrong key', { code: 'x' })) }
  const tasks = [taskOf('a', addTwice), taskOf('b', addTwice)]
  await expect(runEpisodes(specsOf(tasks), wrong, world, limits)).rejects.toThrow('wrong key')
  expect(world.open_.size).toBe(0)
})

test('an aborted run gives back what is finished; the rest is masked and closed', async () => {
  const stop = new AbortController()
  const world = counterWorld()
  const tasks = [
    taskOf('quick', () => ({ answer: '3' })),
    taskOf('long', () => ({ call: { name: 'wait', arguments: { ms: 9000 } } })),
  ]
  setTimeout(() => stop.abort(new Error('Ctrl-C')), 50)
  const [quick, long] = await runEpisodes(
    specsOf(tasks),
    planner(tasks),
    world,
    { ...limits, toolDeadlineSeconds: 20 },
    { signal: stop.signal },
  )
  expect([quick.status, quick.success]).toEqual(['ok', true])
  expect([long.status, long.ending, long.success, long.rewards]).toEqual(['masked', 'aborted', null, []])
  expect(world.open_.size).toBe(0)
  const before = await runEpisodes(specsOf(tasks), planner(tasks), world, limits, { signal: stop.signal })
  expect(before.map((episode) => episode.ending)).toEqual(['aborted', 'aborted'])
})

test('an episode past its deadline is masked: the clock of this machine is not the agent', async () => {
  const task = taskOf('a', (results) =>
    results.length < 3 ? { call: { name: 'wait', arguments: { ms: 30 } } } : { answer: '3' },
  )
  const [episode] = await runEpisodes(specsOf([task]), planner([task]), counterWorld(), {
    ...limits,
    deadlineSeconds: 0.02,
  })
  expect(episode).toMatchObject({ status: 'masked', ending: 'deadline', success: null, rewards: [] })
})
