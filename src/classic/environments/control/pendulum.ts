import { box, defineEnvironment } from '../../environment/index.ts'

const maxSpeed = 8
const turn = 2 * Math.PI
const { fround } = Math

/**
 * Swing up a pendulum and hold it, with a motor too weak to lift it directly. Equal step for step to Gymnasium
 * 1.3's Pendulum-v1. Action: torque N m, clipped to `maxTorque`. State: angle rad from upright, speed rad/s.
 * Observation: cosine and sine of the angle, speed. Reward: -(angle^2 + 0.1 speed^2 + 0.001 torque^2) of the
 * state before the step. Never terminates.
 */
export const pendulum = defineEnvironment({
  name: 'pendulum',
  observation: box([3], [-1, -1, -maxSpeed], [1, 1, maxSpeed]),
  action: box([1], -2, 2),
  context: {
    gravity: { default: 10, low: 5, high: 15, extrapolate: [1, 20], about: 'm/s^2' },
    mass: { default: 1, low: 0.5, high: 1.5, extrapolate: [0.25, 2], about: 'kg' },
    length: { default: 1, low: 0.5, high: 1.5, extrapolate: [0.25, 2], about: 'm' },
    maxTorque: { default: 2, low: 1, high: 2, extrapolate: [0.5, 2], about: 'N m' },
    maxSpeed: { default: maxSpeed, low: 6, high: maxSpeed, extrapolate: [4, maxSpeed], about: 'rad/s' },
    timeStep: { default: 0.05, low: 0.03, high: 0.06, extrapolate: [0.01, 0.1], about: 's' },
  },
  stateSize: 2,
  maxSteps: 200,
  reset({ state }, i, random) {
    state[i * 2] = random.uniform(-Math.PI, Math.PI)
    state[i * 2 + 1] = random.uniform(-1, 1)
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const s = i * 2
    const gravity = context.gravity[i]
    const length = context.length[i]
    const limit = fround(context.maxTorque[i])
    const fastest = context.maxSpeed[i]
    const dt = context.timeStep[i]
    const angle = state[s]
    const speed = state[s + 1]
    // In the reference, actions and terms of actions alone are in single precision too.
    const torque = Math.min(Math.max(actions[i], -limit), limit)
    const push = fround(fround(3 / (context.mass[i] * (length * length))) * torque)
    const effort = fround(fround(0.001) * fround(torque * torque))
    const offset = upright(angle)
    rewards[i] = -(offset * offset + 0.1 * (speed * speed) + effort)
    terminated[i] = 0
    const faster = speed + (((3 * gravity) / (2 * length)) * Math.sin(angle) + push) * dt
    const newSpeed = Math.min(Math.max(faster, -fastest), fastest)
    state[s] = angle + newSpeed * dt
    state[s + 1] = newSpeed
  },
  observe({ state, observations }, i) {
    observations[i * 3] = Math.cos(state[i * 2])
    observations[i * 3 + 1] = Math.sin(state[i * 2])
    observations[i * 3 + 2] = state[i * 2 + 1]
  },
  draw({ state, context, actions }, i) {
    const angle = state[i * 2]
    const length = context.length[i]
    const edge = 1.2 * Math.max(1, length)
    const tip = [-length * Math.sin(angle), length * Math.cos(angle)] as const
    return {
      view: [-edge, -edge, 2 * edge, 2 * edge],
      shapes: [
        { type: 'line', points: [[0, 0], tip], stroke: '#a33', width: 0.2 },
        { type: 'circle', x: 0, y: 0, radius: 0.05, fill: '#333' },
        {
          type: 'text',
          x: -0.95 * edge,
          y: -0.95 * edge,
          text: `torque ${actions[i].toFixed(2)}`,
          size: 0.12,
        },
      ],
    }
  },
})

/** Wraps an angle to [-pi, pi), by Python's modulo, which has the sign of the divisor. */
function upright(angle: number): number {
  const rest = (angle + Math.PI) % turn
  return (rest < 0 ? rest + turn : rest) - Math.PI
}
