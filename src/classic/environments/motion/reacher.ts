import { box, defineEnvironment } from '../../environment/index.ts'
import { stepTwoLink, twoLinkArm } from '../control/acrobot.ts'

const stateSize = 6
/** Each environment step has two integration steps. */
const dt = 0.02
const maxSpeed = 30
/** Holds the constants of a step. */
const arm = twoLinkArm()

/**
 * A planar arm of two links with a motor at each joint, which moves its tip to a visible goal (the task of
 * Gymnasium's Reacher, without MuJoCo, by the closed form of two uniform rods). Action: torques in [-1, 1]
 * (clipped) times `torque`. State: angles rad (the first from hanging down, the second relative to the first
 * link), speeds rad/s, goal x and y m. Observation: cosine and sine of each angle, speeds, goal, vector from
 * the tip to the goal. The goal is uniform in a ring around the shoulder. Reward: minus the distance in m after
 * the step, minus `effort` times the sum of the squared actions. Runge-Kutta integration, 0.04 s for each step.
 * Never terminates.
 */
export const reacher = defineEnvironment({
  name: 'reacher',
  observation: box(
    [10],
    [-1, -1, -1, -1, -maxSpeed, -maxSpeed, -Infinity, -Infinity, -Infinity, -Infinity],
    [1, 1, 1, 1, maxSpeed, maxSpeed, Infinity, Infinity, Infinity, Infinity],
  ),
  action: box([2], -1, 1),
  context: {
    length1: { default: 0.5, low: 0.4, high: 0.6, extrapolate: [0.3, 0.8], about: 'm, the upper link' },
    length2: { default: 0.5, low: 0.4, high: 0.6, extrapolate: [0.3, 0.8], about: 'm, the lower link' },
    mass1: { default: 1, low: 0.7, high: 1.4, extrapolate: [0.5, 2], about: 'kg' },
    mass2: { default: 1, low: 0.7, high: 1.4, extrapolate: [0.5, 2], about: 'kg' },
    torque: { default: 2, low: 1.5, high: 3, extrapolate: [1, 4], about: 'N m, of a full action' },
    friction: { default: 0.2, low: 0.1, high: 0.3, extrapolate: [0, 0.4], about: 'N m s, of each joint' },
    gravity: { default: 0, low: 0, high: 1, extrapolate: [0, 3], about: 'm/s^2, downwards in the plane' },
    noise: {
      default: 0,
      low: 0,
      high: 0.2,
      extrapolate: [0, 0.5],
      about: 'N m, standard deviation of each torque',
    },
    effort: {
      default: 0.01,
      low: 0,
      high: 0.05,
      extrapolate: [0, 0.2],
      about: 'cost of a full action of a joint',
    },
    goalNear: {
      default: 0.3,
      low: 0.2,
      high: 0.5,
      extrapolate: [0, 0.6],
      about: 'inner radius of the ring / reach',
    },
    goalFar: {
      default: 0.9,
      low: 0.7,
      high: 0.9,
      extrapolate: [0.6, 1],
      about: 'outer radius of the ring / reach',
    },
  },
  stateSize,
  maxSteps: 100,
  reset({ state, context }, i, random) {
    const s = i * stateSize
    state[s] = random.uniform(-Math.PI, Math.PI)
    state[s + 1] = random.uniform(-Math.PI, Math.PI)
    state[s + 2] = 0
    state[s + 3] = 0
    const near = context.goalNear[i]
    const far = context.goalFar[i]
    const direction = random.uniform(-Math.PI, Math.PI)
    const reach = context.length1[i] + context.length2[i]
    const radius = reach * Math.sqrt(random.uniform(near * near, far * far))
    state[s + 4] = radius * Math.cos(direction)
    state[s + 5] = radius * Math.sin(direction)
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * stateSize
    const length1 = context.length1[i]
    const length2 = context.length2[i]
    const mass1 = context.mass1[i]
    const mass2 = context.mass2[i]
    const gravity = context.gravity[i]
    const noise = context.noise[i]
    // Moments of a uniform rod: length / 2 to its centre, mass length^2 / 3 about its end.
    arm.inertia2 = (mass2 * length2 * length2) / 3
    arm.inertia = (mass1 * length1 * length1) / 3 + mass2 * length1 * length1 + arm.inertia2
    arm.coupling = (mass2 * length1 * length2) / 2
    arm.weight1 = (mass1 / 2 + mass2) * length1 * gravity
    arm.weight2 = (mass2 / 2) * length2 * gravity
    arm.damping = context.friction[i]
    const action1 = Math.min(Math.max(actions[i * 2], -1), 1)
    const action2 = Math.min(Math.max(actions[i * 2 + 1], -1), 1)
    arm.torque1 = action1 * context.torque[i] + (noise > 0 ? noise * random.normal() : 0)
    arm.torque2 = action2 * context.torque[i] + (noise > 0 ? noise * random.normal() : 0)
    stepTwoLink(arm, state, s, dt)
    stepTwoLink(arm, state, s, dt)
    state[s + 2] = Math.min(Math.max(state[s + 2], -maxSpeed), maxSpeed)
    state[s + 3] = Math.min(Math.max(state[s + 3], -maxSpeed), maxSpeed)
    const both = state[s] + state[s + 1]
    const x = state[s + 4] - length1 * Math.sin(state[s]) - length2 * Math.sin(both)
    const y = state[s + 5] + length1 * Math.cos(state[s]) + length2 * Math.cos(both)
    rewards[i] = -Math.sqrt(x * x + y * y) - context.effort[i] * (action1 * action1 + action2 * action2)
    terminated[i] = 0
  },
  observe({ state, context, observations }, i) {
    const s = i * stateSize
    const o = i * 10
    const both = state[s] + state[s + 1]
    const sin1 = Math.sin(state[s])
    const cos1 = Math.cos(state[s])
    observations[o] = cos1
    observations[o + 1] = sin1
    observations[o + 2] = Math.cos(state[s + 1])
    observations[o + 3] = Math.sin(state[s + 1])
    for (let k = 2; k < stateSize; k++) observations[o + 2 + k] = state[s + k]
    observations[o + 8] = state[s + 4] - context.length1[i] * sin1 - context.length2[i] * Math.sin(both)
    observations[o + 9] = state[s + 5] + context.length1[i] * cos1 + context.length2[i] * Math.cos(both)
  },
  draw({ state, context }, i) {
    const [angle1, angle2, , , goalX, goalY] = state.subarray(i * stateSize, (i + 1) * stateSize)
    const length1 = context.length1[i]
    const length2 = context.length2[i]
    const joint = [length1 * Math.sin(angle1), -length1 * Math.cos(angle1)] as const
    const both = angle1 + angle2
    const tip = [joint[0] + length2 * Math.sin(both), joint[1] - length2 * Math.cos(both)] as const
    const edge = 1.1 * (length1 + length2)
    return {
      view: [-edge, -edge, 2 * edge, 2 * edge],
      shapes: [
        { type: 'circle', x: goalX, y: goalY, radius: 0.05, fill: '#3a3' },
        { type: 'line', points: [[0, 0], joint, tip], stroke: '#07a', width: 0.06 },
        { type: 'circle', x: 0, y: 0, radius: 0.05, fill: '#333' },
        { type: 'circle', x: tip[0], y: tip[1], radius: 0.03, fill: '#c70' },
      ],
    }
  },
})
