import { expect, test } from 'vitest'
import { climbing, prisonersDilemma } from '../environments/games/matrix-games.ts'
import { box, discrete } from './space.ts'
import { createVectorEnvironment } from './vector.ts'
import {
  independentAgents,
  wholeEpisodes,
  createMultiAgentVector,
  defineMultiAgentEnvironment,
} from './multi-agent.ts'
import { visibleContext } from './visible-context.ts'

const dilemma = independentAgents(prisonersDilemma)

test('each agent is a row: observations, rewards and returns of two episodes, counted by hand', () => {
  const vector = createVectorEnvironment(dilemma, { numEnvs: 4, maxSteps: 2 })
  vector.reset()
  // 5 observations: none yet, then 1 + 2 * own + other. The second agent's are 5 to 9.
  expect([...vector.observations]).toEqual([0, 5, 0, 5])
  vector.actions.set([0, 1, 1, 1])
  vector.step()
  expect([...vector.rewards]).toEqual([0, 5, 1, 1])
  expect([...vector.observations]).toEqual([2, 8, 4, 9])
  expect([...vector.truncated]).toEqual([0, 0, 0, 0])
  vector.actions.set([0, 0, 1, 0])
  vector.step()
  expect([...vector.rewards]).toEqual([3, 3, 5, 0])
  expect([...vector.returns]).toEqual([3, 8, 6, 1])
  expect([...vector.truncated]).toEqual([1, 1, 1, 1])
  expect([...vector.finalObservations]).toEqual([1, 6, 3, 7])
  expect([...vector.observations]).toEqual([0, 5, 0, 5])
})

/**
 * Agents a, b and c count down from 1, 2 and `last`. One that is done has choice 0 only and gets nothing more; the
 * episode ends with the last one.
 */
const countdown = defineMultiAgentEnvironment({
  name: 'countdown',
  agents: ['a', 'b', 'c'],
  observation: box([1], 0, 10),
  action: discrete(2),
  context: { last: { default: 3, low: 3, high: 5, about: 'count of c' } },
  stateSize: 4,
  reset({ state, context }, i, random) {
    state.set([1, 2, context.last[i], random.random()], i * 4)
  },
  step({ state, rewards, terminated }, i) {
    for (let agent = 0; agent < 3; agent++) {
      rewards[i * 3 + agent] = state[i * 4 + agent] > 0 ? 1 : 0
      state[i * 4 + agent] = Math.max(0, state[i * 4 + agent] - 1)
    }
    terminated[i] = state[i * 4 + 2] === 0 ? 1 : 0
  },
  observe({ state, observations }, i) {
    for (let agent = 0; agent < 3; agent++) observations[i * 3 + agent] = state[i * 4 + agent]
  },
  mask({ state, actionMask }, i) {
    for (let agent = 0; agent < 3; agent++) {
      actionMask[(i * 3 + agent) * 2] = 1
      actionMask[(i * 3 + agent) * 2 + 1] = state[i * 4 + agent] > 0 ? 1 : 0
    }
  },
})

test.each(['same-step', 'next-step'] as const)(
  'masks and ends of agents, and one initial state for all of an episode (%s)',
  (autoreset) => {
    const vector = createVectorEnvironment(independentAgents(countdown), { numEnvs: 6, seed: 3, autoreset })
    vector.reset()
    const chance = (row: number): number => vector.envs.state[row * 4 + 3]
    expect([chance(1), chance(2)]).toEqual([chance(0), chance(0)])
    expect(chance(3)).not.toBe(chance(0))
    const before = chance(0)
    expect([...vector.observations.subarray(4, 8)]).toEqual([2, 0, 1, 0])
    expect([...vector.actionMask.subarray(0, 6)]).toEqual([1, 1, 1, 1, 1, 1])
    vector.step()
    expect([...vector.actionMask.subarray(0, 6)]).toEqual([1, 0, 1, 1, 1, 1])
    vector.step()
    vector.step()
    expect([...vector.rewards]).toEqual([0, 0, 1, 0, 0, 1])
    expect([...vector.terminated]).toEqual([1, 1, 1, 1, 1, 1])
    expect([...vector.returns]).toEqual([1, 2, 3, 1, 2, 3])
    expect([...vector.finalActionMask.subarray(0, 6)]).toEqual([1, 0, 1, 0, 1, 0])
    expect([...vector.finalObservations.subarray(0, 4)]).toEqual([0, 1, 0, 0])
    if (autoreset === 'next-step') vector.step()
    expect([...vector.observations.subarray(0, 12)]).toEqual([1, 1, 0, 0, 2, 0, 1, 0, 3, 0, 0, 1])
    expect([chance(1), chance(2)]).toEqual([chance(0), chance(0)])
    expect(chance(0)).not.toBe(before)
  },
)

test('a vector of episodes has the same masks, also after an episode has begun anew', () => {
  const vector = createMultiAgentVector(countdown, { numEnvs: 2 })
  vector.reset()
  const masks = [0, 1, 2, 3].map(() => {
    const mask = [...vector.actionMask.subarray(6)]
    vector.step()
    return mask
  })
  expect(masks).toEqual([
    [1, 1, 1, 1, 1, 1],
    [1, 0, 1, 1, 1, 1],
    [1, 0, 1, 0, 1, 1],
    [1, 1, 1, 1, 1, 1],
  ])
})

test('all agents of an episode have the context of its first row, also in sight', () => {
  const vector = createVectorEnvironment(visibleContext(independentAgents(countdown)), {
    numEnvs: 6,
    contextFor: (row, episode) => ({ last: 3 + ((row + episode) % 3) }),
  })
  vector.reset()
  const seen = (): number[] => Array.from({ length: 6 }, (_, row) => vector.observations[row * 5 + 4])
  expect(seen()).toEqual([-1, -1, -1, -1, -1, -1])
  for (let t = 0; t < 3; t++) vector.step()
  expect(seen()).toEqual([0, 0, 0, 0, 0, 0])
  expect(vector.observations[2 * 5]).toBe(4)
})

test('a saved vector goes on exactly', () => {
  const options = { numEnvs: 6, seed: 1 }
  const [one, other] = [0, 1].map(() => createVectorEnvironment(independentAgents(countdown), options))
  one.reset()
  for (let t = 0; t < 4; t++) one.step()
  other.restore(structuredClone(one.state()))
  for (let t = 0; t < 4; t++) {
    one.step()
    other.step()
    expect(other.envs.state).toEqual(one.envs.state)
    expect(other.observations).toEqual(one.observations)
  }
})

test('rows that are not whole episodes are refused', () => {
  const vector = createVectorEnvironment(independentAgents(climbing), { numEnvs: 3 })
  expect(() => vector.reset()).toThrow(
    expect.objectContaining({ code: 'bad-argument', hint: 'use numEnvs 4' }),
  )
  expect([1, 2, 3].map((rows) => wholeEpisodes(dilemma, rows))).toEqual([2, 2, 4])
  expect(wholeEpisodes({}, 3)).toBe(3)
})
