import createMujoco from '@mujoco/mujoco'
import { beforeAll, expect, test, vi } from 'vitest'
import {
  checkEnvironment,
  createEnvironment,
  type EnvironmentDefinition,
  numpyStream,
  rowSize,
} from '../../environment/index.ts'
import { arraysOf, readGolden, unpackBytes, unpackDoubles, unpackFloats } from '../testing/golden.ts'
import { hopper, hopperModel } from './hopper.ts'
import { invertedPendulum, invertedPendulumModel } from './inverted-pendulum.ts'
import { loadMujoco } from './physics.ts'

interface Steps {
  count: number
  features: string[]
  contexts: string
  starts: number[]
  startStates: string
  after: string
  actions: string
  rewards: string
  ends: string
}

interface Episode {
  seed: number
  first: string
  actions: string
  rewards: string
  observations: string
  terminated: boolean
  truncated: boolean
}

interface Reference {
  model: { timestep: number; integrator: number; gravity: number[]; arrays: Record<string, number[]> }
  steps: Steps
  contextSteps: Steps
  episodes: Episode[]
}

const golden = readGolden('mujoco') as Record<string, Reference>
const models: Record<string, string> = { 'inverted-pendulum': invertedPendulumModel, hopper: hopperModel }
const environments: readonly EnvironmentDefinition[] = [invertedPendulum, hopper]
const named = environments.map((definition) => [definition.name, definition] as const)

beforeAll(() => loadMujoco())

test('without MuJoCo, errors say what to install and what to await', async () => {
  vi.resetModules()
  const { definePhysics, loadMujoco: load } = await import('./physics.ts')
  const physics = definePhysics({ name: 'hopper', xml: hopperModel, joints: 6 })
  const reset = (): void => physics.reset(new Float64Array(18), 0, 0, numpyStream(0))
  expect(reset).toThrow(expect.objectContaining({ code: 'not-loaded', expected: 'await loadMujoco() first' }))
  const failing = load(() => Promise.reject(new Error('Cannot find package')))
  await expect(failing).rejects.toMatchObject({
    code: 'missing-package',
    expected: 'npm i @mujoco/mujoco --ignore-scripts',
  })
  // A later call tries again.
  await load()
  expect(reset).not.toThrow()
})

/** The largest difference of two lists. */
function distance(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(found.length).toBe(expected.length)
  let most = 0
  for (let k = 0; k < found.length; k++) most = Math.max(most, Math.abs(found[k] - expected[k]))
  return most
}

test.each(named)('%s: MuJoCo compiles the model of the reference', async (name) => {
  const module = await createMujoco()
  const model = module.MjModel.from_xml_string(models[name]) as unknown as Record<string, never>
  const { timestep, integrator, gravity, arrays } = golden[name].model
  const { opt } = model as unknown as { opt: { timestep: number; integrator: number; gravity: Float64Array } }
  expect([opt.timestep, opt.integrator, [...opt.gravity]]).toEqual([timestep, integrator, gravity])
  for (const [key, expected] of Object.entries(arrays)) {
    const most = distance(model[key], expected)
    expect({ key, close: most < 1e-12 }).toEqual({ key, close: true })
  }
})

/** Plays the single steps of the reference. Returns the largest differences of states, relative to speeds of 1, and rewards. */
function replay(
  definition: EnvironmentDefinition,
  steps: Steps,
): { state: number; reward: number; ends: number } {
  const envs = arraysOf(definition)
  const size = definition.stateSize
  const width = rowSize(definition.action)
  const [contexts, after, rewards] = [steps.contexts, steps.after, steps.rewards].map(unpackDoubles)
  const states = unpackDoubles(steps.startStates)
  const actions = unpackFloats(steps.actions)
  const ends = unpackBytes(steps.ends)
  const worst = { state: 0, reward: 0, ends: 0 }
  for (let k = 0; k < steps.count; k++) {
    steps.features.forEach((feature, f) => {
      envs.context[feature][0] = contexts[Math.floor(k / 20) * steps.features.length + f]
    })
    const start = steps.starts.indexOf(k)
    envs.state.set(
      start < 0
        ? after.subarray((k - 1) * size, k * size)
        : states.subarray(start * size, (start + 1) * size),
    )
    envs.actions.set(actions.subarray(k * width, (k + 1) * width))
    definition.step(envs, 0, { random: never, uniform: never, integers: never, normal: never })
    for (let p = 0; p < size; p++) {
      const expected = after[k * size + p]
      worst.state = Math.max(
        worst.state,
        Math.abs(envs.state[p] - expected) / Math.max(1, Math.abs(expected)),
      )
    }
    worst.reward = Math.max(worst.reward, Math.abs(envs.rewards[0] - rewards[k]))
    if (envs.terminated[0] !== ends[k]) worst.ends++
  }
  return worst
}

function never(): never {
  throw new Error('a step draws no random numbers')
}

test.each(named)('%s: single steps equal those of the reference', (name, definition) => {
  for (const steps of [golden[name].steps, golden[name].contextSteps]) {
    const ends = unpackBytes(steps.ends)
    expect(ends).toContain(0)
    expect(ends).toContain(1)
    const { state, reward, ends: wrong } = replay(definition, steps)
    expect(wrong).toBe(0)
    expect(state).toBeLessThan(1e-11)
    expect(reward).toBeLessThan(1e-9)
  }
})

test.each(named)(
  '%s: episodes equal those of the reference, starts and ends included',
  (name, definition) => {
    for (const episode of golden[name].episodes) {
      const env = createEnvironment(definition, { seeding: 'numpy' })
      const width = rowSize(definition.action)
      const size = rowSize(definition.observation)
      const actions = unpackFloats(episode.actions)
      const [first, rewards, observations] = [episode.first, episode.rewards, episode.observations].map(
        unpackDoubles,
      )
      const start = env.reset({ seed: episode.seed }).observation as Float32Array
      expect(start).toEqual(Float32Array.from(first))
      const end = rewards.length - 1
      for (let t = 0; t <= end; t++) {
        const found = env.step([...actions.subarray(t * width, (t + 1) * width)])
        expect(found.reward).toBeCloseTo(rewards[t], 5)
        const isOver = [found.terminated, found.truncated]
        expect(isOver).toEqual(t === end ? [episode.terminated, episode.truncated] : [false, false])
        if (t % 10 > 0 && t < end) continue
        const at = t === end ? observations.length - size : (t / 10) * size
        const shown = found.observation as Float32Array
        expect(distance(shown, observations.subarray(at, at + size))).toBeLessThan(1e-5)
      }
    }
  },
)

test('episodes of the reference end in both ways', () => {
  for (const { episodes } of Object.values(golden))
    expect(new Set(episodes.map(({ terminated }) => terminated))).toEqual(new Set([true, false]))
})

test.each(named)('%s keeps the contract of environments', (_, definition) => {
  checkEnvironment(definition, { steps: 100, explore: 100 })
})
