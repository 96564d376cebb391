import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { climbing, prisonersDilemma, ticTacToe, twoStepGame } from '../../environments/games/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { discrete } from '../space.ts'
import { createMultiAgentVector } from './vector.ts'
import { createParallelEnvironment, defineMultiAgentEnvironment, parallelOf, turnsOf } from './index.ts'
import type { MultiAgentDefinition, ParallelEnvironment } from './index.ts'

const definitions: readonly MultiAgentDefinition[] = [climbing, prisonersDilemma, ticTacToe, twoStepGame]

/** Three who act at once; the one who chooses 1 is out from the next step on, and the last two end it. */
const lastTwo = defineMultiAgentEnvironment({
  name: 'last-two',
  agents: ['a', 'b', 'c'],
  observation: discrete(4),
  action: discrete(2),
  context: {},
  stateSize: 3,
  maxSteps: 10,
  reset: ({ state }, i) => state.fill(1, i * 3, i * 3 + 3),
  step({ state, actions, rewards, terminated }, i) {
    let left = 0
    for (let k = i * 3; k < i * 3 + 3; k++) {
      rewards[k] = state[k] === 1 ? 1 : 0
      if (state[k] === 1 && actions[k] === 1) state[k] = 0
      left += state[k]
    }
    terminated[i] = left < 2 ? 1 : 0
  },
  observe({ state, observations }, i) {
    const left = state[i * 3] + state[i * 3 + 1] + state[i * 3 + 2]
    observations.fill(left, i * 3, i * 3 + 3)
  },
  acting({ state, agentMask }, i) {
    for (let k = i * 3; k < i * 3 + 3; k++) agentMask[k] = state[k]
  },
})

/** Plays random legal moves in the parallel form and says all that was seen. */
function playParallel(game: ParallelEnvironment, seed: number): string {
  const random = createRandom('moves', seed)
  const log: unknown[] = []
  for (let episode = 0; episode < 2; episode++) {
    let { acting, ...first } = game.reset(episode === 0 ? { seed } : {})
    log.push(acting, first)
    while (acting.length > 0) {
      const actions = Object.fromEntries(
        acting.map((agent) => [agent, legal(game, agent, () => random.next())]),
      )
      const step = game.step(actions)
      log.push(actions, step)
      ;({ acting } = step)
    }
  }
  return JSON.stringify(log)
}

function legal(
  game: Pick<ParallelEnvironment, 'actionMask' | 'actionSpace'>,
  agent: string,
  next: () => number,
) {
  const n = game.actionSpace.type === 'discrete' ? game.actionSpace.n : NaN
  const mask = game.actionMask?.(agent)
  const choices = Array.from({ length: n }, (_, k) => k).filter((k) => (mask?.[k] ?? 1) === 1)
  return choices[Math.floor(next() * choices.length)]
}

test('to turns and back, an environment plays as before', () => {
  for (const definition of [...definitions, lastTwo]) {
    fc.assert(
      fc.property(fc.nat(1e6), (seed) => {
        const straight = playParallel(createParallelEnvironment(definition), seed)
        expect(playParallel(parallelOf(turnsOf(createParallelEnvironment(definition))), seed)).toBe(straight)
      }),
      { numRuns: 5, seed: 1 },
    )
  }
})

test('the vector plays as the single environment does', () => {
  for (const definition of [...definitions, lastTwo]) {
    const vector = createMultiAgentVector(definition, { numEnvs: 3, seed: 4, autoreset: 'disabled' })
    const single = createParallelEnvironment(definition, { seed: 4 })
    const random = createRandom('moves')
    vector.reset()
    let { acting, observations } = single.reset()
    const agents = definition.agents.length
    const size = vector.observations.length / 3 / agents
    while (acting.length > 0) {
      const n = definition.action.type === 'discrete' ? definition.action.n : NaN
      for (let k = 0; k < 3 * agents; k++) {
        // Slots 1 and 2 may differ in their games; legal moves of slot 0 are what is compared.
        const mask = vector.actionMask.subarray(k * n, (k + 1) * n)
        const choices = Array.from({ length: n }, (_, a) => a).filter((a) => (mask[a] ?? 1) === 1)
        vector.actions[k] = choices[random.int(Math.max(1, choices.length))] ?? 0
      }
      const actions = Object.fromEntries(
        acting.map((agent) => [agent, vector.actions[definition.agents.indexOf(agent)]]),
      )
      const running = vector.terminated.some((value, i) => value === 1 || vector.truncated[i] === 1)
      if (running) break
      vector.step()
      const step = single.step(actions)
      ;({ acting, observations } = step)
      definition.agents.forEach((agent, k) => {
        expect(vector.rewards[k]).toBe(step.rewards[agent])
        const seen = observations[agent]
        const row = typeof seen === 'number' ? [seen] : Array.from(seen as ArrayLike<number>)
        expect(row).toEqual(Array.from(vector.observations.subarray(k * size, (k + 1) * size)))
      })
      expect(vector.terminated[0] === 1).toBe(step.terminated)
    }
  }
})

test('turns of those who act at once: nobody sees the others, the last one moves the environment', () => {
  const game = turnsOf(createParallelEnvironment(prisonersDilemma))
  expect(game.reset()).toMatchObject({ agent: 'first', acting: ['first', 'second'] })
  expect(game.step(1)).toEqual({
    agent: 'second',
    acting: ['second'],
    rewards: { first: 0, second: 0 },
    terminated: false,
    truncated: false,
  })
  expect(game.observe('second')).toBe(0)
  expect(game.step(0)).toMatchObject({ agent: 'first', rewards: { first: 5, second: 0 } })
  expect([game.observe('first'), game.observe('second')]).toEqual([3, 2])
})

test('those who are out do not act, and are still paid', () => {
  const game = createParallelEnvironment(lastTwo)
  expect(game.reset().acting).toEqual(['a', 'b', 'c'])
  expect(game.step({ a: 0, b: 1, c: 0 })).toMatchObject({ acting: ['a', 'c'], rewards: { a: 1, b: 1, c: 1 } })
  expect(() => game.step({ a: 0, b: 0, c: 0 })).toThrow(expect.objectContaining({ code: 'not-acting' }))
  expect(() => game.step({ a: 0 })).toThrow(expect.objectContaining({ code: 'missing-action' }))
  expect(game.step({ a: 1, c: 0 })).toMatchObject({
    acting: [],
    rewards: { a: 1, b: 0, c: 1 },
    terminated: true,
  })
  expect(() => game.step({})).toThrow(expect.objectContaining({ code: 'reset-needed' }))
})

test('invalid moves are typed errors in both forms, and the game goes on', () => {
  const game = createParallelEnvironment(ticTacToe)
  game.reset()
  game.step({ cross: 4 })
  expect(() => game.step({ nought: 4 })).toThrow(expect.objectContaining({ code: 'invalid-action' }))
  expect(() => game.step({ nought: 9 })).toThrow(expect.objectContaining({ code: 'not-in-space' }))
  expect(() => game.step({ cross: 0 })).toThrow(expect.objectContaining({ code: 'missing-action' }))
  expect(game.step({ nought: 0 }).acting).toEqual(['cross'])

  const turns = turnsOf(createParallelEnvironment(ticTacToe))
  expect(() => turns.step(0)).toThrow(expect.objectContaining({ code: 'reset-needed' }))
  turns.reset()
  turns.step(4)
  expect(() => turns.step(4)).toThrow(expect.objectContaining({ code: 'invalid-action' }))
  expect(() => turns.step(0.5)).toThrow(expect.objectContaining({ code: 'not-in-space' }))
  expect(turns.step(0).agent).toBe('cross')
})

test.each(['same-step', 'next-step'] as const)('autoreset %s', (autoreset) => {
  const vector = createMultiAgentVector(lastTwo, { numEnvs: 2, autoreset })
  vector.reset()
  vector.actions.set([1, 1, 0, 0, 0, 0])
  vector.step()
  expect([...vector.terminated]).toEqual([1, 0])
  expect([...vector.finalObservations.subarray(0, 3)]).toEqual([1, 1, 1])
  expect([...vector.observations]).toEqual(
    autoreset === 'same-step' ? [3, 3, 3, 3, 3, 3] : [1, 1, 1, 3, 3, 3],
  )
  expect([...vector.returns]).toEqual([1, 1, 1, 1, 1, 1])
  vector.step()
  expect(vector.lengths[0]).toBe(autoreset === 'same-step' ? 1 : 0)
  expect([...vector.rewards.subarray(0, 3)]).toEqual(autoreset === 'same-step' ? [1, 1, 1] : [0, 0, 0])
  expect([...vector.observations.subarray(0, 3)]).toEqual([3, 3, 3])
})

test('a stored vector goes on exactly where it was', () => {
  const make = () => createMultiAgentVector(ticTacToe, { numEnvs: 4, contextFor: () => ({ opening: 3 }) })
  const play = (vector: ReturnType<typeof make>, steps: number): number[] => {
    const seen: number[] = []
    for (let t = 0; t < steps; t++) {
      for (let k = 0; k < 8; k++) {
        const mask = vector.actionMask.subarray(k * 9, k * 9 + 9)
        vector.actions[k] = Math.max(0, mask.indexOf(1))
      }
      vector.step()
      seen.push(...vector.observations, ...vector.rewards)
    }
    return seen
  }
  const vector = make()
  vector.reset()
  play(vector, 5)
  const stored = structuredClone(vector.state())
  const expected = play(vector, 20)
  const other = make()
  other.restore(stored)
  expect(play(other, 20)).toEqual(expected)
})

test('disabled autoreset wants a reset, an unknown number of slots a positive one', () => {
  const vector = createMultiAgentVector(lastTwo, { numEnvs: 1, autoreset: 'disabled' })
  expect(() => vector.step()).toThrow(expect.objectContaining({ code: 'reset-needed' }))
  vector.reset()
  vector.actions.fill(1)
  vector.step()
  expect(() => vector.step()).toThrow(expect.objectContaining({ code: 'reset-needed' }))
  expect(() => createMultiAgentVector(lastTwo, { numEnvs: 0 })).toThrow(
    expect.objectContaining({ code: 'bad-argument' }),
  )
})
