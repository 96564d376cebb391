import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { FiniteDefinition } from '../../environment/index.ts'
import { wholeFeature } from './shared/board.ts'
import { sweptModel } from './shared/exact.ts'

const longest = 20

const definition = defineEnvironment({
  name: 'chain',
  observation: discrete(longest),
  action: discrete(2),
  context: {
    length: { default: 5, low: 3, high: 10, extrapolate: [2, longest], integer: true, about: 'states' },
    slip: {
      default: 0.2,
      low: 0,
      high: 0.3,
      extrapolate: [0, 0.5],
      about: 'probability that the other action happens',
    },
    small: { default: 2, low: 0, high: 4, extrapolate: [0, 8], about: 'reward for going back' },
    large: { default: 10, low: 5, high: 20, extrapolate: [2, 40], about: 'reward in the last state' },
  },
  stateSize: 1,
  maxSteps: 1000,
  reset({ state, context }, i) {
    wholeFeature(context.length[i], 2, longest, 'length')
    state[i] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const slip = context.slip[i]
    const back = (actions[i] === 1) !== (slip > 0 && random.random() < slip)
    const last = state[i] === context.length[i] - 1
    rewards[i] = back ? context.small[i] : last ? context.large[i] : 0
    state[i] = back ? 0 : last ? state[i] : state[i] + 1
    terminated[i] = 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
  text: ({ state, context }, i) =>
    Array.from({ length: context.length[i] }, (_, k) => (k === state[i] ? '@' : 'o')).join('-'),
})

/**
 * A chain of states (Strens 2000, "A Bayesian Framework for Reinforcement Learning"; Gym's NChain-v0). Action 0
 * moves one state forward and has reward `large` in the last state. Action 1 returns to the first state with
 * reward `small`. With probability `slip` the other action happens. Never terminates. Observation: the number
 * of the state.
 */
export const chain: FiniteDefinition<typeof definition.context> = {
  ...definition,
  transitions: (context = {}) => {
    const { slip = definition.context.slip.default, length = definition.context.length.default } = context
    return sweptModel(definition, {
      context: { ...context, slip: 0 },
      states: longest,
      start: 0,
      place(state, number) {
        state[0] = number
        return number < length
      },
      mix: (action) => [
        [1 - slip, action],
        [slip, 1 - action],
      ],
    })
  },
}
