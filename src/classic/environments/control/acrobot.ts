import { box, defineEnvironment, discrete } from '../../environment/index.ts'

/** The equations write the angular accelerations of both joints here. */
const acceleration = new Float64Array(2)

/**
 * The constants of the equations of motion of a planar chain of two links. One reused object, so that a step
 * allocates nothing.
 */
interface TwoLinkArm {
  /** kg m^2: m1 c1^2 + m2 (l1^2 + c2^2) + both moments of inertia about the centres of mass. */
  inertia: number
  /** kg m^2: m2 c2^2 + the second moment of inertia. */
  inertia2: number
  /** kg m^2: m2 l1 c2. */
  coupling: number
  /** N m: torques of gravity, (m1 c1 + m2 l1) g and m2 c2 g. */
  weight1: number
  weight2: number
  /** N m at the joints. */
  torque1: number
  torque2: number
  /** N m s: friction of both joints. */
  damping: number
}

export const twoLinkArm = (): TwoLinkArm => ({
  inertia: 0,
  inertia2: 0,
  coupling: 0,
  weight1: 0,
  weight2: 0,
  torque1: 0,
  torque2: 0,
  damping: 0,
})

/**
 * The equations of motion of Sutton & Barto's acrobot (Reinforcement Learning, 1998, section 11.3), with torque
 * and friction at each joint. Angles in rad: the first from hanging down, the second relative to the first
 * link.
 */
function accelerate(arm: TwoLinkArm, angle1: number, angle2: number, speed1: number, speed2: number): void {
  const { inertia2, coupling } = arm
  const cos2 = Math.cos(angle2)
  const pull = coupling * Math.sin(angle2)
  const d1 = arm.inertia + 2 * coupling * cos2
  const d2 = inertia2 + coupling * cos2
  const phi2 = arm.weight2 * Math.cos(angle1 + angle2 - Math.PI / 2)
  const phi1 =
    -pull * (speed2 * speed2) -
    2 * pull * speed2 * speed1 +
    arm.weight1 * Math.cos(angle1 - Math.PI / 2) +
    phi2 -
    (arm.torque1 - arm.damping * speed1)
  const second =
    (arm.torque2 - arm.damping * speed2 + (d2 / d1) * phi1 - pull * (speed1 * speed1) - phi2) /
    (inertia2 - (d2 * d2) / d1)
  acceleration[0] = -(d2 * second + phi1) / d1
  acceleration[1] = second
}

/**
 * One step of the classical fourth-order Runge-Kutta method, in place.
 *
 * @param state angle1, angle2 (rad), speed1, speed2 (rad/s), from index `s` on
 * @param dt s
 */
export function stepTwoLink(arm: TwoLinkArm, state: Float64Array, s: number, dt: number): void {
  const half = dt / 2
  const sixth = dt / 6
  const angle1 = state[s]
  const angle2 = state[s + 1]
  // v: speeds, a: accelerations at the four points. The digits are those of the joint and of the point.
  const v11 = state[s + 2]
  const v21 = state[s + 3]
  accelerate(arm, angle1, angle2, v11, v21)
  const a11 = acceleration[0]
  const a21 = acceleration[1]
  const v12 = v11 + half * a11
  const v22 = v21 + half * a21
  accelerate(arm, angle1 + half * v11, angle2 + half * v21, v12, v22)
  const a12 = acceleration[0]
  const a22 = acceleration[1]
  const v13 = v11 + half * a12
  const v23 = v21 + half * a22
  accelerate(arm, angle1 + half * v12, angle2 + half * v22, v13, v23)
  const a13 = acceleration[0]
  const a23 = acceleration[1]
  const v14 = v11 + dt * a13
  const v24 = v21 + dt * a23
  accelerate(arm, angle1 + dt * v13, angle2 + dt * v23, v14, v24)
  state[s] = angle1 + sixth * (v11 + 2 * v12 + 2 * v13 + v14)
  state[s + 1] = angle2 + sixth * (v21 + 2 * v22 + 2 * v23 + v24)
  state[s + 2] = v11 + sixth * (a11 + 2 * a12 + 2 * a13 + acceleration[0])
  state[s + 3] = v21 + sixth * (a21 + 2 * a22 + 2 * a23 + acceleration[1])
}

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
