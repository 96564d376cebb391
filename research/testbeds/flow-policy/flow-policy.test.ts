import { expect, test } from 'vitest'
import { createRandom, normalValues } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { denoise, deviation, dot, reach, size, tolerance } from './flow-policy.ts'

const state = [1, 0.5, -0.8]
const random = createRandom('noise', 1)

test('noise without spread flows to the mode, and other noise ends as far off as the demonstrations spread', () => {
  const mode = [0.4, -0.2, 0.9, 0.1]
  for (const [k, value] of denoise(
    [mode, mode],
    each(size).map(() => 0),
  ).entries())
    expect(value).toBeCloseTo(mode[k], 12)
  const moved = denoise(
    [mode, mode],
    each(size).map(() => 1),
  )
  // Ten steps along the exact velocity come near to the deviation.
  for (const [k, value] of moved.entries()) expect(Math.abs(value - mode[k] - deviation)).toBeLessThan(0.1)
})

test('noise flows to both modes as often, and stays near them', () => {
  const modes = reach(1).modes(state)
  const distance = (action: number[], mode: number[]): number =>
    Math.hypot(...action.map((v, k) => v - mode[k]))
  const found = each(600).map(() => {
    const action = denoise(modes, normalValues(random, size, 1))
    return modes.map((mode) => distance(action, mode))
  })
  const first = average(found.map(([a, b]) => Number(a < b)))
  expect(Math.abs(first - 0.5)).toBeLessThan((4 * 0.5) / Math.sqrt(600))
  // Four dimensions of the deviation.
  const square = average(found.map((gaps) => Math.min(...gaps) ** 2))
  expect(square / (size * deviation ** 2)).toBeGreaterThan(0.4)
  expect(square / (size * deviation ** 2)).toBeLessThan(1.6)
})

test('the first mode succeeds, a little off its middle; the second fails', () => {
  for (const seed of each(10)) {
    const { modes, succeeds } = reach(seed)
    const [first, second] = modes(state)
    expect([succeeds(state, first), succeeds(state, second)]).toEqual([1, 0])
    const away = first.map((value, k) => value + (k === 0 ? tolerance + 0.21 : 0))
    expect(succeeds(state, away)).toBe(0)
    // Both lie at a distance of 1 from a middle that moves with the state.
    const gap = first.map((value, k) => value - second[k])
    expect(Math.sqrt(dot(gap, gap))).toBeCloseTo(2, 5)
  }
  expect(reach(1).modes(state)).toEqual(reach(1).modes(state))
  expect(reach(2).modes(state)).not.toEqual(reach(1).modes(state))
})
