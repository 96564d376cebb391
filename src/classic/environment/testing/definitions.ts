import { box, discrete } from '../space.ts'
import { defineEnvironment } from '../definition.ts'

/**
 * For tests: adds its action to a count, ends at `goal`, pays a random reward. Two more than fit are not allowed. State
 * and observation: the count, and the number of steps.
 */
export const counter = defineEnvironment({
  name: 'counter',
  observation: box([2], 0, 99),
  action: discrete(3),
  context: { goal: { default: 7, low: 3, high: 9, integer: true, about: 'count of the end' } },
  stateSize: 2,
  maxSteps: 6,
  reset({ state }, i, random) {
    state[i * 2] = random.integers(3)
    state[i * 2 + 1] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    state[i * 2] += actions[i]
    state[i * 2 + 1]++
    rewards[i] = random.random()
    terminated[i] = state[i * 2] >= context.goal[i] ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 2]
    observations[i * 2 + 1] = state[i * 2 + 1]
  },
  mask({ state, context, actionMask }, i) {
    for (let a = 0; a < 3; a++) actionMask[i * 3 + a] = state[i * 2] + a <= context.goal[i] + 1 ? 1 : 0
  },
})
