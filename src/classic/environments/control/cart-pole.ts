import { box, defineEnvironment, discrete } from '../../environment/index.ts'
import {
  angleLimit,
  cartPoleKernel,
  polynomialCosine,
  positionLimit,
  polynomialLimit,
  polynomialSine,
  timeStep,
} from './cart-pole-kernel.ts'

/**
 * Balance a pole on a cart (Barto, Sutton & Anderson 1983). Every step equals Gymnasium 1.3's CartPole-v1.
 * Explicit Euler steps of 0.02 s. Actions: push left, push right. State and observation: position m, velocity m/s,
 * angle rad (0 is upright), angular velocity rad/s. Reward: 1 for every step, including the last.
 *
 * @example
 * const { summary } = await trainClassic({ definition: cartPole, algorithm: ppo(config), numEnvs: 8, steps: 100_000 })
 */
export const cartPole = defineEnvironment({
  name: 'cartpole',
  observation: box(
    [4],
    [-4.8, -Infinity, -2 * angleLimit, -Infinity],
    [4.8, Infinity, 2 * angleLimit, Infinity],
  ),
  action: discrete(2),
  context: {
    gravity: { default: 9.8, low: 5, high: 15, extrapolate: [1, 25], about: 'm/s^2' },
    cartMass: { default: 1, low: 0.5, high: 2, extrapolate: [0.1, 5], about: 'kg' },
    poleMass: { default: 0.1, low: 0.05, high: 0.5, extrapolate: [0.01, 1], about: 'kg' },
    poleHalfLength: { default: 0.5, low: 0.25, high: 1, extrapolate: [0.1, 2], about: 'm' },
    force: { default: 10, low: 5, high: 15, extrapolate: [2, 25], about: 'N' },
  },
  stateSize: 4,
  maxSteps: 500,
  reset({ state }, i, random) {
    for (let k = i * 4; k < i * 4 + 4; k++) state[k] = random.uniform(-0.05, 0.05)
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const s = i * 4
    const poleMass = context.poleMass[i]
    const halfLength = context.poleHalfLength[i]
    const totalMass = poleMass + context.cartMass[i]
    const poleMassLength = poleMass * halfLength
    const force = actions[i] === 1 ? context.force[i] : -context.force[i]
    const velocity = state[s + 1]
    const angle = state[s + 2]
    const angularVelocity = state[s + 3]
    const angleSquared = angle * angle
    const isSmallAngle = Math.abs(angle) <= polynomialLimit
    const cos = isSmallAngle ? polynomialCosine(angleSquared) : Math.cos(angle)
    const sin = isSmallAngle ? polynomialSine(angle, angleSquared) : Math.sin(angle)
    // `temp` in Gymnasium.
    const push = (force + poleMassLength * (angularVelocity * angularVelocity) * sin) / totalMass
    const angularAcceleration =
      (context.gravity[i] * sin - cos * push) / (halfLength * (4 / 3 - (poleMass * (cos * cos)) / totalMass))
    const acceleration = push - (poleMassLength * angularAcceleration * cos) / totalMass
    const x = state[s] + timeStep * velocity
    const newAngle = angle + timeStep * angularVelocity
    state[s] = x
    state[s + 1] = velocity + timeStep * acceleration
    state[s + 2] = newAngle
    state[s + 3] = angularVelocity + timeStep * angularAcceleration
    rewards[i] = 1
    terminated[i] =
      x < -positionLimit || x > positionLimit || newAngle < -angleLimit || newAngle > angleLimit ? 1 : 0
  },
  observe({ state, observations }, i) {
    const s = i * 4
    observations[s] = state[s]
    observations[s + 1] = state[s + 1]
    observations[s + 2] = state[s + 2]
    observations[s + 3] = state[s + 3]
  },
  kernel: cartPoleKernel,
  draw({ state, context }, i) {
    const [x, , angle] = state.subarray(i * 4, i * 4 + 4)
    const length = 2 * context.poleHalfLength[i]
    const tip = [x + length * Math.sin(angle), 0.6 + length * Math.cos(angle)] as const
    return {
      view: [-positionLimit, 0, 2 * positionLimit, 2.4],
      shapes: [
        {
          type: 'line',
          points: [
            [-positionLimit, 0.5],
            [positionLimit, 0.5],
          ],
          stroke: '#888',
          width: 0.02,
        },
        { type: 'rectangle', x: x - 0.25, y: 0.45, width: 0.5, height: 0.3, fill: '#333' },
        { type: 'line', points: [[x, 0.6], tip], stroke: '#c70', width: 0.1 },
      ],
    }
  },
})

/**
 * CartPole without velocities, so that an agent needs memory. Observation: position m, angle rad. The same task in
 * RL Baselines3 Zoo ("NoVel") keeps the velocities in the observation, as zeros.
 */
export const cartPolePositions = defineEnvironment({
  ...cartPole,
  name: 'cartpole-positions',
  observation: box([2], [-4.8, -2 * angleLimit], [4.8, 2 * angleLimit]),
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 4]
    observations[i * 2 + 1] = state[i * 4 + 2]
  },
})
