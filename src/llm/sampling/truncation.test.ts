import { array, assert, constantFrom, double, integer, option, property, record } from 'fast-check'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { uniformAt } from '../../engine/random/index.ts'
import { drawKept, isKept, likeliestTokens, truncate } from './draw.ts'
import type { GenerationSettings } from '../model-backend.ts'

type Settings = Pick<GenerationSettings, 'topK' | 'topP' | 'minP'>

const keptIds = (weights: Float32Array, settings: Settings, start = 0, size = weights.length): number[] => {
  const kept = truncate(weights, start, size, settings)
  return Array.from({ length: size }, (_, id) => id).filter((id) => isKept(kept, weights[start + id], id))
}

/** The definition: sort, take k, take the shortest prefix with p of the rest, take what reaches min-p. */
function byDefinition(weights: Float32Array, { topK = Infinity, topP = 1, minP = 0 }: Settings): number[] {
  const sum = (ids: number[]): number => ids.reduce((total, id) => total + weights[id], 0)
  let ids = Array.from(weights, (_, id) => id).filter((id) => weights[id] > 0)
  ids.sort((a, b) => weights[b] - weights[a] || a - b)
  ids = ids.slice(0, topK)
  if (topP < 1) {
    const whole = sum(ids)
    let count = 0
    while (count < ids.length && sum(ids.slice(0, count)) < topP * whole) count++
    ids = ids.slice(0, count)
  }
  const most = weights[ids[0]]
  return ids.filter((id) => weights[id] >= Math.fround(minP) * most * (1 - 1e-6)).sort((a, b) => a - b)
}

test('the remaining tokens are those that sorting keeps', () => {
  // Eighths have many ties, and sums without rounding.
  const weight = constantFrom(0, 0.125, 0.25, 0.5, 1, 2, 3, 40, 2 ** -20)
  const settings = record(
    {
      topK: integer({ min: 1, max: 12 }),
      topP: constantFrom(0.125, 0.25, 0.5, 0.75, 0.875),
      minP: constantFrom(0, 0.25, 0.5, 1),
    },
    { requiredKeys: [] },
  )
  assert(
    property(array(weight, { minLength: 1, maxLength: 12 }), settings, (list, chosen) => {
      const weights = Float32Array.from(list)
      if (weights.every((value) => value === 0)) return
      expect(keptIds(weights, chosen)).toEqual(byDefinition(weights, chosen))
      const beside = Float32Array.from([7, ...list, 9])
      expect(keptIds(beside, chosen, 1, list.length)).toEqual(byDefinition(weights, chosen))
    }),
    { seed: 2, numRuns: 800 },
  )
})

test('random distributions keep the right tokens', () => {
  const settings = record({
    topK: option(integer({ min: 1, max: 300 })),
    topP: double({ min: 0.01, max: 1, noNaN: true }),
    minP: double({ min: 0, max: 0.5, noNaN: true }),
  })
  assert(
    property(integer({ min: 1, max: 300 }), integer(), settings, (size, seed, { topK, topP, minP }) => {
      const weights = Float32Array.from({ length: size }, (_, i) =>
        Math.exp(8 * uniformAt(seed, 'weight', i)),
      )
      const chosen = { topP, minP, ...(topK === null ? {} : { topK }) }
      const kept = truncate(weights, 0, size, chosen)
      const ids = keptIds(weights, chosen)
      const left = new Set(ids)
      expect(ids.length).toBeGreaterThan(0)
      // No removed token weighs more than a remaining one.
      const least = Math.min(...ids.map((id) => weights[id]))
      for (let id = 0; id < size; id++) if (!left.has(id)) expect(weights[id]).toBeLessThanOrEqual(least)
      expect(kept.mass).toBeCloseTo(
        ids.reduce((sum, id) => sum + weights[id], 0),
        2,
      )
      if (topK !== null) expect(ids.length).toBeLessThanOrEqual(topK)
      expect(left.has(drawKept(weights, 0, size, kept, uniformAt(seed, 'draw', 0)))).toBe(true)
    }),
    { seed: 4, numRuns: 200 },
  )
})

test('the remaining tokens are those that the warpers of transformers keep', () => {
  const golden = JSON.parse(readFileSync(new URL('../golden/warpers.json', import.meta.url), 'utf8')) as {
    logits: number[]
    temperature: number
    settings: Settings
    kept: number[]
    probabilities: number[]
  }[]
  for (const { logits, temperature, settings, kept, probabilities } of golden) {
    const most = Math.max(...logits)
    const weights = Float32Array.from(logits, (logit) => Math.exp((logit - most) / temperature))
    expect(keptIds(weights, settings), JSON.stringify(settings)).toEqual(kept)
    const { mass } = truncate(weights, 0, weights.length, settings)
    kept.forEach((id, i) => expect(weights[id] / mass).toBeCloseTo(probabilities[i], 5))
  }
})

test('tokens are drawn in proportion to the remaining weights (chi-square)', () => {
  const weights = Float32Array.of(8, 1, 4, 0, 4, 2, 16, 0.5)
  // Top-k leaves 6, 0, 2, 4, 5; 0.9 of their 34 needs all but 5.
  const kept = truncate(weights, 0, 8, { topK: 5, topP: 0.9 })
  const counts = new Map<number, number>()
  const draws = 20_000
  for (let i = 0; i < draws; i++) {
    const id = drawKept(weights, 0, 8, kept, uniformAt(3, 'row', i))
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  expect(new Set(counts.keys())).toEqual(new Set([0, 2, 4, 6]))
  const statistic = [...counts].reduce((sum, [id, count]) => {
    const expected = (draws * weights[id]) / 32
    return sum + (count - expected) ** 2 / expected
  }, 0)
  // Three degrees of freedom: more than this has a probability of 0.001.
  expect(statistic).toBeLessThan(16.27)
})

test('the top tokens are those that sorting gives', () => {
  assert(
    property(
      array(integer({ min: 0, max: 9 }), { minLength: 1 }),
      integer({ min: 0, max: 8 }),
      (list, count) => {
        const weights = Float32Array.from([5, ...list])
        const expected = list.map((_, id) => id).sort((a, b) => list[b] - list[a] || a - b)
        expect(likeliestTokens(weights, 1, list.length, count)).toEqual(expected.slice(0, count))
      },
    ),
    { seed: 6 },
  )
})
