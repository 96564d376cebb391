import { expect, test } from 'vitest'
import { climbing, prisonersDilemma, ticTacToe, twoStepGame } from '../../worlds/games/index.ts'
import {
  createParallelEnvironment,
  defineMultiAgentWorld,
  invalidMove,
  parallelOf,
  turnsOf,
} from '../multi-agent/index.ts'
import type { MultiAgentWorld, ParallelEnvironment, TurnEnvironment } from '../multi-agent/index.ts'
import { box, discrete } from '../space.ts'
import { checkEnvironment, findFaults } from './check-environment.ts'

/** Two who take stones from a heap in turn, one to three; who takes the last one wins. State: stones, whose turn. */
const nim = defineMultiAgentWorld({
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
  (world) => {
    expect(findFaults(world)).toEqual([])
    expect(findFaults(createParallelEnvironment(world))).toEqual([])
    expect(findFaults(turnsOf(createParallelEnvironment(world)))).toEqual([])
    expect(findFaults(parallelOf(turnsOf(createParallelEnvironment(world))))).toEqual([])
    expect(() => checkEnvironment(world)).not.toThrow()
  },
)

const brokenWorlds: Record<string, [Partial<MultiAgentWorld>, [check: string, field: string]]> = {
  'agents of the same name': [{ agents: ['one', 'one'] }, ['definition', 'agents']],
  'an observation outside': [{ observation: discrete(5) }, ['space', 'observations']],
  'a reward that is written only at the end': [
    {
      step(slots, i, random) {
        const before = slots.rewards[2 * i]
        nim.step(slots, i, random)
        if (slots.terminated[i] === 0) slots.rewards[2 * i] = before
      },
    },
    ['left-over', 'rewards[0]'],
  ],
  'a reward of NaN': [
    {
      step(slots, i, random) {
        nim.step(slots, i, random)
        slots.rewards[2 * i + 1] = NaN
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
      acting(slots, i) {
        nim.acting?.(slots, i)
        if (i > 0) slots.agentMask[0] = 1
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
      step(slots, i, random) {
        const prize = slots.context[2 * i + 1]
        slots.context[2 * i + 1] = 1
        nim.step(slots, i, random)
        slots.context[2 * i + 1] = prize
      },
    },
    ['context', 'prize'],
  ],
  'a move against the rules that no mask forbids': [
    {
      mask: ({ actionMask }, i) => actionMask.fill(1, 6 * i, 6 * i + 6),
      step(slots, i, random) {
        const taken = slots.actions[2 * i + slots.state[2 * i + 1]]
        if (taken > slots.state[2 * i]) throw invalidMove('nim', 'one', taken, 'fewer')
        nim.step(slots, i, random)
      },
    },
    ['throws', 'step'],
  ],
  'chance from elsewhere': [
    {
      step(slots, i, random) {
        nim.step(slots, i, random)
        slots.rewards[2 * i] = Math.random()
      },
    },
    ['determinism', 'rewards'],
  ],
}

test.each(Object.keys(brokenWorlds))('found in a world: %s', (name) => {
  const [change, [check, field]] = brokenWorlds[name]
  const findings = findFaults({ ...nim, ...change } as MultiAgentWorld, { explore: 200 })
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
