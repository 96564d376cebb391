import { expect, test } from 'vitest'
import { constantSchedule, cosineDecay, linearDecay, warmUp, warmUpStableDecay } from './schedules.ts'

test('warm-up rises linearly and then stays at the peak', () => {
  const schedule = warmUp(4)
  expect([0, 1, 2, 3, 4, 100].map(schedule)).toEqual([0.25, 0.5, 0.75, 1, 1, 1])
  expect(warmUp(0)(0)).toBe(1)
  expect(constantSchedule(17)).toBe(1)
})

test('decays start at the peak, end at the final fraction and stay there', () => {
  expect([0, 1, 2, 6, 10, 50].map(linearDecay({ steps: 10, warmUpSteps: 2 }))).toEqual([0.5, 1, 1, 0.5, 0, 0])
  const cosine = cosineDecay({ steps: 12, warmUpSteps: 2, final: 0.1 })
  expect(cosine(2)).toBe(1)
  expect(cosine(7)).toBeCloseTo(0.55, 12)
  expect(cosine(12)).toBeCloseTo(0.1, 12)
  expect(cosine(13)).toBeCloseTo(0.1, 12)
  // The cosine is above the line before its middle and below it after.
  const line = linearDecay({ steps: 12, warmUpSteps: 2, final: 0.1 })
  expect(cosine(4)).toBeGreaterThan(line(4))
  expect(cosine(10)).toBeLessThan(line(10))
})

test('warmUpStableDecay has its three phases', () => {
  const schedule = warmUpStableDecay({ steps: 10, warmUpSteps: 2, decaySteps: 4 })
  expect([0, 1, 5, 6, 8, 10, 11].map(schedule)).toEqual([0.5, 1, 1, 1, 0.5, 0, 0])
})

test('schedules that do not fit their steps are refused', () => {
  expect(() => linearDecay({ steps: 2, warmUpSteps: 2 })).toThrow('does not fit')
  expect(() => warmUpStableDecay({ steps: 5, warmUpSteps: 2, decaySteps: 4 })).toThrow('does not fit')
})
