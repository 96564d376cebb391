import { box, defineEnvironment } from '../../environment/index.ts'
import { cartPole } from './cart-pole.ts'

/** Twice the angle at which an episode ends. */
const widest = (24 * 2 * Math.PI) / 360

/**
 * The cart-pole without its velocities, so that an agent needs memory: observation position m, angle rad (the
 * CartPole "NoVel" of RL Baselines3 Zoo, which shows zeros in place of the velocities).
 */
export const cartPolePositions = defineEnvironment({
  ...cartPole,
  name: 'cartpole-positions',
  observation: box([2], [-4.8, -widest], [4.8, widest]),
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 4]
    observations[i * 2 + 1] = state[i * 4 + 2]
  },
})
