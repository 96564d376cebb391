import { expect, test } from 'vitest'
import { defineEnvironment } from '../definition.ts'
import { box, discrete, rowSize } from '../space.ts'
import { counter, scripted, type Shown, wrapperGolden } from '../testing/definitions.ts'
import { type Autoreset, createVectorEnvironment, type VectorEnvironment } from '../vector.ts'
import { type ArrayEpisode, recordEpisodes, startAt, timeLimit } from './episodes.ts'
import { createRunningMeanStd, normaliseObservations, normaliseRewards } from './normalise.ts'
import {
  clipActions,
  clipObservations,
  clipRewards,
  frameStack,
  rescaleActions,
  transformActions,
  transformObservations,
  transformRewards,
} from './transform.ts'

const modes: Autoreset[] = ['same-step', 'next-step', 'disabled']
const { scalar, vector: batched, statistics } = wrapperGolden

/** The results of a vector of one, reset by reset and step by step, in any mode of autoreset. */
function shown(env: VectorEnvironment, rows: number): Shown[] {
  const out: Shown[] = []
  const begin = (): void => {
    out.push([[...env.observations], 0, false, false])
  }
  env.reset()
  begin()
  let over = false
  while (out.length < rows) {
    env.step()
    if (over && env.autoreset === 'next-step') {
      over = false
      begin()
      continue
    }
    over = env.terminated[0] + env.truncated[0] > 0
    const last = over ? env.finalObservations : env.observations
    out.push([[...last], env.rewards[0], env.terminated[0] === 1, env.truncated[0] === 1])
    if (!over || env.autoreset === 'next-step') continue
    if (env.autoreset === 'disabled') env.reset({ mask: Uint8Array.of(1) })
    begin()
  }
  return out.slice(0, rows)
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(expected.length)
  for (let k = 0; k < expected.length; k++)
    expect(Math.abs(actual[k] - expected[k])).toBeLessThanOrEqual(tolerance * (1 + Math.abs(expected[k])))
}

function expectShown(env: VectorEnvironment, expected: Shown[], tolerance: number): void {
  shown(env, expected.length).forEach(([observation, reward, terminated, truncated], t) => {
    expectClose(observation, expected[t][0], tolerance)
    expectClose([reward], [expected[t][1]], tolerance)
    expect([terminated, truncated]).toEqual([expected[t][2], expected[t][3]])
  })
}

test('running statistics equal those of Gymnasium', () => {
  const running = createRunningMeanStd(2)
  for (const { rows, mean, variance, count } of statistics) {
    running.update(rows)
    expectClose(running.mean, mean, 1e-13)
    expectClose(running.variance, variance, 1e-13)
    expect(running.count[0]).toBe(count)
  }
  const before = [...running.mean]
  running.freeze()
  running.update([1e6, 1e6])
  expect([...running.mean]).toEqual(before)
  running.freeze(false)
  running.update([1e6, 1e6, 5, 5], Uint8Array.of(0, 1))
  expect(running.mean[0]).toBeLessThan(10)
  expect(running.mean).not.toEqual(Float64Array.from(before))
})

test.each(modes)('a wrapped single environment equals Gymnasium’s: %s', (mode) => {
  // Gymnasium keeps these statistics in float32.
  expectShown(normaliseObservations(scripted(1, mode)), scalar.normaliseObservations, 5e-5)
  expectShown(frameStack(scripted(1, mode), 3), scalar.frameStack, 0)
  expectShown(frameStack(scripted(1, mode), 3, { padding: 'zero' }), scalar.frameStackZero, 0)
  expectShown(timeLimit(scripted(1, mode), 4), scalar.timeLimit, 0)
  // Gymnasium's reset does not change the return; ours restarts it at a manual reset.
  if (mode !== 'disabled')
    expectShown(normaliseRewards(scripted(1, mode), { gamma: 0.9 }), scalar.normaliseRewards, 1e-12)
})

test('a normalised vector equals Gymnasium’s', () => {
  const observations = normaliseObservations(scripted(3, 'next-step'))
  const rewards = normaliseRewards(scripted(3, 'next-step'), { gamma: 0.9 })
  observations.reset()
  rewards.reset()
  batched.normaliseObservations.forEach(([expected], t) => {
    if (t > 0) {
      observations.step()
      rewards.step()
    }
    expectClose(observations.observations, expected, 5e-5)
    // Gymnasium keeps the returns of vectors in float32.
    expectClose(rewards.rewards, batched.normaliseRewards[t][1], 1e-5)
  })
})

const numEnvs = 3

/** Plays by a rule over the newest frame, resetting by hand where nothing else does, and gives the first episodes. */
function episodesOf(
  mode: Autoreset,
  wrap: (env: VectorEnvironment) => VectorEnvironment,
  each = 8,
): ArrayEpisode[][] {
  const all: ArrayEpisode[][] = Array.from({ length: numEnvs }, () => [])
  const inner = createVectorEnvironment(counter, { numEnvs, autoreset: mode, maxSteps: 5 })
  const env = recordEpisodes(wrap(inner), (episode) => all[episode.envIndex].push(episode))
  env.reset({ seed: 4 })
  while (all.some((episodes) => episodes.length < each)) {
    for (let i = 0; i < numEnvs; i++)
      env.actions[i] = (inner.observations[i * 2] + inner.observations[i * 2 + 1]) % 3
    env.step()
    if (mode === 'disabled') env.reset({ mask: env.terminated.map((end, i) => end | env.truncated[i]) })
  }
  return all.map((episodes) => episodes.slice(0, each))
}

const chains: Record<string, (env: VectorEnvironment) => VectorEnvironment> = {
  nothing: (env) => env,
  frameStack: (env) => frameStack(env, 3),
  'a limit outside of a stack': (env) => timeLimit(frameStack(env, 2), 3),
  'a limit inside of a stack': (env) => frameStack(timeLimit(env, 3), 2),
  'frozen statistics, clipped': (env) => {
    const normalised = normaliseObservations(env)
    normalised.observationStatistics.freeze()
    return clipRewards(clipObservations(timeLimit(normalised, 4), 0, 2), 0.2, 0.6)
  },
  'other rewards': (env) => transformRewards(env, (reward, envIndex) => reward * 2 + envIndex),
}

test.each(Object.keys(chains))('episodes are equal in all modes of autoreset: %s', (name) => {
  const [one, ...others] = modes.map((mode) => episodesOf(mode, chains[name]))
  for (const other of others) expect(other).toEqual(one)
})

test('a recorded episode has one more observation than steps, and frame stacks are windows over it', () => {
  const plain = episodesOf('same-step', chains.nothing).flat()
  const stacked = episodesOf('same-step', chains.frameStack).flat()
  for (const [
    k,
    { observations, actions, rewards, actionMasks, length, terminated, truncated },
  ] of plain.entries()) {
    expect(observations.length).toBe((length + 1) * 2)
    expect([actions.length, rewards.length, actionMasks.length]).toEqual([length, length, (length + 1) * 3])
    expect(terminated || truncated).toBe(true)
    expect(truncated).toBe(length === 5)
    for (let t = 0; t < length; t++) {
      expect(observations[t * 2 + 2]).toBe(observations[t * 2] + actions[t])
      expect(observations[t * 2 + 1]).toBe(t)
    }
    expect(terminated).toBe(observations[length * 2] >= 7)
    for (let t = 0; t <= length; t++) {
      const window = [t - 2, t - 1, t].flatMap((s) =>
        Array.from(observations.subarray(Math.max(s, 0) * 2, Math.max(s, 0) * 2 + 2)),
      )
      expect(Array.from(stacked[k].observations.subarray(t * 6, t * 6 + 6))).toEqual(window)
      for (let a = 0; a < 3; a++) expect(actionMasks[t * 3 + a]).toBe(observations[t * 2] + a <= 8 ? 1 : 0)
    }
  }
})

test('long episodes are recorded completely, with their contexts', () => {
  const recorded: ArrayEpisode[] = []
  const env = recordEpisodes(
    createVectorEnvironment(counter, {
      numEnvs: 2,
      maxSteps: 200,
      contextFor: (envIndex, episode) => ({ goal: 3 + envIndex + episode }),
    }),
    (episode) => recorded.push(episode),
  )
  env.reset()
  for (let t = 0; t < 450; t++) {
    // Environment 0 stands still.
    env.actions.set([0, 1])
    env.step()
  }
  const still = recorded.filter(({ envIndex }) => envIndex === 0)
  expect(still.map(({ length }) => length)).toEqual([200, 200])
  expect(still.map(({ context }) => context[0])).toEqual([3, 4])
  expect([...still[1].observations].filter((_, k) => k % 2 === 1)).toEqual(
    Array.from({ length: 201 }, (_, t) => t),
  )
  expect(recorded.find(({ envIndex }) => envIndex === 1)?.context[0]).toBe(4)
})

test('a step may both terminate and truncate', () => {
  const env = timeLimit(
    createVectorEnvironment(counter, { numEnvs: 1, contextFor: () => ({ goal: 3 }), stream: zeros }),
    3,
  )
  env.reset()
  env.actions.fill(1)
  for (let t = 0; t < 3; t++) env.step()
  expect([env.terminated[0], env.truncated[0], env.lengths[0], env.finalObservations[0]]).toEqual([
    1, 1, 3, 3,
  ])
  expect(() => timeLimit(env, 0)).toThrow('a time limit is a number of steps')
})

const zeros = () => ({
  random: () => 0,
  uniform: (low: number) => low,
  integers: () => 0,
  normal: () => 0,
  state: () => null,
  restore: () => undefined,
})

test('wrappers clip, rescale and transform actions', () => {
  const seen: number[][] = []
  const definition = {
    ...counter,
    action: box([2], [-2, 0], [2, 10]),
    step: ({ actions, rewards, terminated }: Parameters<typeof counter.step>[0]) => {
      seen.push([...actions])
      rewards[0] = 0
      terminated[0] = 0
    },
  }
  const { mask: _, ...unmasked } = definition
  const make = () => createVectorEnvironment(unmasked, { numEnvs: 1 })
  for (const [env, action] of [
    [clipActions(make()), [-5, 4]],
    [rescaleActions(make()), [0, 1]],
    [rescaleActions(make(), 0, 1), [0, 0.5]],
    [
      transformActions(make(), box([1], 0, 1), (from, at, to, toAt) => to.fill(from[at] * 2, toAt, toAt + 2)),
      [0.75],
    ],
  ] as const) {
    expect(env.actions.length).toBe(rowSize(env.definition.action))
    env.reset()
    env.actions.set(action)
    env.step()
  }
  expect(seen).toEqual([
    [-2, 4],
    [0, 10],
    [-2, 5],
    [1.5, 1.5],
  ])
  expect(() => clipActions(createVectorEnvironment(counter, { numEnvs: 1 }))).toThrow('not those of a box')
})

test('a chain of wrappers resumes exactly from its state', () => {
  const recorded: ArrayEpisode[] = []
  const make = () =>
    timeLimit(
      recordEpisodes(
        frameStack(
          normaliseRewards(
            transformObservations(
              normaliseObservations(createVectorEnvironment(counter, { numEnvs, autoreset: 'next-step' })),
              box([2], -10, 10),
              (from, at, to, toAt) => {
                to[toAt] = from[at + 1]
                to[toAt + 1] = from[at]
              },
            ),
          ),
          3,
        ),
        (episode) => recorded.push(episode),
      ),
      4,
    )
  const play = (env: VectorEnvironment) => {
    recorded.length = 0
    const rows: number[][] = []
    for (let t = 0; t < 25; t++) {
      for (let i = 0; i < numEnvs; i++) env.actions[i] = (t + i) % 3
      env.step()
      rows.push([...env.observations, ...env.rewards, ...env.truncated, ...env.returns])
    }
    return { rows, recorded: [...recorded] }
  }
  const env = make()
  env.reset({ seed: 8 })
  play(env)
  const state = structuredClone(env.state())
  const rest = play(env)
  expect(rest.recorded.length).toBeGreaterThan(5)
  const other = make()
  other.restore(state)
  expect(play(other)).toEqual(rest)
})

/** Counts its steps from 0; the task ends at 3, each step pays its number. */
const walker = defineEnvironment({
  name: 'walker',
  observation: box([1], 0, 10),
  action: discrete(2),
  context: {},
  stateSize: 1,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, rewards, terminated }, i) {
    state[i]++
    rewards[i] = state[i]
    terminated[i] = state[i] === 3 ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
})

test('startAt places episodes after a reset and after an end', () => {
  const inner = createVectorEnvironment(walker, { numEnvs: 2 })
  const environment = startAt(inner, (envs, i) => {
    envs.state[i] = 1 + i
  })
  environment.reset()
  expect([...environment.observations]).toEqual([1, 2])
  environment.step()
  expect([...environment.observations]).toEqual([2, 2])
  expect([...environment.terminated]).toEqual([0, 1])
  expect(environment.finalObservations[1]).toBe(3)
  environment.truncate(0)
  expect(environment.observations[0]).toBe(1)
})

test.each(['same-step', 'next-step'] as const)(
  'steps to the start state are not counted: %s',
  (autoreset) => {
    const inner = createVectorEnvironment(walker, { numEnvs: 1, autoreset })
    const seen: number[] = []
    const environment = startAt(inner, (envs, i) => {
      seen.push(envs.terminated[i])
      envs.actions[i] = 0
      walker.step(envs, i, undefined as never)
      walker.step(envs, i, undefined as never)
    })
    environment.reset()
    expect(environment.observations[0]).toBe(2)
    expect([environment.rewards[0], environment.terminated[0]]).toEqual([0, 0])
    environment.actions[0] = 1
    environment.step()
    expect([environment.rewards[0], environment.terminated[0], environment.lengths[0]]).toEqual([3, 1, 1])
    expect(environment.actions[0]).toBe(1)
    if (autoreset === 'next-step') environment.step()
    expect(environment.observations[0]).toBe(2)
    expect(seen).toEqual(autoreset === 'same-step' ? [0, 1] : [0, 0])
  },
)
