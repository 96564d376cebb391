import { box, defineEnvironment, discrete } from '../../environment/index.ts'
import type { Drawing } from '../../environment/index.ts'

const leftWall = -1.2
const rightWall = 0.6

const height = (x: number): number => Math.sin(3 * x) * 0.45 + 0.55

/** Draws the valley of both mountain cars, with the car at `position` and a flag at `goal` (m). */
function drawHill(position: number, goal: number): Drawing {
  const points = Array.from({ length: 61 }, (_, k) => {
    const x = leftWall + ((rightWall - leftWall) * k) / 60
    return [x, height(x)] as const
  })
  return {
    view: [leftWall, 0, rightWall - leftWall, 1.2],
    shapes: [
      { type: 'line', points, stroke: '#888', width: 0.01 },
      {
        type: 'line',
        points: [
          [goal, height(goal)],
          [goal, height(goal) + 0.15],
        ],
        stroke: '#a00',
        width: 0.01,
      },
      { type: 'rectangle', x: goal, y: height(goal) + 0.1, width: 0.07, height: 0.05, fill: '#a00' },
      { type: 'circle', x: position, y: height(position) + 0.03, radius: 0.03, fill: '#333' },
    ],
  }
}

const maxSpeed = 0.07

/** Context features of both mountain cars. */
const shared = {
  gravity: {
    default: 0.0025,
    low: 0.002,
    high: 0.003,
    extrapolate: [0.0015, 0.0035],
    about: 'm per step^2',
  },
  maxSpeed: {
    default: maxSpeed,
    low: 0.05,
    high: maxSpeed,
    extrapolate: [0.04, maxSpeed],
    about: 'm per step',
  },
  goalVelocity: {
    default: 0,
    low: 0,
    high: 0.02,
    extrapolate: [0, 0.04],
    about: 'm per step, minimum at the goal',
  },
  startPosition: {
    default: -0.5,
    low: -0.6,
    high: -0.4,
    extrapolate: [-0.9, -0.2],
    about: 'm, centre of the starts, which are uniform within 0.1 m of it',
  },
} as const

/**
 * A car in a valley that is too weak to drive straight up the right hill (Moore 1990). Equal step for step to
 * Gymnasium 1.3's MountainCar-v0. Actions: push left, none, right. State and observation: position m, velocity
 * m per step. Reward: -1 in each step.
 */
export const mountainCar = defineEnvironment({
  name: 'mountain-car',
  observation: box([2], [leftWall, -maxSpeed], [rightWall, maxSpeed]),
  action: discrete(3),
  context: {
    force: { default: 0.001, low: 0.0008, high: 0.0015, extrapolate: [0.0005, 0.002], about: 'm per step^2' },
    gravity: shared.gravity,
    maxSpeed: shared.maxSpeed,
    goalPosition: { default: 0.5, low: 0.4, high: 0.55, extrapolate: [0.2, 0.6], about: 'm' },
    goalVelocity: shared.goalVelocity,
    startPosition: shared.startPosition,
  },
  stateSize: 2,
  maxSteps: 200,
  reset({ state, context }, i, random) {
    const center = context.startPosition[i]
    state[i * 2] = random.uniform(center - 0.1, center + 0.1)
    state[i * 2 + 1] = 0
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const s = i * 2
    const fastest = context.maxSpeed[i]
    const push = (actions[i] - 1) * context.force[i] - Math.cos(3 * state[s]) * context.gravity[i]
    let velocity = Math.min(Math.max(state[s + 1] + push, -fastest), fastest)
    const position = Math.min(Math.max(state[s] + velocity, leftWall), rightWall)
    if (position === leftWall && velocity < 0) velocity = 0
    state[s] = position
    state[s + 1] = velocity
    rewards[i] = -1
    terminated[i] = position >= context.goalPosition[i] && velocity >= context.goalVelocity[i] ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 2]
    observations[i * 2 + 1] = state[i * 2 + 1]
  },
  draw: ({ state, context }, i) => drawHill(state[i * 2], context.goalPosition[i]),
})

const { fround } = Math

/**
 * The mountain car with a force in [-1, 1], which is clipped. Equal step for step to Gymnasium 1.3's
 * MountainCarContinuous-v0. Reward: 100 at the goal, minus `effort` times the square of the unclipped action.
 * Observation: position m, velocity m per step.
 *
 * State: position, velocity, and 1 while both are in double precision. Like the reference, it draws the initial
 * state in double precision, and from the first step on rounds to single precision after every operation.
 */
export const mountainCarContinuous = defineEnvironment({
  name: 'mountain-car-continuous',
  observation: box([2], [leftWall, -maxSpeed], [rightWall, maxSpeed]),
  action: box([1], -1, 1),
  context: {
    power: { default: 0.0015, low: 0.001, high: 0.002, extrapolate: [0.0007, 0.003], about: 'm per step^2' },
    gravity: shared.gravity,
    maxSpeed: shared.maxSpeed,
    goalPosition: { default: 0.45, low: 0.35, high: 0.55, extrapolate: [0.2, 0.6], about: 'm' },
    goalVelocity: shared.goalVelocity,
    effort: { default: 0.1, low: 0.05, high: 0.2, extrapolate: [0, 0.5], about: 'cost of a full action' },
    startPosition: shared.startPosition,
  },
  stateSize: 3,
  maxSteps: 999,
  reset({ state, context }, i, random) {
    const center = context.startPosition[i]
    state[i * 3] = random.uniform(center - 0.1, center + 0.1)
    state[i * 3 + 1] = 0
    state[i * 3 + 2] = 1
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const s = i * 3
    const double = state[s + 2] === 1
    const action = actions[i]
    const power = context.power[i]
    const x = state[s]
    const gradient = context.gravity[i] * Math.cos(double ? 3 * x : fround(3 * x))
    // In the reference a clipped action is a double. Only an unclipped one makes the push single precision.
    const push =
      action > 1
        ? power - gradient
        : action < -1
          ? -power - gradient
          : fround(fround(action * fround(power)) - fround(gradient))

    const fastest = double ? context.maxSpeed[i] : fround(context.maxSpeed[i])
    let velocity = double ? state[s + 1] + push : fround(state[s + 1] + fround(push))
    velocity = Math.min(Math.max(velocity, -fastest), fastest)
    const wall = double ? leftWall : fround(leftWall)
    let position = double ? x + velocity : fround(x + velocity)
    position = Math.min(Math.max(position, wall), double ? rightWall : fround(rightWall))
    if (position === wall && velocity < 0) velocity = 0

    const goal = double ? context.goalPosition[i] : fround(context.goalPosition[i])
    const goalVelocity = double ? context.goalVelocity[i] : fround(context.goalVelocity[i])
    const reached = position >= goal && velocity >= goalVelocity
    rewards[i] = (reached ? 100 : 0) - action * action * context.effort[i]
    terminated[i] = reached ? 1 : 0
    state[s] = fround(position)
    state[s + 1] = fround(velocity)
    state[s + 2] = 0
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 3]
    observations[i * 2 + 1] = state[i * 3 + 1]
  },
  draw: ({ state, context }, i) => drawHill(state[i * 3], context.goalPosition[i]),
})
