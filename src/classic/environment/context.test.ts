import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import {
  contextColumns,
  contextRow,
  contextRows,
  readContext,
  writeContext,
  contextSampler,
  fixedContexts,
} from './context.ts'
import type { ContextFor, ContextSpace } from './context.ts'
import { defineEnvironment } from './definition.ts'
import { box, discrete, multiDiscrete } from './space.ts'
import type { ArraySpace } from './space.ts'
import { createVectorEnvironment } from './vector.ts'
import { visibleContext } from './visible-context.ts'

const space = {
  length: { default: 1, low: 0.5, high: 2, about: 'm' },
  mass: { default: 10, low: 5, high: 20, about: 'kg' },
}

/** Shows what its functions read by name. */
const mirror = defineEnvironment({
  name: 'mirror',
  observation: box([2], -Infinity, Infinity),
  action: discrete(1),
  context: space,
  stateSize: 2,
  maxSteps: 2,
  reset({ state, context }, i) {
    state[i * 2] = context.length[i]
    state[i * 2 + 1] = context.mass[i]
  },
  step({ context, rewards, terminated }, i) {
    rewards[i] = context.mass[i] - context.length[i]
    terminated[i] = 0
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 2]
    observations[i * 2 + 1] = state[i * 2 + 1]
  },
})

const start = (numEnvs: number) => {
  const vector = createVectorEnvironment(mirror, {
    numEnvs,
    contextFor: (envIndex, episode) => ({ length: 2 ** envIndex, mass: 100 * (envIndex + 1) + episode }),
  })
  vector.reset()
  return vector
}

test('features are read by name and environment index, in any order of declaration', () => {
  expect([...start(3).observations]).toEqual([1, 100, 2, 200, 4, 300])
  const { length, mass } = space
  const turned = createVectorEnvironment(
    { ...mirror, context: { mass, colour: { default: 7, low: 0, high: 9, about: '' }, length } },
    { numEnvs: 2 },
  )
  turned.reset()
  expect([...turned.observations]).toEqual([1, 10, 1, 10])
})

test('reading a feature by its index throws an error that shows how to read it by name', () => {
  const old = createVectorEnvironment(
    {
      ...mirror,
      step({ context, rewards }, i) {
        rewards[i] = (context as unknown as number[])[i * 2 + 1]
      },
    },
    { numEnvs: 2 },
  )
  old.reset()
  expect(() => old.step()).toThrow(
    expect.objectContaining({
      code: 'unknown-feature',
      expected: expect.stringContaining('context.gravity[i]'),
    }),
  )
})

test('a saved state has contexts as rows, also those of older versions, and restores them', () => {
  const vector = start(2)
  const saved = vector.state()
  expect([...new Float64Array(saved.arrays.context)]).toEqual([1, 100, 2, 200])
  const other = createVectorEnvironment(mirror, { numEnvs: 2 })
  other.restore(saved)
  expect([...other.envs.context.mass]).toEqual([100, 200])
  other.step()
  expect([...other.rewards]).toEqual([99, 198])
})

test('rows and columns contain the same numbers', () => {
  const columns = contextColumns(space, 3)
  writeContext(columns, 1, contextRow(space, { mass: 6 }))
  expect([...columns.mass]).toEqual([0, 6, 0])
  expect([...readContext(columns, 1)]).toEqual([1, 6])
  expect([...contextRows(columns, 3)]).toEqual([0, 0, 1, 6, 0, 0])
})

/** An environment that shows the number of the step, or a fixed member. */
const counter = (observation: ArraySpace) =>
  defineEnvironment({
    name: 'counter',
    observation,
    action: discrete(2),
    context: {
      start: { default: 0, low: 0, high: 4, integer: true, about: 'first number' },
      weight: { default: 3, low: 1, high: 5, extrapolate: [0, 9], about: 'nothing' },
    },
    stateSize: 1,
    reset: ({ state, context }, i) => (state[i] = context.start[i]),
    step: ({ state, rewards, context }, i) => {
      state[i]++
      rewards[i] = context.weight[i]
    },
    observe({ state, observations }, i) {
      if (observation.type === 'discrete') observations[i] = state[i]
      else observations.set([state[i], 1], i * 2)
    },
  })

test('visible features are appended to the observation, scaled to [-1, 1] over the range of training', () => {
  const definition = visibleContext(counter(box([2], 0, 10)))
  const vector = createVectorEnvironment(definition, {
    numEnvs: 2,
    contextFor: (envIndex) => (envIndex === 0 ? { start: 1, weight: 5 } : { weight: 9 }),
  })
  vector.reset()
  expect([...vector.observations]).toEqual([1, 1, -0.5, 1, 0, 1, -1, 3])
  vector.step()
  expect([...vector.observations]).toEqual([2, 1, -0.5, 1, 1, 1, -1, 3])
  expect([...vector.rewards]).toEqual([5, 9])
  expect(definition.observation).toMatchObject({ type: 'box', shape: [4] })
})

test('choices become one-hot, and only the listed features are visible', () => {
  const show = (observation: ArraySpace): number[] => {
    const vector = createVectorEnvironment(visibleContext(counter(observation), ['weight']), {
      numEnvs: 2,
      contextFor: (envIndex) => ({ start: envIndex }),
    })
    vector.reset()
    return [...vector.observations]
  }
  expect(show(discrete(4))).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
  expect(show(multiDiscrete([3, 2]))).toEqual([1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0])
  // It would be a place in what stands beside it.
  expect(() => show(discrete(1))).toThrow(
    expect.objectContaining({
      code: 'not-in-space',
      message: 'counter showed choice 1 of 1, counted from 0',
    }),
  )
})

test('an unknown feature is refused', () => {
  expect(() => visibleContext(counter(discrete(4)), ['mass' as 'weight'])).toThrow(
    expect.objectContaining({ code: 'unknown-feature' }),
  )
})

const sampled = {
  gravity: { default: 9.8, low: 5, high: 15, extrapolate: [1, 25], about: 'm/s^2' },
  size: { default: 4, low: 3, high: 8, extrapolate: [3, 12], integer: true, about: 'cells' },
  kind: { default: 0, low: 0, high: 1, integer: true, about: 'two kinds' },
  fixed: { default: 1, low: 1, high: 1, about: 'no range' },
} as const satisfies ContextSpace

const drawn = (contextFor: ContextFor, count = 400) =>
  Array.from({ length: count }, (_, k) => contextFor(k % 20, Math.floor(k / 20)))

test('training and interpolation contexts lie in the range and are disjoint, for any range', () => {
  const bounds = fc.tuple(
    fc.double({ min: -100, max: 100, noNaN: true }),
    fc.double({ min: 1e-3, max: 100, noNaN: true }),
  )
  fc.assert(
    fc.property(bounds, fc.integer(), fc.integer(), ([low, range], seed, other) => {
      const high = low + range
      const space = { x: { default: low, low, high, about: '' } }
      const values = (set: 'train' | 'interpolation', seed: number) =>
        drawn(contextSampler(space, { set, seed }), 200).map(({ x = NaN }) => x)
      const stratum = (x: number): number => (9 * (x - low)) / range
      const slack = 1e-9 * (1 + Math.abs(low) / range)
      for (const x of values('train', seed)) {
        expect(x >= low && x <= high).toBe(true)
        // Up to rounding in the even ninths.
        expect(stratum(x) % 2).toBeLessThan(1 + slack)
      }
      for (const x of values('interpolation', other)) {
        expect(x >= low && x <= high).toBe(true)
        expect(stratum(x) % 2).toBeGreaterThan(1 + 0.019)
        expect(stratum(x) % 2).toBeLessThan(2 - 0.019)
      }
    }),
    { numRuns: 40, seed: 1 },
  )
})

test('every second integer between the ends is held out; each integer belongs to a set', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 2, max: 12 }), (low, range) => {
      const space = { n: { default: low, low, high: low + range, integer: true, about: '' } } as const
      const values = (set: 'train' | 'interpolation') =>
        new Set(drawn(contextSampler(space, { set })).map(({ n = NaN }) => n))
      const [train, heldOut] = [values('train'), values('interpolation')]
      expect([...train].filter((n) => heldOut.has(n))).toEqual([])
      expect([...train, ...heldOut].sort((a, b) => a - b)).toEqual(
        Array.from({ length: range + 1 }, (_, k) => low + k),
      )
      expect(train.has(low) && train.has(low + range)).toBe(true)
    }),
    { numRuns: 40, seed: 1 },
  )
})

test('extrapolation contexts lie outside the range of training and inside the wider one, on both sides', () => {
  const contexts = drawn(contextSampler(sampled, { set: 'extrapolation' }))
  for (const { gravity = NaN, size = NaN, kind = NaN } of contexts) {
    expect((gravity >= 1 && gravity < 5) || (gravity > 15 && gravity <= 25)).toBe(true)
    expect([9, 10, 11, 12]).toContain(size)
    expect([0, 1]).toContain(kind)
  }
  const below = contexts.filter(({ gravity = NaN }) => gravity < 5).length / contexts.length
  expect(Math.abs(below - 4 / 14)).toBeLessThan(0.08)
})

test('only the listed features vary, and samples depend only on environment, episode and seed', () => {
  const sampler = contextSampler(sampled, { vary: ['gravity'] })
  expect(Object.keys(sampler(0, 0))).toEqual(['gravity'])
  const all = [sampler(0, 0), sampler(1, 0), sampler(0, 1), contextSampler(sampled, { seed: 1 })(0, 0)]
  expect(new Set(all.map(({ gravity }) => gravity)).size).toBe(4)
  expect(sampler(0, 0)).toEqual(all[0])
})

test('a set that does not differ from training is refused', () => {
  const bad = expect.objectContaining({ code: 'bad-argument' })
  expect(() => contextSampler(sampled, { vary: ['kind', 'fixed'], set: 'interpolation' })).toThrow(bad)
  expect(() => contextSampler(sampled, { vary: ['kind'], set: 'extrapolation' })).toThrow(bad)
  expect(() => contextSampler(sampled, { vary: ['mass'] })).toThrow(
    expect.objectContaining({ code: 'unknown-feature' }),
  )
  expect(() => fixedContexts([])).toThrow(bad)
})

test('every environment goes through a fixed list of contexts', () => {
  const list = [{ gravity: 5 }, { gravity: 6 }, { gravity: 7 }]
  const contextFor = fixedContexts(list)
  expect([0, 1, 2, 3].map((episode) => contextFor(1, episode).gravity)).toEqual([6, 7, 5, 6])
})
