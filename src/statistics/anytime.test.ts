import { expect, test } from 'vitest'
import { createRandom } from '../engine/random/random.ts'
import { anytimeInterval } from './anytime.ts'
import { average } from './statistics.ts'

/** Gains of tasks: 1, 0 or -1 with these chances of the first and the last. */
const gainsOf = (seed: string, n: number, better: number, worse: number): number[] => {
  const random = createRandom('anytime', seed)
  return Array.from({ length: n }, () => {
    const u = random.next()
    return u < better ? 1 : u < better + worse ? -1 : 0
  })
}

/** Whether a sequence ever leaves out the true mean within the values. */
function everWrong(values: readonly number[], truth: number): boolean {
  const sequence = anytimeInterval({ values: values.length })
  return values.some((value) => {
    const { low, high } = sequence.add(value)
    return low > truth || high < truth
  })
}

test.each([
  { better: 0.2, worse: 0.2 },
  { better: 0.02, worse: 0.02 },
  { better: 0.3, worse: 0.1 },
  { better: 0.9, worse: 0 },
])('looked at after each of 300 values, it is wrong in at most 5%: %o', ({ better, worse }) => {
  const rounds = 1000
  const wrong = average(
    Array.from({ length: rounds }, (_, round) =>
      Number(everWrong(gainsOf(`${round}`, 300, better, worse), better - worse)),
    ),
  )
  // Three standard errors above the stated rate.
  expect(wrong).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / rounds))
})

test('it finds a large difference after few values, and a small one later', () => {
  const needed = (better: number, worse: number): number => {
    const found = Array.from({ length: 200 }, (_, round) => {
      const sequence = anytimeInterval()
      const at = gainsOf(`found ${round}`, 2000, better, worse).findIndex(
        (gain) => sequence.add(gain).low > 0,
      )
      return at < 0 ? 2000 : at + 1
    })
    return found.sort((a, b) => a - b)[100]
  }
  const [large, small] = [needed(0.6, 0.05), needed(0.3, 0.15)]
  expect(large).toBeLessThan(40)
  expect(small).toBeGreaterThan(large)
  expect(small).toBeLessThan(400)
})

test('it is not much wider than need be: of 500 paths of 300 values, some leave the interval', () => {
  const wrong = Array.from({ length: 500 }, (_, round) =>
    Number(everWrong(gainsOf(`wide ${round}`, 300, 0.2, 0.2), 0)),
  )
  expect(average(wrong)).toBeGreaterThan(0.015)
})

test('its bound is the mean that the bets refute: with one stake and one value of 1, the capital is 1 - stake + stake / mean', () => {
  // For so few values there is one stake, of 0.9, and a quarter for the error of each side: refuted where the capital is 4.
  const { low, high } = anytimeInterval({ range: [0, 1], level: 0.5, values: 4 }).add(1)
  expect(0.1 + 0.9 / low).toBeCloseTo(4, 2)
  expect(high).toBe(1)
})

test('it holds for more values than it is made for', () => {
  const wrong = Array.from({ length: 500 }, (_, round) => {
    const sequence = anytimeInterval({ values: 30 })
    return Number(
      gainsOf(`more ${round}`, 300, 0.2, 0.2).some((gain) => {
        const { low, high } = sequence.add(gain)
        return low > 0 || high < 0
      }),
    )
  })
  expect(average(wrong)).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 500))
})

test('it only gets narrower, stays in the range, and refuses other values', () => {
  const sequence = anytimeInterval({ range: [0, 10] })
  let before = sequence.add(5)
  for (const value of [0, 10, 7, 7, 7, 1]) {
    const now = sequence.add(value)
    expect(now.low).toBeGreaterThanOrEqual(before.low)
    expect(now.high).toBeLessThanOrEqual(before.high)
    before = now
  }
  expect([before.low >= 0, before.high <= 10, before.n]).toEqual([true, true, 7])
  const refused = expect.objectContaining({ code: 'bad-argument' })
  expect(() => sequence.add(11)).toThrow(refused)
  for (const values of [-1, NaN, Infinity]) expect(() => anytimeInterval({ values })).toThrow(refused)
})
