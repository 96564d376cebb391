import { expect, test } from 'vitest'
import { box, defineEnvironment, discrete } from '../environment/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { createReplay, createSumTree } from './replay.ts'
import type { ReplayOptions, ReplaySource } from './replay.ts'

const definition = defineEnvironment({
  name: 'counting',
  observation: box([1], 0, 1000),
  action: discrete(2),
  context: {},
  stateSize: 1,
  reset: () => undefined,
  step: () => undefined,
  observe: () => undefined,
  mask: () => undefined,
})

const makeSource = (numEnvs: number): ReplaySource => ({
  definition,
  autoreset: 'same-step',
  actions: new Float32Array(numEnvs),
  observations: new Float32Array(numEnvs),
  finalObservations: new Float32Array(numEnvs),
  rewards: new Float64Array(numEnvs),
  terminated: new Uint8Array(numEnvs),
  truncated: new Uint8Array(numEnvs),
  actionMask: new Uint8Array(numEnvs * 2).fill(1),
  finalActionMask: new Uint8Array(numEnvs * 2),
})

type End = 'terminated' | 'truncated' | undefined

/** Observation k, reward 10^k; after an end the next observation is 100 and the final one k + 1. */
function play(source: ReplaySource, replay: ReturnType<typeof createReplay>, ends: readonly End[]): void {
  source.observations[0] = 0
  ends.forEach((end, k) => {
    source.actions[0] = k % 2
    replay.acted()
    source.rewards[0] = 10 ** k
    source.terminated[0] = end === 'terminated' ? 1 : 0
    source.truncated[0] = end === 'truncated' ? 1 : 0
    source.finalObservations[0] = k + 1
    source.observations[0] = end === undefined ? k + 1 : 100
    replay.stepped()
  })
}

/** All that is kept, in order. */
function contents(replay: ReturnType<typeof createReplay>): Record<string, number[]> {
  const batch = replay.createBatch(1)
  const found: Record<string, number[]> = { observations: [], returns: [], discounts: [], next: [], mask: [] }
  for (let index = 0; index < replay.size; index++) {
    replay.sample(batch, { ...createRandom(0), int: () => index })
    found['observations'].push(batch.observations[0])
    found['returns'].push(batch.returns[0])
    found['discounts'].push(batch.discounts[0])
    found['next'].push(batch.nextObservations[0])
    found['mask'].push(batch.nextMask[0])
  }
  return found
}

function played(options: Partial<ReplayOptions>, ends: readonly End[]) {
  const source = makeSource(1)
  const replay = createReplay(source, { capacity: 100, gamma: 0.5, ...options })
  play(source, replay, ends)
  return contents(replay)
}

test('one-step transitions have the last observation and mask at an end, and discount 0 after a termination', () => {
  expect(played({}, [undefined, 'truncated'])).toEqual({
    observations: [0, 1],
    returns: [1, 10],
    discounts: [0.5, 0.5],
    next: [1, 2],
    mask: [1, 0],
  })
  expect(played({}, [undefined, 'terminated'])['discounts']).toEqual([0.5, 0])
})

test('n-step returns sum rewards, and the last steps of an episode bootstrap from its end', () => {
  const returns = [1 + 5 + 25, 10 + 50 + 250, 100 + 500, 1000]
  const next = [3, 4, 4, 4]
  expect(played({ nSteps: 3 }, [undefined, undefined, undefined, 'truncated'])).toMatchObject({
    observations: [0, 1, 2, 3],
    returns,
    next,
    discounts: [0.125, 0.125, 0.25, 0.5],
  })
  expect(played({ nSteps: 3 }, [undefined, undefined, undefined, 'terminated'])).toMatchObject({
    returns,
    discounts: [0.125, 0, 0, 0],
  })
})

test('n-step returns of an episode shorter than n do not reach into the next one', () => {
  expect(played({ nSteps: 5 }, [undefined, 'terminated', undefined, 'truncated'])).toMatchObject({
    observations: [0, 1, 100, 3],
    returns: [6, 10, 100 + 500, 1000],
    discounts: [0, 0, 0.25, 0.5],
    next: [2, 2, 4, 4],
  })
})

test('a step that terminates and truncates counts as a termination', () => {
  const source = makeSource(1)
  const replay = createReplay(source, { capacity: 4, gamma: 0.5 })
  replay.acted()
  source.terminated[0] = 1
  source.truncated[0] = 1
  replay.stepped()
  expect(contents(replay)['discounts']).toEqual([0])
})

test('a full buffer overwrites the oldest transition', () => {
  expect(played({ capacity: 2 }, [undefined, undefined, undefined])['observations']).toEqual([2, 1])
})

test('a sum tree finds entries in proportion to their weights', () => {
  const tree = createSumTree(5)
  const weights = [1, 0, 3, 2, 4]
  weights.forEach((weight, i) => tree.set(i, weight))
  expect(tree.total()).toBe(10)
  const hits = weights.map(() => 0)
  for (let k = 0; k < 1000; k++) hits[tree.find((k + 0.5) / 100)]++
  expect(hits).toEqual([100, 0, 300, 200, 400])
  expect(tree.find(10)).toBe(4)
  tree.set(4, 0)
  expect(tree.find(6)).toBe(3)
})

test('new transitions are sampled first, then in proportion to error^alpha, with correcting weights', () => {
  const source = makeSource(1)
  const replay = createReplay(source, { capacity: 4, gamma: 1, alpha: 0.5 })
  play(source, replay, [undefined, undefined, undefined])
  const batch = replay.createBatch(3)
  const random = createRandom('priorities')
  replay.sample(batch, random)
  expect([...batch.indices]).toEqual([0, 1, 2])
  expect([...batch.weights]).toEqual([1, 1, 1])
  replay.prioritise(batch, [1, -4, 9])
  const many = replay.createBatch(6000)
  replay.sample(many, random, 1)
  const share = [0, 1, 2].map((index) => many.indices.filter((i) => i === index).length / 6000)
  ;[1 / 6, 2 / 6, 3 / 6].forEach((expected, i) => expect(share[i]).toBeCloseTo(expected, 3))
  for (const [row, index] of many.indices.entries()) expect(many.weights[row]).toBeCloseTo(1 / (index + 1), 4)
  replay.sample(many, random, 0.5)
  expect(many.weights[many.indices.indexOf(2)]).toBeCloseTo(Math.sqrt(1 / 3), 4)
})

test.each([undefined, 0.6])('a restored replay resumes exactly, alpha %s', (alpha) => {
  const options = { capacity: 5, gamma: 0.9, nSteps: 3, ...(alpha === undefined ? {} : { alpha }) }
  const [a, b] = [0, 1].map(() => {
    const source = makeSource(1)
    return { source, replay: createReplay(source, options) }
  })
  play(a.source, a.replay, [undefined, undefined, undefined, 'truncated', undefined, undefined])
  const batch = a.replay.createBatch(3)
  a.replay.sample(batch, createRandom(1))
  a.replay.prioritise(batch, [3, 1, 2])
  // Into one that held other things.
  play(
    b.source,
    b.replay,
    Array.from({ length: 9 }, () => undefined),
  )
  b.replay.restore(structuredClone(a.replay.state()))
  for (const { source, replay } of [a, b]) {
    play(source, replay, [undefined, 'terminated'])
    replay.sample(batch, createRandom(2))
  }
  const other = b.replay.createBatch(64)
  const mine = a.replay.createBatch(64)
  a.replay.sample(mine, createRandom(3), 0.4)
  b.replay.sample(other, createRandom(3), 0.4)
  expect(other).toEqual(mine)
})

test('other autoreset modes, sampling from an empty replay, and invalid rewards are refused', () => {
  const source = makeSource(1)
  expect(() => createReplay({ ...source, autoreset: 'next-step' }, { capacity: 1, gamma: 1 })).toThrow(
    expect.objectContaining({ code: 'bad-argument' }),
  )
  const replay = createReplay(source, { capacity: 1, gamma: 1 })
  expect(() => replay.sample(replay.createBatch(1), createRandom(1))).toThrow(
    expect.objectContaining({ code: 'empty-replay' }),
  )
  replay.acted()
  source.rewards[0] = NaN
  expect(() => replay.stepped()).toThrow(expect.objectContaining({ code: 'not-finite' }))
})
