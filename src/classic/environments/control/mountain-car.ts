import { box, defineEnvironment, discrete, type Drawing } from '../../environment/index.ts'

export const leftWall = -1.2
export const rightWall = 0.6

const height = (x: number): number => Math.sin(3 * x) * 0.45 + 0.55

/** Draws the valley of both mountain cars, with the car at `position` and a flag at `goal` (m). */
export function drawHill(position: number, goal: number): Drawing {
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
    goalPosition: { default: 0.5, low: 0.4, high: 0.55, extrapolate: [0.2, 0.6], about: 'm' },
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
