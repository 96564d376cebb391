import { expect, test } from 'vitest'
import { deadFeatures } from '../fixtures/feature-acts.ts'
import { arraysOf } from '../fixtures/golden.ts'
import {
  acrobot,
  cartPole,
  cartPolePositions,
  mountainCar,
  mountainCarContinuous,
  pendulum,
} from './index.ts'

test('every context feature acts', () => {
  expect(deadFeatures(cartPole)).toEqual([])
  expect(deadFeatures(cartPolePositions)).toEqual([])
  expect(deadFeatures(pendulum)).toEqual([])
  expect(
    deadFeatures(acrobot, {
      scatter: ({ state }, random) => {
        for (let k = 0; k < 4; k++) state[k] = (random() - 0.5) * 2 * Math.PI
      },
    }),
  ).toEqual([])
  for (const car of [mountainCar, mountainCarContinuous]) {
    const scatter = { scatter: atTheGoal }
    expect(deadFeatures(car, scatter)).toEqual([])
  }
})

function atTheGoal({ state }: { state: Float64Array }, random: () => number): void {
  state[0] = 0.2 + 0.4 * random()
  state[1] = 0.07 * (2 * random() - 1)
}

test('the dead feature of an environment is found', () => {
  const broken = { ...cartPole, step: { ...cartPole }.observe }
  expect(deadFeatures(broken)).toEqual(Object.keys(cartPole.context))
})

test('the acrobot ends when the tip is above the goal, which scales with both links', () => {
  const numEnvs = arraysOf(acrobot, 1, { length2: 0.5 })
  const reach = (angle1: number, angle2: number): number => {
    numEnvs.state.set([angle1, angle2, 0, 0])
    numEnvs.actions[0] = 1
    acrobot.step(numEnvs, 0, { random: () => 0, uniform: () => 0, integers: () => 0, normal: () => 0 })
    return numEnvs.terminated[0]
  }
  // Upright, the tip is at 1.5 m; folded back it is at 0.5 m; the goal is at 0.75 m.
  expect(reach(Math.PI, 0)).toBe(1)
  expect(numEnvs.rewards[0]).toBe(0)
  expect(reach(Math.PI, Math.PI)).toBe(0)
  expect(numEnvs.rewards[0]).toBe(-1)
})

test('the cart-pole without velocities moves as the cart-pole does and shows positions only', () => {
  const numEnvs = arraysOf(cartPolePositions)
  numEnvs.state.set([0.1, 0.2, 0.03, -0.4])
  cartPolePositions.observe(numEnvs, 0)
  expect([...numEnvs.observations]).toEqual([Math.fround(0.1), Math.fround(0.03)])
  expect(cartPolePositions.step).toBe(cartPole.step)
})

test('drawings follow the context', () => {
  for (const definition of [acrobot, cartPole, mountainCar, mountainCarContinuous, pendulum]) {
    const numEnvs = arraysOf(definition)
    const drawing = definition.draw?.(numEnvs, 0)
    expect(drawing?.shapes.length).toBeGreaterThan(1)
    expect(JSON.stringify(drawing)).not.toMatch(/null|NaN/)
  }
  const long = arraysOf(pendulum, 1, { length: 2 })
  expect(pendulum.draw?.(long, 0).shapes[0]).toMatchObject({
    points: [
      [0, 0],
      [-0, 2],
    ],
  })
})
