import { expect, test } from 'vitest'
import { cartPole } from '../environments/control/cart-pole.ts'
import { pendulum } from '../environments/control/pendulum.ts'
import { defineEnvironment } from './definition.ts'
import { numpyEnvStream } from './environment-random.ts'
import { createEnvironment } from './environment.ts'
import { box, discrete, multiDiscrete } from './space.ts'
import { createVectorEnvironment } from './vector.ts'

/** Counts up by the action; ends at `goal`. State: the count. */
const counter = defineEnvironment({
  name: 'counter',
  observation: discrete(100),
  action: discrete(3),
  context: { goal: { default: 5, low: 3, high: 9, integer: true, about: 'count of the end' } },
  stateSize: 1,
  maxSteps: 6,
  reset({ state }, i, random) {
    state[i] = random.integers(2)
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    state[i] += actions[i]
    rewards[i] = random.random()
    terminated[i] = state[i] >= context.goal[i] ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
  mask({ state, actionMask }, i) {
    for (let a = 0; a < 3; a++) actionMask[i * 3 + a] = a < 2 || state[i] < 3 ? 1 : 0
  },
})

const plane = defineEnvironment({
  name: 'plane',
  observation: box([2], -9, 9, 'float64'),
  action: box([2], -1, 1),
  context: {},
  stateSize: 2,
  reset({ state }, i, random) {
    state[i * 2] = random.uniform(-1, 1)
    state[i * 2 + 1] = random.uniform(-1, 1)
  },
  step({ state, actions, rewards, terminated }, i) {
    for (let k = i * 2; k < i * 2 + 2; k++) state[k] += actions[k]
    rewards[i] = 0
    terminated[i] = 0
  },
  observe({ state, observations }, i) {
    for (let k = i * 2; k < i * 2 + 2; k++) observations[k] = state[k]
  },
})

test('a seed restarts the random stream; a reset without a seed continues it', () => {
  const env = createEnvironment(plane)
  const first = env.reset({ seed: 3 })
  const second = env.reset()
  expect(second).not.toEqual(first)
  expect(env.reset({ seed: 3 })).toEqual(first)
  expect(env.reset()).toEqual(second)
  const other = createEnvironment(plane, { seed: 3 })
  expect(other.reset()).toEqual(first)
})

test('a single environment equals environment 0 of a vector with the same seed, also with NumPy’s seeding', () => {
  for (const seeding of ['fast', 'numpy'] as const) {
    const env = createEnvironment(counter, { seeding })
    const vector = createVectorEnvironment(counter, {
      numEnvs: 2,
      autoreset: 'disabled',
      ...(seeding === 'numpy' ? { stream: numpyEnvStream } : {}),
    })
    vector.reset({ seed: 5 })
    expect(env.reset({ seed: 5 }).observation).toBe(vector.observations[0])
    for (let t = 0; t < 3; t++) {
      vector.actions.fill(1)
      vector.step()
      const { observation, reward } = env.step(1)
      expect([observation, reward]).toEqual([vector.observations[0], vector.rewards[0]])
    }
  }
})

test('terminated and truncated are separate and may both be true', () => {
  const env = createEnvironment(counter, { maxSteps: 2 })
  const run = (...actions: number[]) => {
    env.reset({ options: { state: [1] } })
    return actions.map((action) => env.step(action))
  }
  expect(run(0, 0).map(({ terminated, truncated }) => [terminated, truncated])).toEqual([
    [false, false],
    [false, true],
  ])
  expect(run(2, 2).map(({ terminated, truncated }) => [terminated, truncated])).toEqual([
    [false, false],
    [true, true],
  ])
  const last = run(0, 1)[1]
  expect(last.info).toMatchObject({ length: 2 })
  expect(last.info.return).toBeCloseTo(env.vector.returns[0], 12)
})

test('observations and masks are fresh copies: numbers for discrete spaces, typed arrays for others', () => {
  const env = createEnvironment(plane)
  const { observation } = env.reset()
  expect(observation).toBeInstanceOf(Float64Array)
  const saved = [...(observation as Float64Array)]
  const next = env.step([1, 1]).observation
  expect([...(observation as Float64Array)]).toEqual(saved)
  ;(next as Float64Array).fill(0)
  expect(env.step([0, 0]).observation).not.toEqual(new Float64Array(2))
  const counting = createEnvironment(counter)
  const { observation: count, info } = counting.reset()
  expect(typeof count).toBe('number')
  expect(info.actionMask).toEqual(Uint8Array.of(1, 1, 1))
  expect(counting.actionMask?.()).toEqual(Uint8Array.of(1, 1, 1))
})

test('a context of a reset applies to one episode; the context of the options applies to the others', () => {
  const env = createEnvironment(counter, { context: { goal: 3 } })
  const end = (context?: { goal: number }) => {
    env.reset({ options: { state: [1] }, ...(context === undefined ? {} : { context }) })
    return env.step(2).terminated
  }
  expect([end(), end({ goal: 4 }), end()]).toEqual([true, false, true])
})

test('state and restore resume exactly', () => {
  const env = createEnvironment(counter)
  env.reset({ seed: 1 })
  env.step(1)
  const state = structuredClone(env.state())
  const rest = [env.step(1), env.reset(), env.step(0)]
  const other = createEnvironment(counter)
  other.restore(state)
  expect([other.step(1), other.reset(), other.step(0)]).toEqual(rest)
})

test('invalid calls throw typed errors that name the environment', () => {
  const env = createEnvironment(counter)
  expect(() => env.step(0)).toThrow('counter was stepped before it was reset')
  env.reset()
  expect(() => env.step(3)).toThrow('counter, step 1: action is 3, expected an integer from 0 to 2')
  expect(() => env.step([1])).toThrow('counter, step 1: action is a list of 1')
  expect(() => env.reset({ context: { gaol: 1 } })).toThrow('counter has no context feature gaol')
  expect(() => env.reset({ context: { goal: NaN } })).toThrow('goal of counter is NaN')
  expect(() => env.reset({ options: { state: [1, 2] } })).toThrow('options.state is not a state of counter')
  env.reset({ options: { state: [4] } })
  env.step(1)
  expect(() => env.step(1)).toThrow('has ended')
  const flat = createEnvironment(plane)
  flat.reset()
  expect(() => flat.step([1])).toThrow('plane, step 1: action is a list of 1, expected a flat array of 2')
  expect(() => flat.step([1, NaN])).toThrow('plane, step 1: action[1] is NaN')
  const several = createEnvironment({ ...plane, action: multiDiscrete([2, 3]) })
  several.reset()
  several.step([0, 2])
  expect(() => several.step([0, 3])).toThrow('plane, step 2: action[1] is 3')
})

test('a state of another environment or of a smaller vector is refused, and nothing is written', () => {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 3, seed: 1 })
  environment.reset()
  const before = environment.state()
  for (const other of [
    createVectorEnvironment(pendulum, { numEnvs: 3 }),
    createVectorEnvironment(cartPole, { numEnvs: 2 }),
  ]) {
    other.reset()
    expect(() => environment.restore(other.state())).toThrow(
      expect.objectContaining({
        code: 'checkpoint-mismatch',
        message: expect.stringMatching(/does not fit cartpole: \w+ has another size/),
      }),
    )
  }
  const { state: _, ...missing } = before.arrays
  expect(() => environment.restore({ ...before, arrays: missing })).toThrow(/state has another size/)
  expect(environment.state()).toEqual(before)
})

test('a vector refuses contexts with unknown names or invalid numbers', () => {
  const withContext = (context: Record<string, number>) => () =>
    createVectorEnvironment(cartPole, { numEnvs: 1, contextFor: () => context }).reset()
  expect(withContext({ gravity: 4 })).not.toThrow()
  expect(withContext({ gravty: 4 })).toThrow(/cartpole has no context feature gravty/)
  expect(withContext({ gravity: NaN })).toThrow(/the context feature gravity of cartpole is NaN/)
})
