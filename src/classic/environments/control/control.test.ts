import { expect, test } from 'vitest'
import {
  createVectorEnvironment,
  type EnvArrays,
  type EnvironmentDefinition,
  numpyEnvStream,
  numpyStream,
} from '../../environment/index.ts'
import { arraysOf, readGolden, unpackDoubles, unpackFloats, unpackRounded } from '../testing/golden.ts'
import { acrobot } from './acrobot.ts'
import { cartPole, cartPolePositions } from './cart-pole.ts'
import { mountainCarContinuous, mountainCar } from './mountain-car.ts'
import { pendulum } from './pendulum.ts'

interface Steps {
  count: number
  seed: number
  bounds: number[]
  actions: number
  ranges: [number, number][]
  states: string
  rewards: string
  terminated: string
  /** Steps in which the C library of the reference misrounds the square of Pendulum's torque, in single precision. */
  misrounded: number[]
}
interface Trajectory {
  seed: number
  first: string
  firstObservation: string
  actions: string
  states: string
  rewards: string
  terminated: string
  truncated: string
  lastObservation: string
}
type Golden = Record<
  string,
  { maxSteps: number; limit: number; steps: Steps; contextSteps: Steps; trajectories: Trajectory[] }
>

const golden = readGolden('classic') as Golden
const definitions: EnvironmentDefinition[] = [cartPole, acrobot, mountainCar, mountainCarContinuous, pendulum]

/** The largest difference to the reference over one step from each of its random states. */
function stepError(
  definition: EnvironmentDefinition,
  steps: Steps,
): {
  state: number
  reward: number
  misrounded: number
  ends: string
} {
  const width = steps.bounds.length
  const states = unpackRounded(steps.states)
  const rewards = unpackRounded(steps.rewards)
  const random = numpyStream(steps.seed)
  const envs = arraysOf(definition)
  const columns = Object.values(envs.context)
  const error = { state: 0, reward: 0, misrounded: 0, ends: '' }
  for (let n = 0; n < steps.count; n++) {
    if (n % 8 === 0) steps.ranges.forEach(([low, high], k) => (columns[k][0] = random.uniform(low, high)))
    for (let k = 0; k < width; k++) envs.state[k] = random.uniform(-steps.bounds[k], steps.bounds[k])
    if (definition.name.startsWith('mountain-car'))
      envs.state[0] = Math.max(Math.min(envs.state[0], 0.6), -1.2)
    if (definition === mountainCarContinuous) {
      for (let k = 0; k < 2; k++) envs.state[k] = Math.fround(envs.state[k])
      envs.state[2] = 0
    }
    envs.actions[0] =
      definition.action.type === 'discrete'
        ? random.integers(steps.actions)
        : random.uniform(-steps.actions, steps.actions)
    definition.step(envs, 0, random)
    for (let k = 0; k < width; k++)
      error.state = Math.max(error.state, Math.abs(envs.state[k] - states[n * width + k]))
    const rewardError = Math.abs(envs.rewards[0] - rewards[n])
    if (steps.misrounded.includes(n)) error.misrounded = Math.max(error.misrounded, rewardError)
    else error.reward = Math.max(error.reward, rewardError)
    error.ends += envs.terminated[0]
  }
  return error
}

const distance = (a: ArrayLike<number>, b: ArrayLike<number>, from = 0): number =>
  Array.from(b).reduce<number>((most, value, k) => Math.max(most, Math.abs(a[from + k] - value)), 0)

for (const definition of definitions) {
  const { maxSteps, limit, steps, contextSteps, trajectories } = golden[definition.name]

  test(`${definition.name}: one step from random states equals Gymnasium's`, () => {
    const error = stepError(definition, steps)
    expect(error.state).toBeLessThan(1e-12)
    expect(error.reward).toBeLessThan(1e-12)
    // A thousandth of the last bit of a number below 4.
    expect(error.misrounded).toBeLessThan(2.5e-10)
    expect(steps.misrounded.length).toBeLessThan(steps.count / 500)
    expect(error.ends).toBe(steps.terminated)
  })

  test(`${definition.name}: effects of contexts equal the closed form`, () => {
    const error = stepError(definition, contextSteps)
    expect(error.state).toBeLessThan(1e-12)
    // Gymnasium has no goal height and adds no lengths for the acrobot, so its ends do not follow the context.
    if (definition === acrobot) return
    expect(error.reward).toBeLessThan(1e-12)
    expect(error.ends).toBe(contextSteps.terminated)
  })

  test.each(trajectories)(
    `${definition.name}: 200 steps from reset(seed: $seed) equal Gymnasium's`,
    (trajectory) => {
      const { seed } = trajectory
      const vector = createVectorEnvironment(definition, {
        numEnvs: 1,
        seed,
        stream: numpyEnvStream,
        autoreset: 'disabled',
        maxSteps: limit,
      })
      const { envs } = vector
      const width = steps.bounds.length
      const states = unpackRounded(trajectory.states)
      const rewards = unpackRounded(trajectory.rewards)
      const actions =
        definition.action.type === 'discrete'
          ? Array.from(trajectory.actions, Number)
          : unpackFloats(trajectory.actions)
      vector.reset()
      expect(Array.from(envs.state.subarray(0, width))).toEqual([...unpackDoubles(trajectory.first)])
      // The acrobot's first observation is made of single-precision sines in the reference.
      expect(distance(vector.observations, unpackFloats(trajectory.firstObservation))).toBeLessThan(
        definition === acrobot ? 1e-7 : 1e-15,
      )
      let [stateError, rewardError, row] = [0, 0, 0]
      let [terminated, truncated] = ['', '']
      for (let t = 0; t < 200; t++) {
        vector.actions[0] = actions[t]
        vector.step()
        const over = vector.terminated[0] === 1 || vector.truncated[0] === 1
        if (t % 10 === 9 || over) {
          const expected = states.subarray(row * width, ++row * width)
          stateError = Math.max(stateError, distance(envs.state, expected))
        }
        rewardError = Math.max(rewardError, Math.abs(vector.rewards[0] - rewards[t]))
        terminated += vector.terminated[0]
        truncated += vector.truncated[0]
        if (over && t < 199) vector.reset()
      }
      expect(row * width).toBe(states.length)
      expect(stateError).toBeLessThan(1e-9)
      expect(rewardError).toBeLessThan(1e-9)
      expect(terminated).toBe(trajectory.terminated)
      expect(truncated).toBe(trajectory.truncated)
      expect(distance(vector.observations, unpackFloats(trajectory.lastObservation))).toBeLessThan(1e-6)
    },
  )

  test(`${definition.name}: the time limit equals Gymnasium's, and the compared episodes reach their ends`, () => {
    expect(definition.maxSteps).toBe(maxSteps)
    const all = (end: 'terminated' | 'truncated'): string => trajectories.map((one) => one[end]).join('')
    expect(all('truncated')).toContain('1')
    expect(all('terminated').includes('1')).toBe(definition !== pendulum)
    expect(steps.count).toBeGreaterThanOrEqual(2000)
    expect(steps.terminated.includes('1')).toBe(definition !== pendulum)
  })
}

test('values from reset(seed: 42) equal those recorded by hand from Gymnasium 1.3', () => {
  expect(play(cartPole, [1, 0, 1])).toEqual([
    [0.027395604855596334, -0.006112156024794771, 0.03585979199113824, 0.019736802905936393],
    [0.02727336173510044, 0.18847766618842926, 0.03625452804925697, -0.26141976017845603],
    [0.031042915058869025, -0.007142550327267516, 0.031026132845687848, 0.04247424107791564],
    [0.030900064052323675, 0.18752107397406803, 0.03187561766724616, -0.2402604465166686],
  ])
  expect(play(mountainCar, [0, 2])).toEqual([
    [-0.44520879028880733, 0],
    [-0.4467913109556239, -0.0015825206668165508],
    [-0.44794480355733707, -0.0011534926017131518],
  ])
  expect(play(mountainCarContinuous, [0.5, -1.5, 1]).slice(1)).toEqual([
    [-0.445041298866272, 0.0001674793311394751],
    [-0.4469575583934784, -0.0019162630196660757],
    [-0.4479435682296753, -0.0009860210120677948],
  ])
})

function play(definition: EnvironmentDefinition, actions: number[]): number[][] {
  const envs: EnvArrays = arraysOf(definition)
  const random = numpyStream(42)
  const row = (): number[] => [
    ...envs.state.subarray(0, definition.name.startsWith('mountain') ? 2 : undefined),
  ]
  definition.reset(envs, 0, random)
  const rows = [row()]
  for (const action of actions) {
    envs.actions[0] = action
    definition.step(envs, 0, random)
    rows.push(row())
  }
  return rows
}

test.each(definitions)('$name: environments of a vector are independent', (definition) => {
  const options = { seed: 3, maxSteps: 40 }
  const three = createVectorEnvironment(definition, { ...options, numEnvs: 3 })
  const one = createVectorEnvironment(definition, { ...options, numEnvs: 1 })
  three.reset()
  one.reset()
  for (let t = 0; t < 100; t++) {
    const action = t % 2
    three.actions.fill(1 - action)
    three.actions[0] = action
    one.actions[0] = action
    three.step()
    one.step()
    expect(three.envs.state.slice(0, definition.stateSize)).toEqual(one.envs.state)
    expect(three.observations.slice(0, one.observations.length)).toEqual(one.observations)
  }
})

test('the acrobot ends when the tip is above the goal, which scales with both links', () => {
  const envs = arraysOf(acrobot, 1, { length2: 0.5 })
  const reach = (angle1: number, angle2: number): number => {
    envs.state.set([angle1, angle2, 0, 0])
    envs.actions[0] = 1
    acrobot.step(envs, 0, { random: () => 0, uniform: () => 0, integers: () => 0, normal: () => 0 })
    return envs.terminated[0]
  }
  // Upright, the tip is at 1.5 m; folded back it is at 0.5 m; the goal is at 0.75 m.
  expect(reach(Math.PI, 0)).toBe(1)
  expect(envs.rewards[0]).toBe(0)
  expect(reach(Math.PI, Math.PI)).toBe(0)
  expect(envs.rewards[0]).toBe(-1)
})

test('the cart-pole without velocities has the same dynamics and shows positions only', () => {
  const envs = arraysOf(cartPolePositions)
  envs.state.set([0.1, 0.2, 0.03, -0.4])
  cartPolePositions.observe(envs, 0)
  expect([...envs.observations]).toEqual([Math.fround(0.1), Math.fround(0.03)])
  expect(cartPolePositions.step).toBe(cartPole.step)
})

test('drawings depend on the context', () => {
  for (const definition of [acrobot, cartPole, mountainCar, mountainCarContinuous, pendulum]) {
    const envs = arraysOf(definition)
    const drawing = definition.draw?.(envs, 0)
    expect(drawing?.shapes.length).toBeGreaterThan(1)
    expect(JSON.stringify(drawing)).not.toMatch(/null|NaN/)
  }
  const long = arraysOf(pendulum, 1, { length: 2 })
  expect(pendulum.draw?.(long, 0).shapes[0]).toMatchObject({
    points: [
      [0, 0],
      [-0, 2],
    ],
  })
})
