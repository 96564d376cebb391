import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { byCount, coins, every, fittedBeta, flips, judged, sequences, shortMemory } from './coins.ts'

/** Bayes with both kinds of coins: how probable each is after the flips, times what it predicts. */
function bayes(heads: number, seen: number): number {
  const kinds = [
    [8, 2],
    [2, 8],
  ].map(([a, b]) => {
    let weight = 1
    for (let k = 0; k < heads; k++) weight *= (a + k) / (a + b + k)
    for (let k = 0; k < seen - heads; k++) weight *= (b + k) / (a + b + heads + k)
    return { weight, next: (a + heads) / (a + b + seen) }
  })
  return (
    kinds.reduce((sum, { weight, next }) => sum + weight * next, 0) /
    kinds.reduce((sum, { weight }) => sum + weight, 0)
  )
}

test('Bayes with the distribution of the coins scores 0, and does not look at the order', () => {
  const { score, measures } = judged(byCount(bayes))
  expect(Math.abs(score)).toBeLessThan(1e-6)
  expect(measures.order).toBeLessThan(1e-6)
  const last = every.map((_, k) => (k % flips === 0 ? 0.5 : 0.2 + 0.6 * every[k - 1]))
  expect(judged(last).measures.order).toBeGreaterThan(0.5)
})

test('the score is the mean divergence of predictions in coins that are drawn', () => {
  const random = createRandom('draws', 1)
  const rule = (heads: number, seen: number): number => (0.2 + heads) / (0.4 + seen)
  // How much more probable the exact predictions make each row of flips, per flip.
  const gains = each(150).flatMap(() => {
    const data = coins(random)
    return each(sequences).map((row) => {
      const own = data.subarray(row * flips, (row + 1) * flips)
      return average(
        Array.from(own, (flip, k) => {
          const heads = own.subarray(0, k).reduce((a, b) => a + b, 0)
          const [p, q] = [bayes(heads, k), rule(heads, k)]
          return flip === 1 ? Math.log(p / q) : Math.log((1 - p) / (1 - q))
        }),
      )
    })
  })
  const deviation = Math.sqrt(average(gains.map((v) => (v - average(gains)) ** 2)))
  const { score } = judged(byCount(rule))
  expect(Math.abs(average(gains) - score)).toBeLessThan((4 * deviation) / Math.sqrt(gains.length))
  expect(score).toBeGreaterThan((20 * deviation) / Math.sqrt(gains.length))
})

test('rivals learn from the coins, and none is exact', () => {
  const even = judged(byCount(() => 0.5)).score
  // Without memory a flip is even.
  expect(shortMemory(1, 200, 0).score).toBeCloseTo(even, 2)
  const scores = [shortMemory(1, 200, 2).score, fittedBeta(1, 50).score]
  for (const score of scores) {
    expect(score).toBeGreaterThan(0.001)
    expect(score).toBeLessThan(0.6 * even)
  }
  expect(shortMemory(1, 20, 2)).toEqual(shortMemory(1, 20, 2))
  expect(shortMemory(2, 20, 2)).not.toEqual(shortMemory(1, 20, 2))
})
