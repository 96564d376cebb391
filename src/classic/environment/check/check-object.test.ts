import { expect, test } from 'vitest'
import { type AsyncEnvironment, createEnvironment, type Environment } from '../environment.ts'
import { box, discrete } from '../space.ts'
import { counter } from '../testing/definitions.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { checkEnvironment, findFaults } from './check-environment.ts'

/** Walks to a goal that the seed decides. */
function walker(change: Partial<Environment> = {}): Environment {
  let random = createRandom(0)
  let goal = 3
  let place = 0
  return {
    name: 'walker',
    observationSpace: box([1], 0, 50),
    actionSpace: discrete(2),
    reset({ seed, context } = {}) {
      if (seed !== undefined) random = createRandom(seed)
      goal = (context?.goal ?? 3) + random.int(3)
      place = 0
      return { observation: Float32Array.of(0), info: {} }
    },
    step(action) {
      place += action as number
      return {
        observation: Float32Array.of(place),
        reward: -1,
        terminated: place >= goal,
        truncated: false,
        info: {},
      }
    },
    ...change,
  }
}

test('objects that keep the contract pass', () => {
  expect(findFaults(walker())).toEqual([])
  expect(findFaults(createEnvironment(counter))).toEqual([])
  expect(() =>
    checkEnvironment(walker({ contextSpace: { goal: { default: 3, low: 2, high: 9, about: 'cell' } } })),
  ).not.toThrow()
})

const shared = new Float32Array(1)
const step = (change: object) => () =>
  ({ observation: Float32Array.of(1), reward: 0, terminated: true, truncated: false, ...change }) as never
const broken: Record<string, [Partial<Environment>, string]> = {
  'no space': [{ actionSpace: undefined as never }, '[definition] walker: actionSpace is not a space'],
  'no observation': [{ reset: () => ({}) as never }, 'step 0: reset gives no object with an observation'],
  'a tuple as in Gymnasium': [{ reset: () => [0, {}] as never }, 'reset gives no object with an observation'],
  'a merged end': [
    { step: () => ({ observation: [1], reward: 0, done: true }) as never },
    '[ends] walker, step 1: done says that an episode is over, but not why',
  ],
  'an end that is a number': [{ step: step({ truncated: 0 }) }, 'truncated is 0, expected true or false'],
  'a reward that is NaN': [{ step: step({ reward: NaN }) }, 'reward is NaN, expected a finite number'],
  'an observation outside': [
    { step: step({ observation: [51] }) },
    '[space] walker, step 1: observation leaves its space: it[0] is 51, expected at most 50',
  ],
  'chance from elsewhere': [
    { step: () => step({ reward: Math.random() })() },
    '[determinism] walker, step 1: reward differs',
  ],
  'an observation that is shared': [
    {
      step: () => {
        shared[0] = (shared[0] + 1) % 7
        return { observation: shared, reward: 0, terminated: shared[0] === 0, truncated: false }
      },
    },
    '[fresh] walker, step 2: observation was overwritten by the step after it',
  ],
  'no end': [{ step: step({ terminated: false }) }, '[endless] walker: terminated and truncated never came'],
  'a wrong mask': [{ actionMask: () => [1] }, '[mask] walker, step 0: actionMask has 1 entries'],
  'a mask that allows nothing': [{ actionMask: () => [0, 0] }, 'actionMask allows no action'],
  'an error': [
    {
      step: () => {
        throw new Error('no such door')
      },
    },
    '[throws] walker, step 1: step throws: Error: no such door',
  ],
  'a dead feature': [
    { contextSpace: { gravity: { default: 1, low: 0, high: 2, about: 'm/s^2' } } },
    '[context] walker: gravity changes nothing',
  ],
  'a state that is not all': [{ state: () => null, restore: () => undefined }, '[resume] walker, step'],
}

test.each(Object.keys(broken))('the check finds: %s', (name) => {
  const [change, message] = broken[name]
  expect(() => checkEnvironment(walker(change))).toThrow(message)
})

test('the check of an asynchronous object returns a promise', async () => {
  const later = (change: Partial<Environment> = {}): AsyncEnvironment => {
    const env = walker(change)
    return {
      ...env,
      reset: async (options) => env.reset(options),
      step: async (action) => env.step(action),
    }
  }
  await expect(checkEnvironment(later())).resolves.toBeUndefined()
  await expect(checkEnvironment(later(broken['a reward that is NaN'][0]))).rejects.toThrow('reward is NaN')
  await expect(checkEnvironment(later(broken['an error'][0]))).rejects.toThrow('no such door')
})
