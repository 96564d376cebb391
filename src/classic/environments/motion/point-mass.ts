import { box, defineEnvironment } from '../../environment/index.ts'

const dt = 0.05
const wall = 1

/**
 * A point mass in a plane of 2 m by 2 m, with a hidden goal (the 2-D navigation of Finn, Abbeel & Levine 2017,
 * with inertia). In a single context an agent can learn the goal. Across contexts it must infer the goal from
 * rewards or see the context. Action: force along x and y in [-1, 1] (clipped) times `force`. State and
 * observation: position m, velocity m/s. Reward: minus the distance to the goal in m. Semi-implicit Euler steps
 * of 0.05 s. Walls stop the point. Never terminates.
 */
export const pointMass = defineEnvironment({
  name: 'point-mass',
  observation: box([4], [-wall, -wall, -Infinity, -Infinity], [wall, wall, Infinity, Infinity]),
  action: box([2], -1, 1),
  context: {
    goalX: { default: 0.5, low: -0.7, high: 0.7, extrapolate: [-0.95, 0.95], about: 'm' },
    goalY: { default: 0.5, low: -0.7, high: 0.7, extrapolate: [-0.95, 0.95], about: 'm' },
    mass: { default: 1, low: 0.5, high: 2, extrapolate: [0.25, 4], about: 'kg' },
    friction: { default: 1, low: 0.5, high: 2, extrapolate: [0, 4], about: 'N s/m, against the velocity' },
    force: { default: 1, low: 0.75, high: 1.5, extrapolate: [0.5, 3], about: 'N, of a full action' },
    noise: {
      default: 0,
      low: 0,
      high: 0.3,
      extrapolate: [0, 1],
      about: 'N, standard deviation of a force on each axis',
    },
    windX: { default: 0, low: -0.3, high: 0.3, extrapolate: [-0.5, 0.5], about: 'N' },
    windY: { default: 0, low: -0.3, high: 0.3, extrapolate: [-0.5, 0.5], about: 'N' },
    startSpread: {
      default: 0.1,
      low: 0,
      high: 0.5,
      extrapolate: [0, 0.9],
      about: 'm, distance from the centre on each axis',
    },
  },
  stateSize: 4,
  maxSteps: 100,
  reset({ state, context }, i, random) {
    const s = i * 4
    const spread = context.startSpread[i]
    state[s] = random.uniform(-spread, spread)
    state[s + 1] = random.uniform(-spread, spread)
    state[s + 2] = 0
    state[s + 3] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * 4
    const noise = context.noise[i]
    for (let axis = 0; axis < 2; axis++) {
      const push = Math.min(Math.max(actions[i * 2 + axis], -1), 1) * context.force[i]
      const chance = noise > 0 ? noise * random.normal() : 0
      const velocity = state[s + 2 + axis]
      const total =
        push + (axis === 0 ? context.windX : context.windY)[i] + chance - context.friction[i] * velocity
      const faster = velocity + (dt * total) / context.mass[i]
      const position = state[s + axis] + dt * faster
      const stopped = position < -wall || position > wall
      state[s + axis] = stopped ? Math.sign(position) * wall : position
      state[s + 2 + axis] = stopped ? 0 : faster
    }
    const x = context.goalX[i] - state[s]
    const y = context.goalY[i] - state[s + 1]
    rewards[i] = -Math.sqrt(x * x + y * y)
    terminated[i] = 0
  },
  observe({ state, observations }, i) {
    for (let k = i * 4; k < i * 4 + 4; k++) observations[k] = state[k]
  },
  draw({ state, context }, i) {
    const [x, y] = state.subarray(i * 4, i * 4 + 2)
    const goalX = context.goalX[i]
    const goalY = context.goalY[i]
    return {
      view: [-1.1, -1.1, 2.2, 2.2],
      shapes: [
        { type: 'rectangle', x: -wall, y: -wall, width: 2 * wall, height: 2 * wall, fill: '#eee' },
        { type: 'circle', x: goalX, y: goalY, radius: 0.06, fill: '#3a3' },
        { type: 'circle', x, y, radius: 0.04, fill: '#333' },
      ],
    }
  },
})
