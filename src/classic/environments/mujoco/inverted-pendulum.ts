import { box, defineEnvironment } from '../../environment/index.ts'
import { definePhysics, loadMujoco } from './physics.ts'

/** A cart on a rail of 2 m and a pole of 0.6 m on it. The numbers are those of Gymnasium's `inverted_pendulum.xml` (MIT licence). */
export const invertedPendulumModel = `
<mujoco model="inverted pendulum">
  <compiler inertiafromgeom="true"/>
  <size memory="1M"/>
  <option integrator="RK4" timestep="0.02" gravity="0 0 -9.81"/>
  <default>
    <joint limited="true" damping="1" armature="0"/>
    <geom type="capsule" contype="0" friction="1 0.1 0.1"/>
  </default>
  <worldbody>
    <geom name="rail" size="0.02 1" quat="1 0 1 0"/>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1"/>
      <geom name="cart" size="0.1 0.1" quat="1 0 1 0"/>
      <body name="pole">
        <joint name="hinge" type="hinge" axis="0 1 0" range="-90 90"/>
        <geom name="pole" size="0.049" fromto="0 0 0 0.001 0 0.6"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="slide" joint="slider" gear="100" ctrllimited="true" ctrlrange="-3 3"/>
  </actuator>
</mujoco>`

const joints = 2
const physics = definePhysics({ name: 'inverted-pendulum', xml: invertedPendulumModel, joints })
const { stateSize } = physics

/** Time steps of 0.02 s for each action. */
const frames = 2

/**
 * Balance a pole on a cart, with MuJoCo's physics. Agrees step for step with Gymnasium 1.3's InvertedPendulum-v5. Action: the
 * force on the cart in [-3, 3], clipped, times `force`; it acts for 0.04 s. Observation: position of the cart m, angle of the pole rad from upright,
 * and their velocities. Reward: 1 a step, 0 in the one that ends the episode. The episode ends when the pole leans by more than
 * 0.2 rad, or is truncated after 1000 steps. Needs the package `@mujoco/mujoco` (see `loadMujoco`).
 */
export const invertedPendulum = defineEnvironment({
  name: 'inverted-pendulum',
  load: () => loadMujoco(),
  observation: box([2 * joints], -Infinity, Infinity),
  action: box([1], -3, 3),
  context: {
    gravity: { default: 9.81, low: 6, high: 14, extrapolate: [2, 20], about: 'm/s^2' },
    force: { default: 100, low: 60, high: 140, extrapolate: [20, 200], about: 'N, of an action of 1' },
    damping: {
      default: 1,
      low: 0.5,
      high: 1.5,
      extrapolate: [0, 3],
      about: 'N s/m and N m s/rad, of both joints',
    },
    startNoise: {
      default: 0.01,
      low: 0,
      high: 0.02,
      extrapolate: [0, 0.05],
      about: 'largest deviation of a start from rest',
    },
  },
  stateSize,
  maxSteps: 1000,
  reset({ state, context }, i, random) {
    physics.reset(state, i, context.startNoise[i], random)
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const { gravity, gear, damping } = physics.constants()
    gravity[2] = -context.gravity[i]
    gear[0] = context.force[i]
    damping.fill(context.damping[i])
    physics.step(state, i, actions, frames)
    const at = i * stateSize
    let isOver = Math.abs(state[at + 1]) > 0.2
    for (let k = 0; k < 2 * joints; k++) if (!Number.isFinite(state[at + k])) isOver = true
    rewards[i] = isOver ? 0 : 1
    terminated[i] = isOver ? 1 : 0
  },
  observe({ state, observations }, i) {
    for (let k = 0; k < 2 * joints; k++) observations[i * 2 * joints + k] = state[i * stateSize + k]
  },
  draw({ state }, i) {
    const [x, angle] = state.subarray(i * stateSize, (i + 1) * stateSize)
    const tip = [x + 0.6 * Math.sin(angle), 0.6 * Math.cos(angle)] as const
    return {
      view: [-1.3, -0.4, 2.6, 1.3],
      shapes: [
        {
          type: 'line',
          points: [
            [-1, 0],
            [1, 0],
          ],
          stroke: '#557',
          width: 0.04,
        },
        { type: 'rectangle', x: x - 0.2, y: -0.1, width: 0.4, height: 0.2, fill: '#b2b200' },
        { type: 'line', points: [[x, 0], tip], stroke: '#00b3b3', width: 0.098 },
      ],
    }
  },
})
