import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { contextSampler, fixedContexts } from './context-sets.ts'
import type { ContextFor } from './context-sets.ts'
import type { ContextSpace } from './context.ts'

const space = {
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
  const contexts = drawn(contextSampler(space, { set: 'extrapolation' }))
  for (const { gravity = NaN, size = NaN, kind = NaN } of contexts) {
    expect((gravity >= 1 && gravity < 5) || (gravity > 15 && gravity <= 25)).toBe(true)
    expect([9, 10, 11, 12]).toContain(size)
    expect([0, 1]).toContain(kind)
  }
  const below = contexts.filter(({ gravity = NaN }) => gravity < 5).length / contexts.length
  expect(Math.abs(below - 4 / 14)).toBeLessThan(0.08)
})

test('only the listed features vary, and samples depend only on environment, episode and seed', () => {
  const sampler = contextSampler(space, { vary: ['gravity'] })
  expect(Object.keys(sampler(0, 0))).toEqual(['gravity'])
  const all = [sampler(0, 0), sampler(1, 0), sampler(0, 1), contextSampler(space, { seed: 1 })(0, 0)]
  expect(new Set(all.map(({ gravity }) => gravity)).size).toBe(4)
  expect(sampler(0, 0)).toEqual(all[0])
})

test('a set that does not differ from training is refused', () => {
  const bad = expect.objectContaining({ code: 'bad-argument' })
  expect(() => contextSampler(space, { vary: ['kind', 'fixed'], set: 'interpolation' })).toThrow(bad)
  expect(() => contextSampler(space, { vary: ['kind'], set: 'extrapolation' })).toThrow(bad)
  expect(() => contextSampler(space, { vary: ['mass'] })).toThrow(
    expect.objectContaining({ code: 'unknown-feature' }),
  )
  expect(() => fixedContexts([])).toThrow(bad)
})

test('every environment goes through a fixed list of contexts', () => {
  const list = [{ gravity: 5 }, { gravity: 6 }, { gravity: 7 }]
  const contextFor = fixedContexts(list)
  expect([0, 1, 2, 3].map((episode) => contextFor(1, episode).gravity)).toEqual([6, 7, 5, 6])
})
