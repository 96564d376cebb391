import { expect, test } from 'vitest'
import { withoutStalls } from './stalls.ts'

const section = { begun: 100, ended: 190, milliseconds: 85 }
const left = (...stalls: [ended: number, milliseconds: number, counted: number][]): number =>
  withoutStalls(
    [section],
    stalls.map(([ended, milliseconds, counted]) => ({ ended, milliseconds, counted })),
  )[0].milliseconds

test('a section loses what was counted of the pauses in it, and nothing else', () => {
  expect(left()).toBe(85)
  expect(left([170, 60, 58])).toBe(27)
  expect(left([120, 10, 10], [180, 20, 5])).toBe(70)
  // Before it, after it, and over its ends.
  expect(left([100, 60, 60], [300, 60, 60])).toBe(85)
  expect(left([110, 60, 60])).toBe(75)
  expect(left([220, 60, 60])).toBe(55)
  // The thread waited for something else while its processor stood still.
  expect(left([170, 60, 0])).toBe(85)
})
