import { expect, test } from 'vitest'
import { AgogeError } from '../../../error.ts'
import { chain } from '../../environments/grid/chain.ts'
import { frozenLake } from '../../environments/toy-text/frozen-lake.ts'
import { box, discrete } from '../space.ts'
import { counter } from '../testing/definitions.ts'
import { defineEnvironment } from '../definition.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import type { FiniteDefinition } from '../finite-model.ts'
import { checkEnvironment, findFaults } from './check-environment.ts'
import type { CheckEnvironmentOptions } from './check-environment.ts'

/** A walk on a line of cells to the goal, with slips. State: place, steps. */
const walk = defineEnvironment({
  name: 'walk',
  observation: box([2], [0, 0], [9, 1]),
  action: discrete(3),
  context: {
    goal: { default: 5, low: 3, high: 8, integer: true, about: 'cell of the goal' },
    slip: { default: 0, low: 0, high: 0.5, about: 'chance that a step fails' },
    start: { default: 0, low: 0, high: 2, integer: true, about: 'cell of the start' },
  },
  stateSize: 2,
  reset({ state, context }, i) {
    state[i * 2] = context.start[i]
    state[i * 2 + 1] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const fails = random.random() < context.slip[i]
    if (!fails) state[i * 2] = Math.min(Math.max(state[i * 2] + actions[i] - 1, 0), 9)
    state[i * 2 + 1] = fails ? 1 : 0
    terminated[i] = state[i * 2] >= context.goal[i] ? 1 : 0
    rewards[i] = terminated[i]
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 2]
    observations[i * 2 + 1] = state[i * 2 + 1]
  },
  mask({ state, actionMask }, i) {
    actionMask[i * 3] = state[i * 2] > 0 ? 1 : 0
    actionMask[i * 3 + 1] = 1
    actionMask[i * 3 + 2] = 1
  },
})

test('definitions that keep the contract pass', () => {
  expect(findFaults(walk)).toEqual([])
  expect(findFaults(counter)).toEqual([])
  expect(() => checkEnvironment(walk)).not.toThrow()
})

let calls = 0

/** Breaches, their findings, and options. Whether the check finds a field of x does not matter. */
const broken: Record<
  string,
  [Partial<EnvironmentDefinition>, [check: string, field: string][], CheckEnvironmentOptions?]
> = {
  'integers that are none': [
    {
      observation: box([2], [0, 0], [9, 1], 'int32'),
      observe(envs, i) {
        walk.observe(envs, i)
        envs.observations[i * 2 + 1] = 0.5
      },
    },
    [['space', 'observation']],
  ],
  'chance from elsewhere': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        envs.rewards[i] = Math.random()
      },
    },
    [
      ['determinism', 'rewards[0]'],
      ['memory', 'rewards[0]'],
    ],
  ],
  'a count of calls': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        envs.rewards[i] += calls++ % 2
      },
    },
    [
      ['determinism', 'x'],
      ['memory', 'rewards[0]'],
    ],
  ],
  'an observation outside of its space': [
    { observation: box([2], [0, 0], [2, 1]) },
    [['space', 'observation']],
  ],
  'an observation that is NaN': [
    {
      observe(envs, i) {
        walk.observe(envs, i)
        if (envs.state[i * 2] === 2) envs.observations[i * 2] = NaN
      },
    },
    [['space', 'observation']],
  ],
  'a reward that is not finite': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        if (envs.terminated[i] === 1) envs.rewards[i] = Infinity
      },
    },
    [['not-finite', 'reward']],
  ],
  'a reward that is written only at the end': [
    {
      step(envs, i, random) {
        const before = envs.rewards[i]
        walk.step(envs, i, random)
        if (envs.terminated[i] === 0) envs.rewards[i] = before
      },
    },
    [['left-over', 'rewards[0]']],
  ],
  'an observation that is not written': [
    {
      observe(envs, i) {
        envs.observations[i * 2] = envs.state[i * 2]
      },
    },
    [['left-over', 'observations[1]']],
  ],
  'a mask that allows nothing': [
    {
      mask(envs, i) {
        envs.actionMask.fill(envs.state[i * 2] === 2 ? 0 : 1, i * 3, i * 3 + 3)
      },
    },
    [['mask', 'actionMask']],
  ],
  'no end': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        envs.terminated[i] = 0
      },
    },
    [['endless', 'terminated']],
    { patience: 2000 },
  ],
  'a row of another environment': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        envs.rewards[0] = 0.5
      },
    },
    [
      ['neighbours', 'rewards[0]'],
      ['environment-index', 'rewards[0]'],
      ['determinism', 'x'],
    ],
  ],
  'a reset that leaves the state': [
    {
      reset({ state, context }, i) {
        state[i * 2] = context.start[i]
      },
    },
    [
      ['determinism', 'x'],
      ['left-over', 'state[1]'],
    ],
  ],
  'observe that changes the state': [
    {
      observe(envs, i) {
        walk.observe(envs, i)
        envs.state[i * 2 + 1] = 0
      },
    },
    [['writes', 'state[1]']],
  ],
  'observe that looks at the action': [
    {
      observe(envs, i) {
        walk.observe(envs, i)
        envs.observations[i * 2 + 1] = envs.rewards[i]
      },
    },
    [['reads', 'observations[1]']],
  ],
  'step that writes the context': [
    {
      step(envs, i, random) {
        walk.step(envs, i, random)
        envs.context.slip[i] = 0
      },
    },
    [['writes', 'context[1]']],
  ],
  'a constant instead of the context': [
    {
      step(envs, i, random) {
        const goal = envs.context.goal[i]
        envs.context.goal[i] = 5
        walk.step(envs, i, random)
        envs.context.goal[i] = goal
      },
    },
    [['context', 'goal']],
  ],
  'a feature that is only seen': [
    {
      context: { ...walk.context, colour: { default: 0, low: 0, high: 1, about: 'what it looks like' } },
      observe(envs, i) {
        walk.observe(envs, i)
        envs.observations[i * 2 + 1] = envs.context.colour[i]
      },
    },
    [['context', 'colour']],
  ],
  'drawings that change something': [
    {
      draw({ state }, i) {
        state[i * 2] = 3
        return { view: [0, 0, 1, 1], shapes: [{ type: 'circle', x: NaN, y: 0, radius: 1, fill: 'red' }] }
      },
    },
    [
      ['drawing', 'draw'],
      ['drawing', 'state[0]'],
    ],
  ],
  'bounds that are none': [
    {
      observation: box([2], 1, 0),
      context: { goal: { default: 9, low: 3, high: 8, about: '' } },
      stateSize: 1.5,
    },
    [
      ['definition', 'stateSize'],
      ['definition', 'observation'],
      ['definition', 'context feature goal'],
    ],
  ],
}

test.each(Object.keys(broken))('the check finds: %s', (name) => {
  const [change, expected, options] = broken[name]
  const findings = findFaults({ ...walk, ...change } as EnvironmentDefinition, { explore: 200, ...options })
  const found = findings.map(({ check, field }) => [check, field])
  for (const pair of expected.filter(([, field]) => field !== 'x')) expect(found).toContainEqual(pair)
  const checks = new Set(expected.map(([check]) => check))
  expect(findings.filter(({ check }) => !checks.has(check))).toEqual([])
})

test('a feature that only changes observations passes if it is listed', () => {
  const definition = { ...walk, ...broken['a feature that is only seen'][0] } as EnvironmentDefinition
  expect(findFaults(definition, { observed: ['colour'] })).toEqual([])
})

test('the error lists all findings with environment, step and field', () => {
  const definition: EnvironmentDefinition = {
    ...walk,
    observation: box([2], [0, 0], [2, 1]),
    reset({ state }, i) {
      state[i * 2] = 0
    },
  }
  try {
    checkEnvironment(definition)
    expect.unreachable()
  } catch (error) {
    expect(AgogeError.isInstance(error)).toBe(true)
    const { message, code, given } = error as AgogeError
    expect(code).toBe('bad-environment')
    expect(message).toMatch(/^walk fails \d checks:\n- \[/)
    expect(message).toMatch(
      /\[space\] walk, environment \d, step \d+: observation leaves its space: it\[0\] is 3, expected at most 2/,
    )
    expect(message).toContain(
      'state[1] depends on what was in the environment before: a reset has to write all of the state',
    )
    expect(message).toContain('start changes nothing')
    expect((given as unknown[]).length).toBe(message.split('\n').length - 1)
  }
})

test('a definition that reads features by index, and one whose functions throw, are findings', () => {
  const bare = { ...walk, context: undefined } as unknown as EnvironmentDefinition
  expect(findFaults(bare)).toMatchObject([{ check: 'definition', field: 'context' }])
  const stuck: EnvironmentDefinition = {
    ...walk,
    step() {
      throw new TypeError('the arm is stuck')
    },
  }
  expect(() => checkEnvironment(stuck)).toThrow(
    expect.objectContaining({ message: expect.stringContaining('TypeError: the arm is stuck') }),
  )
})

test.each([
  [chain, 'small', 'large'],
  [frozenLake, 'goalReward', 'stepReward'],
] as const)(
  'two features that step takes for each other are found by the exact model: %#',
  (finite, one, other) => {
    const { context, transitions }: FiniteDefinition = finite
    const swapped: EnvironmentDefinition = {
      ...finite,
      step(envs, i, random) {
        const columns = { ...envs.context, [one]: envs.context[other], [other]: envs.context[one] }
        finite.step({ ...envs, context: columns }, i, random)
      },
    }
    expect(Object.keys(context)).toEqual(expect.arrayContaining([one, other]))
    expect(transitions).toBeDefined()
    expect(findFaults(finite, { explore: 500 })).toEqual([])
    expect(findFaults(swapped, { explore: 500 })).toMatchObject([{ check: 'model', field: 'reward' }])
  },
)
