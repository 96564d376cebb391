import { expect, test } from 'vitest'
import { climbing, prisonersDilemma, ticTacToe, twoStepGame } from '../../environments/games/index.ts'
import {
  createParallelEnvironment,
  defineMultiAgentEnvironment,
  invalidMove,
  parallelOf,
  turnsOf,
} from '../multi-agent/index.ts'
import type { MultiAgentDefinition, ParallelEnvironment, TurnEnvironment } from '../multi-agent/index.ts'
import { box, discrete } from '../space.ts'
import { checkEnvironment, findFaults } from './check-environment.ts'

/** Two who take stones from a heap in turn, one to three; who takes the last one wins. State: stones, whose turn. */
const nim = defineMultiAgentEnvironment({
  name: 'nim',
  agents: ['one', 'two'],
  observation: discrete(8),
  action: discrete(3, 1),
  context: {
    heap: { default: 6, low: 4, high: 7, integer: true, about: 'stones in the beginning' },
    prize: { default: 1, low: 0.5, high: 2, about: 'reward of the winner' },
  },
  stateSize: 2,
  reset({ state, context }, i) {
    state[2 * i] = context[2 * i]
    state[2 * i + 1] = 0
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const mover = state[2 * i + 1]
    state[2 * i] -= actions[2 * i + mover]
    const won = state[2 * i] === 0
    rewards[2 * i + mover] = won ? context[2 * i + 1] : 0
    rewards[2 * i + 1 - mover] = 0
    terminated[i] = won ? 1 : 0
    state[2 * i + 1] = 1 - mover
  },
  observe({ state, observations }, i) {
    observations.fill(state[2 * i], 2 * i, 2 * i + 2)
  },
  acting({ state, agentMask }, i) {
    agentMask[2 * i] = state[2 * i + 1] === 0 ? 1 : 0
    agentMask[2 * i + 1] = 1 - agentMask[2 * i]
  },
  mask({ state, actionMask }, i) {
    for (let k = 0; k < 6; k++)
      actionMask[6 * i + k] = state[2 * i + 1] === Math.floor(k / 3) && state[2 * i] > k % 3 ? 1 : 0
  },
  text: ({ state }, i) => '|'.repeat(state[2 * i]),
})

test.each([climbing, prisonersDilemma, ticTacToe, twoStepGame, nim])(
  '$name keeps the contract in all forms',
  (definition) => {
    expect(findFaults(definition)).toEqual([])
    expect(findFaults(createParallelEnvironment(definition))).toEqual([])
    expect(findFaults(turnsOf(createParallelEnvironment(definition)))).toEqual([])
    expect(findFaults(parallelOf(turnsOf(createParallelEnvironment(definition))))).toEqual([])
    expect(() => checkEnvironment(definition)).not.toThrow()
  },
)

const brokenEnvironments: Record<string, [Partial<MultiAgentDefinition>, [check: string, field: string]]> = {
  'agents of the same name': [{ agents: ['one', 'one'] }, ['definition', 'agents']],
  'an observation outside': [{ observation: discrete(5) }, ['space', 'observations']],
  'a reward that is written only at the end': [
    {
      step(numEnvs, i, random) {
        const before = numEnvs.rewards[2 * i]
        nim.step(numEnvs, i, random)
        if (numEnvs.terminated[i] === 0) numEnvs.rewards[2 * i] = before
      },
    },
    ['left-over', 'rewards[0]'],
  ],
  'a reward of NaN': [
    {
      step(numEnvs, i, random) {
        nim.step(numEnvs, i, random)
        numEnvs.rewards[2 * i + 1] = NaN
      },
    },
    ['not-finite', 'rewards'],
  ],
  'the rows of another slot': [
    {
      observe({ state, observations }, i) {
        observations.fill(state[2 * i], i, i + 2)
      },
    },
    ['neighbours', 'observations[1]'],
  ],
  'who acts is written into another slot': [
    {
      acting(numEnvs, i) {
        nim.acting?.(numEnvs, i)
        if (i > 0) numEnvs.agentMask[0] = 1
      },
    },
    ['neighbours', 'agentMask[0]'],
  ],
  'nobody acts': [
    { acting: ({ agentMask }, i) => agentMask.fill(0, 2 * i, 2 * i + 2) },
    ['acting', 'acting'],
  ],
  'a mask that allows nothing': [
    { mask: ({ actionMask }, i) => actionMask.fill(0, 6 * i, 6 * i + 6) },
    ['mask', 'actionMask'],
  ],
  'a reset that leaves the turn': [
    {
      reset({ state, context }, i) {
        state[2 * i] = context[2 * i]
      },
    },
    ['left-over', 'state[1]'],
  ],
  'a dead feature': [
    {
      step(numEnvs, i, random) {
        const prize = numEnvs.context[2 * i + 1]
        numEnvs.context[2 * i + 1] = 1
        nim.step(numEnvs, i, random)
        numEnvs.context[2 * i + 1] = prize
      },
    },
    ['context', 'prize'],
  ],
  'a move against the rules that no mask forbids': [
    {
      mask: ({ actionMask }, i) => actionMask.fill(1, 6 * i, 6 * i + 6),
      step(numEnvs, i, random) {
        const taken = numEnvs.actions[2 * i + numEnvs.state[2 * i + 1]]
        if (taken > numEnvs.state[2 * i]) throw invalidMove('nim', 'one', taken, 'fewer')
        nim.step(numEnvs, i, random)
      },
    },
    ['throws', 'step'],
  ],
  'chance from elsewhere': [
    {
      step(numEnvs, i, random) {
        nim.step(numEnvs, i, random)
        numEnvs.rewards[2 * i] = Math.random()
      },
    },
    ['determinism', 'rewards'],
  ],
}

test.each(Object.keys(brokenEnvironments))('found in an environment: %s', (name) => {
  const [change, [check, field]] = brokenEnvironments[name]
  const findings = findFaults({ ...nim, ...change } as MultiAgentDefinition, { explore: 200 })
  expect(findings).toContainEqual(expect.objectContaining({ check, field }))
  expect(findings[0].message).toContain('nim')
})

const parallel = () => createParallelEnvironment(nim)
type Step = ReturnType<ParallelEnvironment['step']>
/** A parallel environment whose steps are changed. */
function stepping(change: (step: Step) => Partial<Step> | object): ParallelEnvironment {
  const env: ParallelEnvironment = parallel()
  return {
    ...env,
    step(actions) {
      const step = env.step(actions)
      return { ...step, ...change(step) }
    },
  }
}

const brokenParallel: Record<string, [() => ParallelEnvironment, string]> = {
  'an agent who is not shown': [
    () => stepping(({ observations }) => ({ observations: { one: observations['one'] } })),
    '[space] nim, step 1: observations of two leave their space',
  ],
  'an agent who is not paid': [
    () => stepping(({ rewards }) => ({ rewards: { one: rewards['one'] } })),
    'rewards of two is undefined, expected a finite number',
  ],
  'a stranger who acts': [
    () => stepping(() => ({ acting: ['three'] })),
    'acting is three, expected some of one, two',
  ],
  'somebody who acts after the end': [
    () => stepping(({ terminated, acting }) => (terminated ? { acting: ['one'] } : { acting })),
    'acting is one after the end, expected nobody',
  ],
  'a merged end': [() => stepping(() => ({ terminated: 1 })), 'terminated is 1, expected true or false'],
  'a mask of another length': [
    () => ({ ...(parallel() as ParallelEnvironment), actionMask: () => [1, 1] }),
    'actionMask of one, who has to act, has 2 entries',
  ],
  'observations that are shared': [
    () => {
      const shared: Record<string, Float32Array> = { a: new Float32Array(1) }
      let steps = 0
      return {
        name: 'sharing',
        agents: ['a'],
        observationSpace: box([1], 0, 1),
        actionSpace: discrete(2),
        reset() {
          steps = 0
          shared['a'][0] = 0
          return { observations: shared, acting: ['a'] }
        },
        step() {
          shared['a'][0] = ++steps / 9
          const over = steps === 9
          const acting = over ? [] : ['a']
          return { observations: shared, acting, rewards: { a: 0 }, terminated: over, truncated: false }
        },
      }
    },
    '[fresh] sharing, step 1: observations were overwritten',
  ],
  'an error': [
    () =>
      stepping(() => {
        throw new Error('no such move')
      }),
    '[throws] nim, step 1: step throws: Error: no such move',
  ],
  'no end': [
    () => ({
      name: 'endless',
      agents: ['a'],
      observationSpace: discrete(1),
      actionSpace: discrete(2),
      reset: () => ({ observations: { a: 0 }, acting: ['a'] }),
      step: () => ({
        observations: { a: 0 },
        acting: ['a'],
        rewards: { a: 0 },
        terminated: false,
        truncated: false,
      }),
    }),
    '[endless] endless: terminated and truncated never came',
  ],
}

test.each(Object.keys(brokenParallel))('found in the parallel form: %s', (name) => {
  const [make, message] = brokenParallel[name]
  expect(() => checkEnvironment(make())).toThrow(message)
})

test('found in the turn form: a turn of somebody else than is said, and what is not shown', () => {
  const turns: TurnEnvironment = turnsOf(parallel())
  const wrong = (turn: ReturnType<TurnEnvironment['step']>) => ({
    ...turn,
    acting: [...turn.acting, 'one'].slice(1),
  })
  const other: TurnEnvironment = {
    ...turns,
    reset: (options) => wrong(turns.reset(options)),
    step: (action) => wrong(turns.step(action)),
  }
  expect(() => checkEnvironment(other)).toThrow(/\[turns\] nim: acting is .*, but the turn is that of/)
  expect(() => checkEnvironment({ ...turns, observe: () => 9 as never })).toThrow(
    'observations of one leave their space',
  )
})
