import { beforeAll, expect, test } from 'vitest'
import {
  contextSampler,
  contextSetsOf,
  contextColumns,
  createVectorEnvironment,
  rowSize,
  writeContext,
} from '../environment/index.ts'
import type {
  ArraySpace,
  Context,
  ContextFor,
  VectorEnvironment,
  EnvironmentDefinition,
} from '../environment/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { classicEnvironments } from './catalogue.ts'
import { chain } from './grid/chain.ts'
import { loadMujoco } from './mujoco/physics.ts'

const definitions = Object.values(classicEnvironments)
beforeAll(() => loadMujoco())

/** Probabilities of repeating an action. Some states are only reached by repetition. */
const persistence = [0, 0.9, 0.97, 0.99]

/** Writes actions drawn uniformly, or kept. */
function chooseAtRandom(vector: VectorEnvironment, random: ReturnType<typeof createRandom>): void {
  const { actions, definition } = vector
  const space = definition.action
  for (let k = 0; k < actions.length; k++) {
    const place = k % rowSize(space)
    if (random.next() < persistence[Math.floor(k / rowSize(space)) % persistence.length]) continue
    if (space.type === 'discrete') actions[k] = space.start + random.int(space.n)
    else if (space.type === 'multi-discrete') actions[k] = random.int(space.counts[place])
    else if (space.type === 'multi-binary') actions[k] = random.int(2)
    else {
      const low = Math.max(space.low[place], -2)
      actions[k] = low + random.next() * (Math.min(space.high[place], 2) - low)
    }
  }
}

/** Whether random play with the same random numbers differs between two contexts within the steps. */
function actsDifferently(
  definition: EnvironmentDefinition,
  one: Context,
  other: Context,
  steps = 2000,
): boolean {
  const begin = (context: Context): VectorEnvironment => {
    const vector = createVectorEnvironment(definition, { numEnvs: 32, seed: 1, contextFor: () => context })
    vector.reset()
    return vector
  }
  const [a, b] = [begin(one), begin(other)]
  const random = createRandom('actions')
  for (let t = 0; t < steps; t++) {
    if (differ(a.observations, b.observations)) return true
    chooseAtRandom(a, random)
    b.actions.set(a.actions)
    a.step()
    b.step()
    if (differ(a.rewards, b.rewards) || differ(a.terminated, b.terminated)) return true
    if (differ(a.actionMask, b.actionMask)) return true
  }
  return false
}

function differ(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return true
  return false
}

test.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s: every context feature has an effect',
  (_, definition) => {
    for (const [name, { low, high, extrapolate = [], default: usual }] of Object.entries(
      definition.context,
    )) {
      for (const value of new Set([low, high, ...extrapolate])) {
        if (value === usual) continue
        const acts = actsDifferently(definition, {}, { [name]: value })
        expect({ name, value, acts }).toEqual({ name, value, acts: true })
      }
    }
  },
)

test('the check finds constants that are not read from the context', () => {
  const definition: EnvironmentDefinition = {
    ...chain,
    step(envs, i, random) {
      const constants = contextColumns(chain.context, envs.count)
      for (let k = 0; k < envs.count; k++) writeContext(constants, k, [5, 0.2, 2, 10])
      chain.step({ ...envs, context: constants }, i, random)
    },
  }
  expect(actsDifferently(definition, {}, { small: 1 }, 200)).toBe(false)
  expect(actsDifferently(chain, {}, { small: 1 }, 200)).toBe(true)
})

test.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s: episodes run in all sets of contexts',
  (_, definition) => {
    const inRange = rangeCheck(definition.observation)
    const sets = ['train', 'interpolation', 'extrapolation'] as const
    expect(contextSetsOf(definition.context)).toEqual(sets)
    for (const set of sets) {
      const vector = createVectorEnvironment(definition, {
        numEnvs: 16,
        contextFor: contextSampler(definition.context, { set }),
        maxSteps: 20,
      })
      const random = createRandom('actions', set)
      vector.reset()
      for (let t = 0; t < 50; t++) {
        expect(inRange(vector.observations)).toBe(true)
        expect(vector.rewards.every(Number.isFinite)).toBe(true)
        chooseAtRandom(vector, random)
        vector.step()
      }
    }
  },
)

test.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s: environments of a vector are independent',
  (_, definition) => {
    const play = (contextFor: ContextFor): number[] => {
      const vector = createVectorEnvironment(definition, {
        numEnvs: 3,
        seed: 2,
        contextFor,
        autoreset: 'same-step',
      })
      const random = createRandom('actions')
      const { stateSize } = definition
      const seen: number[] = []
      vector.reset()
      for (let t = 0; t < 60; t++) {
        seen.push(...vector.envs.state.subarray(stateSize, 2 * stateSize), vector.rewards[1])
        chooseAtRandom(vector, random)
        vector.step()
      }
      return seen
    }
    const sample = contextSampler(definition.context, { seed: 5 })
    const others = (envIndex: number, episode: number): Context =>
      envIndex === 1 ? {} : sample(envIndex, episode)
    expect(play(others)).toEqual(play(() => ({})))
  },
)

/** Whether rows of observations lie in the space. */
function rangeCheck(space: ArraySpace): (rows: Float32Array) => boolean {
  const width = rowSize(space)
  return (rows) =>
    rows.every((value, k) => {
      const place = k % width
      switch (space.type) {
        case 'box':
          return value >= Math.fround(space.low[place]) && value <= Math.fround(space.high[place])
        case 'discrete':
          return Number.isInteger(value) && value >= space.start && value < space.start + space.n
        case 'multi-discrete':
          return Number.isInteger(value) && value >= 0 && value < space.counts[place]
        case 'multi-binary':
          return value === 0 || value === 1
      }
    })
}
