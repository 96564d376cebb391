import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { defineTools } from '../tool/define-tools.ts'
import { InfrastructureError } from '../tool/tool.ts'
import { createServerPool } from '../tool/server-pool.ts'
import {
  addTwice,
  counterEnvironment,
  limits,
  expert,
  scripted,
  specsOf,
  taskOf,
} from './testing/counter-environment.ts'
import { runEpisodes } from './turn-loop.ts'
import type { Task } from './types.ts'

test('a server that crashes or hangs masks its episode alone, and is replaced', async () => {
  const pool = createServerPool({
    server: {
      command: process.execPath,
      args: [fileURLToPath(new URL('../tool/fixtures/faulty-server.mjs', import.meta.url))],
    },
    size: 2,
    callSeconds: 8,
  })
  onTestFinished(() => pool.close())
  const first = await pool.lease()
  const { specs } = first
  await first.release()
  const environment = counterEnvironment({
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
    judge: (answer) => Number(answer === 'done'),
  })
  const tasks = ['slow', 'crash', 'slow', 'hang', 'slow', 'slow'].map((name, i) =>
    taskOf(`${i}`, (results) =>
      results.length < 2
        ? { call: { name: i % 2 === 1 && results.length === 0 ? 'slow' : name, arguments: {} } }
        : { answer: 'done' },
    ),
  )
  const episodes = await runEpisodes(specsOf(tasks), expert(tasks), environment, limits)
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
  expect(environment.open_.size).toBe(0)
})

test('a tool that takes no notice of anything ends at the deadline of the call', async () => {
  const deaf = counterEnvironment({
    tools: () =>
      defineTools({ add: { inputSchema: { type: 'object' }, execute: () => new Promise(() => {}) } }),
  })
  const task = taskOf('a', addTwice)
  const [episode] = await runEpisodes(specsOf([task]), expert([task]), deaf, {
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

test('faults of opening, judging and acting mask one episode, the others continue', async () => {
  const good = taskOf('good', addTwice)
  const bad = taskOf('bad', addTwice)
  const environment = counterEnvironment()
  const opened = {
    ...environment,
    open: (task: Task, options: { signal?: AbortSignal }) =>
      task === bad ? Promise.reject(new InfrastructureError('no room')) : environment.open(task, options),
  }
  const [a, b] = await runEpisodes(specsOf([good, bad]), expert([good, bad]), opened, limits)
  expect([a.status, b.status, b.error]).toEqual(['ok', 'masked', 'no room'])

  const unknown = counterEnvironment({
    judge: () => ({ value: null, reason: 'the disk is gone' }),
  })
  const [judged] = await runEpisodes(specsOf([good]), expert([good]), unknown, limits)
  expect(judged).toMatchObject({
    status: 'masked',
    ending: 'answered',
    success: null,
    rewards: [],
    error: 'the disk is gone',
  })

  const broken = counterEnvironment({ judge: () => Promise.reject(new TypeError('x is undefined')) })
  const [thrown] = await runEpisodes(specsOf([good]), expert([good]), broken, limits)
  expect(thrown).toMatchObject({ status: 'masked', success: null, error: 'x is undefined' })
  expect(broken.open_.size).toBe(0)

  const actor = scripted(({ episode }) => (episode === 'e-bad' ? new Error('503') : { text: '3' }))
  const acted = await runEpisodes(specsOf([bad, good]), actor, counterEnvironment(), limits)
  expect(acted.map((episode) => [episode.status, episode.ending])).toEqual([
    ['masked', 'infrastructure'],
    ['ok', 'answered'],
  ])
  const gone = { ...actor, act: () => Promise.reject(new Error('no model')) }
  const masked = await runEpisodes(specsOf([bad, good]), gone, counterEnvironment(), limits)
  expect(masked.map((episode) => episode.error)).toEqual(['no model', 'no model'])
})

test('a mistake of the user ends the run, with all sessions closed', async () => {
  const environment = counterEnvironment()
  const actor = scripted(() => ({ text: '3' }))
  const wrong = { ...actor, act: () => Promise.reject(new AgogeError('wrong key', { code: 'bad-argument' })) }
  const tasks = [taskOf('a', addTwice), taskOf('b', addTwice)]
  await expect(runEpisodes(specsOf(tasks), wrong, environment, limits)).rejects.toThrow('wrong key')
  expect(environment.open_.size).toBe(0)
})

test('an aborted run returns finished episodes, and masks and closes the others', async () => {
  const stop = new AbortController()
  const environment = counterEnvironment({
    tools: () =>
      defineTools({
        pass: { inputSchema: { type: 'object' }, execute: () => 'passed' },
        hang: {
          inputSchema: { type: 'object' },
          execute: () => {
            stop.abort(new Error('Ctrl-C'))
            return new Promise(() => {})
          },
        },
      }),
  })
  const tasks = [
    taskOf('quick', () => ({ answer: '3' })),
    // One turn later, when the other one is finished.
    taskOf('long', (results) => ({
      call: { name: results.length === 0 ? 'pass' : 'hang', arguments: {} },
    })),
  ]
  const [quick, long] = await runEpisodes(
    specsOf(tasks),
    expert(tasks),
    environment,
    { ...limits, toolDeadlineSeconds: 20 },
    { signal: stop.signal },
  )
  expect([quick.status, quick.success]).toEqual(['ok', true])
  expect([long.status, long.ending, long.success, long.rewards]).toEqual(['masked', 'aborted', null, []])
  expect(environment.open_.size).toBe(0)
  const before = await runEpisodes(specsOf(tasks), expert(tasks), environment, limits, {
    signal: stop.signal,
  })
  expect(before.map((episode) => episode.ending)).toEqual(['aborted', 'aborted'])
})

test('an episode past its deadline is masked: the clock of this machine is not the agent', async () => {
  const task = taskOf('a', (results) =>
    results.length < 3 ? { call: { name: 'wait', arguments: { ms: 30 } } } : { answer: '3' },
  )
  const [episode] = await runEpisodes(specsOf([task]), expert([task]), counterEnvironment(), {
    ...limits,
    deadlineSeconds: 0.02,
  })
  expect(episode).toMatchObject({ status: 'masked', ending: 'deadline', success: null, rewards: [] })
})
