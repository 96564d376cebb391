import { expect, test } from 'vitest'
import { fastStream, readContext } from '../../environment/index.ts'
import type { EnvArrays } from '../../environment/index.ts'
import { arraysOf } from '../testing/golden.ts'
import { pointMass } from './point-mass.ts'
import { reacher } from './reacher.ts'

const random = fastStream('motion')

test('the speed of a point mass under a constant force approaches force / friction as in the closed form', () => {
  const envs = arraysOf(pointMass, 1, { mass: 2, friction: 0.5, windX: 0.3, force: 0.4 })
  envs.actions.set([1, 0])
  // Closed form of semi-implicit Euler steps: v_n = f / k (1 - (1 - k dt / m)^n).
  for (let n = 1; n <= 30; n++) {
    pointMass.step(envs, 0, random)
    expect(envs.state[2]).toBeCloseTo((0.7 / 0.5) * (1 - (1 - (0.5 * 0.05) / 2) ** n), 12)
  }
  expect(envs.state[3]).toBe(0)
})

test('walls stop a point mass', () => {
  const envs = arraysOf(pointMass)
  envs.state.set([0.99, -0.99, 1, -1])
  pointMass.step(envs, 0, random)
  expect([...envs.state]).toEqual([1, -1, 0, 0])
  expect(envs.rewards[0]).toBeCloseTo(-Math.hypot(0.5, 1.5), 12)
})

test('the noise of a point mass has the given standard deviation', () => {
  const envs = arraysOf(pointMass, 1, { noise: 0.4, mass: 2 })
  let squares = 0
  for (let n = 0; n < 20_000; n++) {
    envs.state.fill(0)
    pointMass.step(envs, 0, random)
    squares += (envs.state[2] ** 2 + envs.state[3] ** 2) / 2
  }
  expect(Math.sqrt(squares / 20_000)).toBeCloseTo((0.05 * 0.4) / 2, 3)
  expect(Math.sqrt(squares / 20_000) / 0.01).toBeCloseTo(1, 1)
})

/** Kinetic and potential energy of two rods, from the speeds of their centres, not from the equations of motion. */
function energy({ state, context }: EnvArrays): number {
  const [angle1, angle2, speed1, speed2] = state
  const [length1, length2, mass1, mass2, , , gravity] = readContext(context, 0)
  const both = angle1 + angle2
  const turning = speed1 + speed2
  const elbow = [length1 * speed1 * Math.cos(angle1), length1 * speed1 * Math.sin(angle1)]
  const centre2 = [
    elbow[0] + (length2 / 2) * turning * Math.cos(both),
    elbow[1] + (length2 / 2) * turning * Math.sin(both),
  ]
  const rods =
    (mass1 * ((length1 / 2) * speed1) ** 2 +
      mass2 * (centre2[0] ** 2 + centre2[1] ** 2) +
      ((mass1 * length1 ** 2) / 12) * speed1 ** 2 +
      ((mass2 * length2 ** 2) / 12) * turning ** 2) /
    2
  const height1 = -(length1 / 2) * Math.cos(angle1)
  const height2 = -length1 * Math.cos(angle1) - (length2 / 2) * Math.cos(both)
  return rods + gravity * (mass1 * height1 + mass2 * height2)
}

const uneven = { length1: 0.4, length2: 0.7, mass1: 1.3, mass2: 0.8, gravity: 3 }

test('a free arm conserves energy', () => {
  const envs = arraysOf(reacher, 1, { ...uneven, friction: 0 })
  envs.state.set([2, -1, 1.5, -2, 0.5, 0.5])
  const before = energy(envs)
  for (let t = 0; t < 200; t++) reacher.step(envs, 0, random)
  expect(Math.abs(energy(envs) - before)).toBeLessThan(2e-3)
  expect(envs.state[0]).not.toBeCloseTo(2, 1)
})

test('motors and friction change the energy by the work they do', () => {
  const envs = arraysOf(reacher, 1, uneven)
  envs.state.set([2, -1, 1.5, -2, 0.5, 0.5])
  envs.actions.set([0.6, -0.3])
  const before = energy(envs)
  let work = 0
  const power = (): number => {
    const [, , speed1, speed2] = envs.state
    return 1.2 * speed1 - 0.6 * speed2 - 0.2 * (speed1 ** 2 + speed2 ** 2)
  }
  for (let t = 0; t < 25; t++) {
    const first = power()
    reacher.step(envs, 0, random)
    work += (0.04 * (first + power())) / 2
  }
  expect(energy(envs) - before).toBeCloseTo(work, 1)
  expect(Math.abs(work)).toBeGreaterThan(0.5)
})

test('goals are uniform in the ring and observed, and the reward is minus the distance of the tip', () => {
  const envs = arraysOf(reacher, 1, {
    length1: 0.4,
    length2: 0.6,
    goalNear: 0.5,
    goalFar: 0.9,
    effort: 0.05,
  })
  let inner = 0
  for (let n = 0; n < 4000; n++) {
    reacher.reset(envs, 0, random)
    const radius = Math.hypot(envs.state[4], envs.state[5])
    expect(radius).toBeGreaterThanOrEqual(0.5)
    expect(radius).toBeLessThanOrEqual(0.9)
    if (radius < Math.sqrt((0.25 + 0.81) / 2)) inner++
  }
  expect(Math.abs(inner / 4000 - 0.5)).toBeLessThan(0.03)
  envs.actions.set([1, -5])
  reacher.step(envs, 0, random)
  reacher.observe(envs, 0)
  const [dx, dy] = envs.observations.subarray(8)
  expect(envs.rewards[0]).toBeCloseTo(-Math.hypot(dx, dy) - 0.1, 5)
})

test('states stay finite at the ends of all context ranges', () => {
  for (const definition of [pointMass, reacher]) {
    for (const end of [0, 1] as const) {
      const context = Object.fromEntries(
        Object.entries(definition.context).map(([name, { extrapolate }]) => [
          name,
          extrapolate[name.startsWith('mass') || name.startsWith('length') ? 1 - end : end],
        ]),
      )
      const envs = arraysOf(definition, 1, context)
      definition.reset(envs, 0, random)
      for (let t = 0; t < 400; t++) {
        envs.actions.set([t % 40 < 20 ? 1 : -1, 1])
        definition.step(envs, 0, random)
        expect(envs.state.every(Number.isFinite)).toBe(true)
      }
    }
  }
})

test('drawings show the goal', () => {
  const envs = arraysOf(pointMass, 1, { goalX: -0.25 })
  expect(pointMass.draw?.(envs, 0).shapes[1]).toMatchObject({ type: 'circle', x: -0.25 })
  const arm = arraysOf(reacher)
  expect(reacher.draw?.(arm, 0).shapes[1]).toMatchObject({
    points: [
      [0, 0],
      [0, -0.5],
      [0, -1],
    ],
  })
})
