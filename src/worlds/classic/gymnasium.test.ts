import { expect, test } from 'vitest'
import { createVectorEnvironment, numpyStream } from '../../environment/index.ts'
import type { Slots, World } from '../../environment/index.ts'
import { readGolden, slotsOf, unpackDoubles, unpackFloats } from '../fixtures/golden.ts'
import { acrobot, cartPole, mountainCar, mountainCarContinuous, pendulum } from './index.ts'

interface Steps {
  count: number
  seed: number
  bounds: number[]
  actions: number
  ranges: [number, number][]
  states: string
  rewards: string
  terminated: string
}
interface Trajectory {
  seed: number
  first: string
  firstObservation: string
  actions: string
  states: string
  rewards: string
  terminated: string
  lastObservation: string
}
type Golden = Record<string, { steps: Steps; contextSteps: Steps; trajectories: Trajectory[] }>

const golden = readGolden('classic') as Golden
const worlds: World[] = [cartPole, acrobot, mountainCar, mountainCarContinuous, pendulum]

/** The largest difference to the reference over one step from each of its random states. */
function stepError(world: World, steps: Steps): { state: number; reward: number; ends: string } {
  const width = steps.bounds.length
  const states = unpackDoubles(steps.states)
  const rewards = unpackDoubles(steps.rewards)
  const random = numpyStream(steps.seed)
  const slots = slotsOf(world)
  const error = { state: 0, reward: 0, ends: '' }
  for (let n = 0; n < steps.count; n++) {
    if (n % 8 === 0) steps.ranges.forEach(([low, high], k) => (slots.context[k] = random.uniform(low, high)))
    for (let k = 0; k < width; k++) slots.state[k] = random.uniform(-steps.bounds[k], steps.bounds[k])
    if (world.name.startsWith('mountain-car')) slots.state[0] = Math.max(Math.min(slots.state[0], 0.6), -1.2)
    if (world === mountainCarContinuous) {
      for (let k = 0; k < 2; k++) slots.state[k] = Math.fround(slots.state[k])
      slots.state[2] = 0
    }
    slots.actions[0] =
      world.action.type === 'discrete'
        ? random.integers(steps.actions)
        : random.uniform(-steps.actions, steps.actions)
    world.step(slots, 0, random)
    for (let k = 0; k < width; k++)
      error.state = Math.max(error.state, Math.abs(slots.state[k] - states[n * width + k]))
    error.reward = Math.max(error.reward, Math.abs(slots.rewards[0] - rewards[n]))
    error.ends += slots.terminated[0]
  }
  return error
}

const distance = (a: ArrayLike<number>, b: ArrayLike<number>, from = 0): number =>
  Array.from(b).reduce<number>((most, value, k) => Math.max(most, Math.abs(a[from + k] - value)), 0)

for (const world of worlds) {
  const { steps, contextSteps, trajectories } = golden[world.name]

  test(`${world.name}: one step from random states is Gymnasium's`, () => {
    const error = stepError(world, steps)
    expect(error.state).toBeLessThan(1e-12)
    expect(error.reward).toBeLessThan(1e-12)
    expect(error.ends).toBe(steps.terminated)
  })

  test(`${world.name}: contexts act by the value of the closed form`, () => {
    const error = stepError(world, contextSteps)
    expect(error.state).toBeLessThan(1e-12)
    // Gymnasium has no goal height and adds no lengths for the acrobot, so its ends do not follow the context.
    if (world === acrobot) return
    expect(error.reward).toBeLessThan(1e-12)
    expect(error.ends).toBe(contextSteps.terminated)
  })

  test.each(trajectories)(`${world.name}: 200 steps from reset(seed: $seed)`, (trajectory) => {
    const random = numpyStream(trajectory.seed)
    const slots = slotsOf(world)
    const width = steps.bounds.length
    const states = unpackDoubles(trajectory.states)
    const rewards = unpackDoubles(trajectory.rewards)
    const actions =
      world.action.type === 'discrete'
        ? Array.from(trajectory.actions, Number)
        : unpackFloats(trajectory.actions)
    world.reset(slots, 0, random)
    world.observe(slots, 0)
    expect(Array.from(slots.state.subarray(0, width))).toEqual([...unpackDoubles(trajectory.first)])
    // The acrobot's first observation is made of single-precision sines in the reference.
    expect(distance(slots.observations, unpackFloats(trajectory.firstObservation))).toBeLessThan(
      world === acrobot ? 1e-7 : 1e-15,
    )
    let [stateError, rewardError, ends] = [0, 0, '']
    for (let t = 0; t < 200; t++) {
      slots.actions[0] = actions[t]
      world.step(slots, 0, random)
      world.observe(slots, 0)
      stateError = Math.max(stateError, distance(slots.state, states.subarray(t * width, (t + 1) * width)))
      rewardError = Math.max(rewardError, Math.abs(slots.rewards[0] - rewards[t]))
      ends += slots.terminated[0]
      if (slots.terminated[0] === 1) world.reset(slots, 0, random)
    }
    expect(stateError).toBeLessThan(1e-9)
    expect(rewardError).toBeLessThan(1e-9)
    expect(ends).toBe(trajectory.terminated)
    expect(distance(slots.observations, unpackFloats(trajectory.lastObservation))).toBeLessThan(1e-6)
  })
}

test('gold values of Gymnasium 1.3 from reset(seed: 42), as researched by hand', () => {
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

function play(world: World, actions: number[]): number[][] {
  const slots: Slots = slotsOf(world)
  const random = numpyStream(42)
  const row = (): number[] => [...slots.state.subarray(0, world.name.startsWith('mountain') ? 2 : undefined)]
  world.reset(slots, 0, random)
  const rows = [row()]
  for (const action of actions) {
    slots.actions[0] = action
    world.step(slots, 0, random)
    rows.push(row())
  }
  return rows
}

test.each(worlds)('$name: the slots of a vector environment do not touch each other', (world) => {
  const options = { seed: 3, maxSteps: 40 }
  const three = createVectorEnvironment(world, { ...options, slots: 3 })
  const one = createVectorEnvironment(world, { ...options, slots: 1 })
  three.reset()
  one.reset()
  for (let t = 0; t < 100; t++) {
    const action = t % 2
    three.actions.fill(1 - action)
    three.actions[0] = action
    one.actions[0] = action
    three.step()
    one.step()
    expect(three.slots.state.slice(0, world.stateSize)).toEqual(one.slots.state)
    expect(three.observations.slice(0, one.observations.length)).toEqual(one.observations)
  }
})
