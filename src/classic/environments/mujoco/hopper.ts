import { box, defineEnvironment } from '../../environment/index.ts'
import { definePhysics, loadMujoco } from './physics.ts'

/** Torso, thigh, leg and foot of a one-legged robot in a plane. The numbers are those of Gymnasium's `hopper.xml` (MIT licence). */
export const hopperModel = `
<mujoco model="hopper">
  <compiler angle="degree" inertiafromgeom="true"/>
  <size memory="1M"/>
  <option integrator="RK4" timestep="0.002"/>
  <default>
    <joint type="hinge" axis="0 -1 0" limited="true" damping="1" armature="1"/>
    <geom type="capsule" contype="1" conaffinity="1" condim="1" margin="0.001" friction="0.9" solref="0.02 1" solimp="0.8 0.8 0.01"/>
    <motor gear="200" ctrllimited="true" ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" condim="3" friction="1" size="20 20 0.125"/>
    <body name="torso" pos="0 0 1.25">
      <joint name="x" type="slide" axis="1 0 0" pos="0 0 -1.25" limited="false" damping="0" armature="0"/>
      <joint name="z" type="slide" axis="0 0 1" pos="0 0 -1.25" ref="1.25" limited="false" damping="0" armature="0"/>
      <joint name="pitch" axis="0 1 0" limited="false" damping="0" armature="0"/>
      <geom name="torso" size="0.05 0.2"/>
      <body name="thigh" pos="0 0 -0.2">
        <joint name="hip" range="-150 0"/>
        <geom name="thigh" pos="0 0 -0.225" size="0.05 0.225"/>
        <body name="leg" pos="0 0 -0.7">
          <joint name="knee" pos="0 0 0.25" range="-150 0"/>
          <geom name="leg" size="0.04 0.25"/>
          <body name="foot" pos="0.13 0 -0.35">
            <joint name="ankle" pos="-0.13 0 0.1" range="-45 45"/>
            <geom name="foot" pos="-0.065 0 0.1" quat="1 0 -1 0" size="0.06 0.195" friction="2"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="hip"/>
    <motor joint="knee"/>
    <motor joint="ankle"/>
  </actuator>
</mujoco>`

/** Position forwards m, height of the torso m, and angles rad: pitch, hip, knee, ankle. */
const joints = 6
const motors = 3
const physics = definePhysics({ name: 'hopper', xml: hopperModel, joints })
const { stateSize } = physics
/** All but the position forwards. */
const width = 2 * joints - 1
/** Where the sliding friction of the foot stands: geoms are floor, torso, thigh, leg, foot. */
const footFriction = 4 * 3

/** Time steps of 0.002 s for each action. */
const frames = 4
const seconds = frames * 0.002
const { fround } = Math

/** Whether the robot stands: nothing moves or turns by 100 or more, and the torso is high and upright. */
function isHealthy(state: Float64Array, at: number): boolean {
  // Written so that it is false for NaN.
  for (let k = 2; k < 2 * joints; k++) if (!(Math.abs(state[at + k]) < 100)) return false
  return state[at + 1] > 0.7 && Math.abs(state[at + 2]) < 0.2
}

/**
 * Hop forwards on one leg, with MuJoCo's physics. Agrees step for step with Gymnasium 1.3's Hopper-v5. Actions: torques of hip,
 * knee and ankle in [-1, 1], clipped, times `torque`; they act for 0.008 s. Observation [11]: height of the torso, angles of torso, hip, knee and
 * ankle, then the velocities of all and of the way forwards, clipped to [-10, 10]. Reward: the speed forwards in m/s, plus 1 while
 * healthy, less `controlCost` times the sum of the squared actions. The episode ends when the torso is lower than 0.7 m or leans by
 * 0.2 rad, or is truncated after 1000 steps. Needs the package `@mujoco/mujoco` (see `loadMujoco`).
 */
export const hopper = defineEnvironment({
  name: 'hopper',
  load: () => loadMujoco(),
  observation: box([width], -Infinity, Infinity),
  action: box([motors], -1, 1),
  context: {
    gravity: { default: 9.81, low: 7, high: 12, extrapolate: [4, 16], about: 'm/s^2' },
    torque: { default: 200, low: 150, high: 250, extrapolate: [100, 300], about: 'N m, of an action of 1' },
    friction: {
      default: 2,
      low: 1.5,
      high: 2.5,
      extrapolate: [1, 4],
      about: 'coefficient of friction of the foot',
    },
    controlCost: {
      default: 0.001,
      low: 0,
      high: 0.005,
      extrapolate: [0, 0.05],
      about: 'weight of the squared actions',
    },
    startNoise: {
      default: 0.005,
      low: 0,
      high: 0.01,
      extrapolate: [0, 0.02],
      about: 'largest deviation of a start from rest',
    },
  },
  stateSize,
  maxSteps: 1000,
  reset({ state, context }, i, random) {
    physics.reset(state, i, context.startNoise[i], random)
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const { gravity, gear, friction } = physics.constants()
    gravity[2] = -context.gravity[i]
    friction[footFriction] = context.friction[i]
    let effort = 0
    for (let k = 0; k < motors; k++) {
      gear[k * 6] = context.torque[i]
      effort = fround(effort + fround(actions[i * motors + k] ** 2))
    }
    const at = i * stateSize
    const before = state[at]
    physics.step(state, i, actions, frames)
    const healthy = isHealthy(state, at)
    // In the reference, what depends on actions alone is in single precision.
    const cost = fround(fround(context.controlCost[i]) * effort)
    rewards[i] = (state[at] - before) / seconds + (healthy ? 1 : 0) - cost
    terminated[i] = healthy ? 0 : 1
  },
  observe({ state, observations }, i) {
    const at = i * stateSize
    const row = i * width
    for (let k = 1; k < joints; k++) observations[row + k - 1] = state[at + k]
    for (let k = joints; k < 2 * joints; k++)
      observations[row + k - 1] = Math.min(Math.max(state[at + k], -10), 10)
  },
  draw({ state }, i) {
    const [x, z, pitch, hip, knee, ankle] = state.subarray(i * stateSize, (i + 1) * stateSize)
    type Point = readonly [number, number]
    const from = ([px, pz]: Point, angle: number, [dx, dz]: Point): Point => [
      px + dx * Math.cos(angle) + dz * Math.sin(angle),
      pz - dx * Math.sin(angle) + dz * Math.cos(angle),
    ]
    const top = from([x, z], pitch, [0, 0.2])
    const atHip = from([x, z], pitch, [0, -0.2])
    const atKnee = from(atHip, pitch - hip, [0, -0.45])
    const atAnkle = from(atKnee, pitch - hip - knee, [0, -0.5])
    const sole = pitch - hip - knee - ankle
    const foot = [from(atAnkle, sole, [-0.13, 0]), from(atAnkle, sole, [0.26, 0])]
    return {
      view: [x - 1.5, -0.2, 3, 2],
      shapes: [
        { type: 'rectangle', x: x - 1.5, y: -0.2, width: 3, height: 0.2, fill: '#cdd6dd' },
        { type: 'line', points: foot, stroke: '#8a5a2b', width: 0.12 },
        { type: 'line', points: [atKnee, atAnkle], stroke: '#b07a45', width: 0.08 },
        { type: 'line', points: [atHip, atKnee], stroke: '#c99360', width: 0.1 },
        { type: 'line', points: [top, atHip], stroke: '#a33', width: 0.1 },
        { type: 'text', x: x - 1.45, y: 1.65, text: `${x.toFixed(2)} m`, size: 0.1 },
      ],
    }
  },
})
