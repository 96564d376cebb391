import { box, defineEnvironment, discrete } from '../../environment/index.ts'
import { stepTwoLink, twoLinkArm } from './two-link.ts'

const dt = 0.2
const maxSpeed1 = 4 * Math.PI
const maxSpeed2 = 9 * Math.PI
/** Holds the constants of a step. */
const arm = twoLinkArm()

/**
 * Two links that hang from a pivot, with a motor at the joint between them (Sutton 1996). The goal is to swing
 * the tip above a height. Equal step for step to Gymnasium 1.3's Acrobot-v1 with the equations of the book.
 * Actions: torque -1, 0 or 1 times `torque`. State: both angles in rad (the first from hanging down, the second
 * relative to the first link) and their speeds in rad/s. Observation: cosine and sine of each angle, then the
 * speeds. Reward: -1 in each step, 0 in the last.
 */
export const acrobot = defineEnvironment({
  name: 'acrobot',
  observation: box([6], [-1, -1, -1, -1, -maxSpeed1, -maxSpeed2], [1, 1, 1, 1, maxSpeed1, maxSpeed2]),
  action: discrete(3),
  context: {
    gravity: { default: 9.8, low: 5, high: 15, extrapolate: [1, 25], about: 'm/s^2' },
    length1: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 2], about: 'm, the upper link' },
    length2: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 2], about: 'm, the lower link' },
    mass1: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 2], about: 'kg' },
    mass2: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 2], about: 'kg' },
    center1: {
      default: 0.5,
      low: 0.4,
      high: 0.6,
      extrapolate: [0.25, 0.75],
      about: 'centre of mass / length',
    },
    center2: {
      default: 0.5,
      low: 0.4,
      high: 0.6,
      extrapolate: [0.25, 0.75],
      about: 'centre of mass / length',
    },
    inertia: {
      default: 1,
      low: 0.75,
      high: 1.5,
      extrapolate: [0.5, 2],
      about: 'kg m^2, of each link about its centre of mass',
    },
    torque: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 2], about: 'N m' },
    torqueNoise: { default: 0, low: 0, high: 0.5, extrapolate: [0, 1], about: 'N m, at most, uniform' },
    goalHeight: {
      default: 0.5,
      low: 0.3,
      high: 0.6,
      extrapolate: [0.1, 0.8],
      about: 'height of the goal above the pivot / length of both links',
    },
  },
  stateSize: 4,
  maxSteps: 500,
  reset({ state }, i, random) {
    // The reference rounds the initial state to single precision.
    for (let k = i * 4; k < i * 4 + 4; k++) state[k] = Math.fround(random.uniform(-0.1, 0.1))
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * 4
    const gravity = context.gravity[i]
    const length1 = context.length1[i]
    const length2 = context.length2[i]
    const mass1 = context.mass1[i]
    const mass2 = context.mass2[i]
    const center1 = context.center1[i] * length1
    const center2 = context.center2[i] * length2
    const inertia = context.inertia[i]
    const noise = context.torqueNoise[i]
    arm.inertia2 = mass2 * center2 * center2 + inertia
    arm.inertia = mass1 * center1 * center1 + mass2 * length1 * length1 + inertia + arm.inertia2
    arm.coupling = mass2 * length1 * center2
    arm.weight1 = (mass1 * center1 + mass2 * length1) * gravity
    arm.weight2 = mass2 * center2 * gravity
    arm.torque2 = (actions[i] - 1) * context.torque[i] + (noise > 0 ? random.uniform(-noise, noise) : 0)
    stepTwoLink(arm, state, s, dt)
    const angle1 = wrap(state[s])
    const angle2 = wrap(state[s + 1])
    state[s] = angle1
    state[s + 1] = angle2
    state[s + 2] = Math.min(Math.max(state[s + 2], -maxSpeed1), maxSpeed1)
    state[s + 3] = Math.min(Math.max(state[s + 3], -maxSpeed2), maxSpeed2)
    const height = -length1 * Math.cos(angle1) - length2 * Math.cos(angle2 + angle1)
    const reached = height > context.goalHeight[i] * (length1 + length2)
    rewards[i] = reached ? 0 : -1
    terminated[i] = reached ? 1 : 0
  },
  observe({ state, observations }, i) {
    const s = i * 4
    const o = i * 6
    observations[o] = Math.cos(state[s])
    observations[o + 1] = Math.sin(state[s])
    observations[o + 2] = Math.cos(state[s + 1])
    observations[o + 3] = Math.sin(state[s + 1])
    observations[o + 4] = state[s + 2]
    observations[o + 5] = state[s + 3]
  },
  draw({ state, context }, i) {
    const [angle1, angle2] = state.subarray(i * 4, i * 4 + 2)
    const length1 = context.length1[i]
    const length2 = context.length2[i]
    const goal = context.goalHeight[i] * (length1 + length2)
    const joint = [length1 * Math.sin(angle1), -length1 * Math.cos(angle1)] as const
    const tip = [
      joint[0] + length2 * Math.sin(angle1 + angle2),
      joint[1] - length2 * Math.cos(angle1 + angle2),
    ] as const
    const edge = 1.1 * (length1 + length2)
    return {
      view: [-edge, -edge, 2 * edge, 2 * edge],
      shapes: [
        {
          type: 'line',
          points: [
            [-edge, goal],
            [edge, goal],
          ],
          stroke: '#888',
          width: 0.02,
        },
        { type: 'line', points: [[0, 0], joint], stroke: '#07a', width: 0.16 },
        { type: 'line', points: [joint, tip], stroke: '#0aa', width: 0.16 },
        { type: 'circle', x: 0, y: 0, radius: 0.1, fill: '#c70' },
        { type: 'circle', x: joint[0], y: joint[1], radius: 0.1, fill: '#c70' },
      ],
    }
  },
})

/** Wraps an angle to [-pi, pi] by full turns. */
function wrap(angle: number): number {
  let wrapped = angle
  while (wrapped > Math.PI) wrapped -= 2 * Math.PI
  while (wrapped < -Math.PI) wrapped += 2 * Math.PI
  return wrapped
}
