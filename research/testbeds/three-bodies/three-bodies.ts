import { defineEnvironment, discrete } from 'agoge/classic'

/** Time between two choices. */
const interval = 0.1
/** Choice k integrates the interval in 2^k steps of leapfrog. */
export const choices = 8
const finest = 2 ** (choices - 1)
/** A state is how close the closest two are, in thirds of octaves, and how fast they approach, in octaves. */
export const [levels, speeds] = [18, 6]
/** The energy error in an interval that costs as much as the finest choice, and the most that an error costs. */
const [badError, mostLoss] = [1e-3, 2]
const bodies = [0, 1, 2].flatMap((i) => [0, 1, 2].filter((j) => j < i).map((j) => [2 * i, 2 * j] as const))
const pull = new Float64Array(6)

const distanceOf = (dx: number, dy: number): number => Math.sqrt(dx * dx + dy * dy + 1e-4)

/** Writes the accelerations of three bodies of mass 1 in the plane; returns their potential energy. */
function attract(state: Float64Array, s: number): number {
  pull.fill(0)
  let potential = 0
  for (const [i, j] of bodies) {
    const dx = state[s + j] - state[s + i]
    const dy = state[s + j + 1] - state[s + i + 1]
    const distance = distanceOf(dx, dy)
    const strength = 1 / (distance * distance * distance)
    potential -= 1 / distance
    pull[i] += strength * dx
    pull[i + 1] += strength * dy
    pull[j] -= strength * dx
    pull[j + 1] -= strength * dy
  }
  return potential
}

function energy(state: Float64Array, s: number): number {
  let sum = attract(state, s)
  for (let k = s + 6; k < s + 12; k++) sum += state[k] ** 2 / 2
  return sum
}

const advanced = new Float64Array(12)

/** Leapfrog over the interval in this many steps. */
function integrate(state: Float64Array, s: number, steps: number): void {
  const dt = interval / steps
  attract(state, s)
  for (let step = 0; step < steps; step++) {
    for (let k = s; k < s + 6; k++) {
      state[k + 6] += (dt / 2) * pull[k - s]
      state[k] += dt * state[k + 6]
    }
    attract(state, s)
    for (let k = 0; k < 6; k++) state[s + 6 + k] += (dt / 2) * pull[k]
  }
}

/**
 * Three bodies that fall towards each other from rest. State: positions [6], velocities [6]. The reward is what the choice costs in
 * errors of energy and evaluations of forces. Each interval begins where the finest choice gets to: otherwise a bad error could throw the
 * bodies apart, after which nothing is left to compute, and no two policies would see the same states.
 */
export const threeBodies = defineEnvironment({
  name: 'three-bodies',
  observation: discrete(levels * speeds),
  action: discrete(choices),
  context: {},
  stateSize: 12,
  maxSteps: 100,
  reset({ state }, i, random) {
    for (let k = 0; k < 12; k++) state[i * 12 + k] = k < 6 ? random.uniform(-1, 1) : 0
  },
  step({ state, actions, rewards, terminated }, i) {
    const s = i * 12
    const steps = 2 ** actions[i]
    for (let k = 0; k < 12; k++) advanced[k] = state[s + k]
    integrate(advanced, 0, steps)
    const error = Math.abs(energy(advanced, 0) - energy(state, s))
    integrate(state, s, finest)
    rewards[i] = -Math.min(mostLoss, error / badError) - steps / finest
    terminated[i] = 0
  },
  observe({ state, observations }, envIndex) {
    const s = envIndex * 12
    let [least, closing] = [Infinity, 0]
    for (const [i, j] of bodies) {
      const [dx, dy] = [state[s + j] - state[s + i], state[s + j + 1] - state[s + i + 1]]
      const distance = distanceOf(dx, dy)
      if (distance >= least) continue
      const [du, dv] = [state[s + j + 6] - state[s + i + 6], state[s + j + 7] - state[s + i + 7]]
      least = distance
      closing = -(dx * du + dy * dv) / distance
    }
    const level = Math.max(0, Math.min(levels - 1, Math.floor(3 * Math.log2(2 / least))))
    const speed = closing < 0.5 ? 0 : Math.min(speeds - 1, Math.floor(Math.log2(closing)) + 2)
    observations[envIndex] = level + levels * speed
  },
})
