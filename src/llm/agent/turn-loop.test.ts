import { expect, test } from 'vitest'
import {
  add,
  addTwice,
  counterEnvironment,
  limits,
  expert,
  scripted,
  specsOf,
  taskOf,
} from './testing/counter-environment.ts'
import { runEpisodes } from './turn-loop.ts'

test('an episode that is solved: the whole record', async () => {
  const task = taskOf('a', addTwice)
  const environment = counterEnvironment()
  const [episode] = await runEpisodes(specsOf([task]), expert([task]), environment, limits)
  expect(episode).toMatchObject({
    schema: 1,
    id: 'e-a',
    group: 'g',
    environment: 'counter',
    task: 'a',
    kind: 'sum',
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
  expect(environment.open_.size).toBe(0)
})

test('a wrong answer is ok and unsuccessful', async () => {
  const task = taskOf('a', () => ({ answer: '4' }))
  const [episode] = await runEpisodes(specsOf([task]), expert([task]), counterEnvironment(), limits)
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
  const episodes = await runEpisodes(specsOf(tasks), actor, counterEnvironment(), limits, {
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

test('calls of one turn run in order, and invalid ones get an error', async () => {
  const environment = counterEnvironment()
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
  const [episode] = await runEpisodes(specsOf([taskOf('a', addTwice)]), actor, environment, limits)
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
  expect(environment.log).toEqual(['add 1', 'add 2'])
})

test('an output that cannot be understood is answered and counted', async () => {
  const actor = scripted(({ turn }) => (turn === 0 ? { invalid: 'the call is not JSON' } : { text: '3' }))
  const [episode] = await runEpisodes(specsOf([taskOf('a', addTwice)]), actor, counterEnvironment(), limits)
  expect(episode.nodes[3]).toMatchObject({ role: 'tool', text: 'error: the call is not JSON', isError: true })
  expect(episode).toMatchObject({ status: 'ok', success: true, usage: { calls: 1, invalidCalls: 1 } })
})

test('turn and token limits are the failure of the agent: judged, and trained', async () => {
  const loop = taskOf('loop', () => add(1))
  const [turns] = await runEpisodes(specsOf([loop]), expert([loop]), counterEnvironment(), limits)
  expect(turns).toMatchObject({ status: 'failed', ending: 'turn-limit', success: false, usage: { calls: 4 } })
  expect(turns.rewards).toHaveLength(1)

  const cut = scripted(() => ({
    finish: 'length',
    text: 'blah',
    calls: [{ id: '0.0', name: 'add', arguments: { n: 1 } }],
  }))
  const environment = counterEnvironment()
  const [length] = await runEpisodes(specsOf([loop]), cut, environment, limits)
  expect(length).toMatchObject({
    status: 'failed',
    ending: 'token-limit',
    success: false,
    usage: { calls: 0 },
  })
  expect(length.samples[0].trainable).toBe(true)
  expect(environment.log).toEqual([])

  const chatty = scripted(() => ({ calls: [{ id: '0.0', name: 'add', arguments: { n: 1 } }] }))
  const [window] = await runEpisodes(specsOf([loop]), chatty, counterEnvironment(), {
    ...limits,
    totalTokens: 28,
    tokensPerTurn: 8,
  })
  // 6 + 9 tokens of system and user, 3 of the output, 1 of the result: 19, and 27 would be too close after one more.
  expect(window).toMatchObject({ status: 'failed', ending: 'token-limit' })
  expect(window.samples).toHaveLength(2)
})
