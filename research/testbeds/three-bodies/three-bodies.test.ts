import { expect, test } from 'vitest'
import { checkEnvironment, createEnvironment } from 'agoge/classic'
import { choices, levels, threeBodies } from './three-bodies.ts'

/** A step from these positions and velocities. */
function stepped(positions: readonly number[], velocities: readonly number[], choice: number) {
  const environment = createEnvironment(threeBodies)
  environment.reset({ options: { state: [...positions, ...velocities] } })
  return environment.step(choice)
}
const still = [0, 0, 0, 0, 0, 0]
const finest = choices - 1

test('three bodies keep the contract of environments', () => {
  checkEnvironment(threeBodies)
})

test('far apart, the coarsest step costs 1 of 128 and the finest 1', () => {
  const far = [-100, 0, 100, 0, 0, 100]
  expect(stepped(far, still, 0).reward).toBeCloseTo(-1 / 128, 6)
  expect(stepped(far, still, finest).reward).toBeCloseTo(-1, 6)
})

test('close together, the coarsest step costs the most that errors can, the finest next to none', () => {
  // Two that fall from a distance of 0.2 meet after 0.07, within the interval.
  const close = [-0.1, 0, 0.1, 0, 50, 50]
  expect(stepped(close, still, 0).reward).toBeCloseTo(-2 - 1 / 128, 6)
  // On a circle of this radius both have the speed sqrt(1 / (2 * 0.2)).
  const speed = Math.sqrt(1 / (2 * 0.2))
  const circling = [0, -speed, 0, speed, 0, 0]
  expect(stepped(close, circling, finest).reward).toBeGreaterThan(-1.1)
})

test('the observation is how close the closest two are and how fast they approach', () => {
  const environment = createEnvironment(threeBodies)
  const observed = (positions: number[], velocities: number[]): number =>
    Number(environment.reset({ options: { state: [...positions, ...velocities] } }).observation)
  const apart = [0, 0, 0.9, 0, 50, 50]
  // 3 log2(2 / 0.9) = 3.5; an approach at 1.5 is in the octave from 1.
  expect(observed(apart, still)).toBe(3)
  expect(observed(apart, [1.5, 0, 0, 0, 0, 0])).toBe(3 + 2 * levels)
  expect(observed(apart, [-1.5, 0, 0, 0, 0, 0])).toBe(3)
  expect(observed([0, 0, 0.001, 0, 50, 50], [100, 0, 0, 0, 0, 0])).toBeLessThan(6 * levels)
})
