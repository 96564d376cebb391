import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { extra, fly, gains, none, usual } from './quadcopter.ts'
import type { Effects } from './quadcopter.ts'

/** Air without gusts. */
const calm = { ...createRandom('calm', 1), normal: () => 0 }
const error = (weights: readonly number[], effects: Effects): number =>
  average(each(8).map((k) => fly(weights, effects, (2 * Math.PI * k) / 8, calm)))
/** Usual gains, with some of what a learned policy adds. */
const adding = (added: Record<number, number>): number[] => [
  ...gains,
  ...each(2 * extra).map((k) => added[k] ?? 0),
]

test('usual gains fly the rigid body within some centimetres; drag, ground and downwash throw it off', () => {
  const plain = error(gains, none)
  expect(plain).toBeLessThan(0.03)
  for (const name of ['drag', 'ground', 'downwash'] as const)
    expect(error(gains, { ...none, [name]: usual[name] })).toBeGreaterThan(1.1 * plain)
})

test('a learned term of 0 changes nothing, and the right one cancels the drag', () => {
  const drag = { ...none, drag: usual.drag }
  expect(error(adding({}), usual)).toBe(error(gains, usual))
  const cancelled = error(adding({ 0: drag.drag, [extra + 1]: drag.drag }), drag)
  expect(Math.abs(cancelled - error(gains, none))).toBeLessThan(
    0.3 * (error(gains, drag) - error(gains, none)),
  )
})

test('without thrust it falls to the ground in 0.38 s, and counts 1 m from there on', () => {
  const fallen = fly(adding({ [2 * extra - 1]: -1000 }), none, 0, calm)
  // 0.4 m at 0.47 m/s upwards, with rotors that stop in 0.05 s: 181 of 200 steps are left.
  expect(fallen).toBeGreaterThan(181 / 200)
  expect(fallen).toBeLessThan(185 / 200)
})

test('gusts follow the stream of random numbers', () => {
  const flown = (seed: number): number => fly(gains, usual, 1, createRandom('gusts', seed))
  expect(flown(1)).toBe(flown(1))
  expect(flown(1)).not.toBe(flown(2))
})
