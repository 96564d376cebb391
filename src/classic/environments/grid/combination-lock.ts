import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { FiniteDefinition } from '../../environment/index.ts'
import { drawAt, layoutFeature, slipFeature, wholeFeature } from './shared/board.ts'
import { slipMix, sweptModel } from './shared/exact.ts'

const longest = 12
const choices = 4

const definition = defineEnvironment({
  name: 'combination-lock',
  observation: discrete(longest + 1),
  action: discrete(choices),
  context: {
    code: { ...layoutFeature, about: 'number from which the combination is drawn' },
    length: { default: 5, low: 3, high: 8, extrapolate: [2, longest], integer: true, about: 'digits' },
    slip: { ...slipFeature, about: 'probability of a random action' },
  },
  stateSize: 1,
  maxSteps: 100,
  reset({ state, context }, i) {
    wholeFeature(context.length[i], 1, longest, 'length')
    state[i] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const slip = context.slip[i]
    const action = slip > 0 && random.random() < slip ? random.integers(choices) : actions[i]
    state[i] = action === lockDigit(context.code[i], state[i]) ? state[i] + 1 : 0
    const open = state[i] === context.length[i]
    rewards[i] = open ? 1 : 0
    terminated[i] = open ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
  text: ({ state, context }, i) =>
    Array.from({ length: context.length[i] }, (_, k) =>
      k < state[i] ? lockDigit(context.code[i], k) : '_',
    ).join(' '),
})

/**
 * A combination lock (Kakade 2003, "On the Sample Complexity of Reinforcement Learning", section 8.6). At each
 * position, one of four actions moves forward; the others return to the start. The number of the code
 * determines which. The last position has reward 1 and ends the episode. Observation: the position. Random play
 * needs about 4^length steps.
 */
export const combinationLock: FiniteDefinition<typeof definition.context> = {
  ...definition,
  transitions: (context = {}) => {
    const { slip = 0, length = definition.context.length.default } = context
    return sweptModel(definition, {
      context: { ...context, slip: 0 },
      states: longest + 1,
      start: 0,
      place(state, number) {
        state[0] = number
        return number < length
      },
      mix: slipMix(slip),
    })
  },
}

/** The action that moves forward from a position. */
export const lockDigit = (code: number, position: number): number => drawAt(code, 1, position, choices)
