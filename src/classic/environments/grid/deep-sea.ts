import { contextRow, defineEnvironment, discrete, finiteModel } from '../../environment/index.ts'
import type { FiniteModel, FiniteDefinition } from '../../environment/index.ts'
import { uniformAt } from '../../../engine/random/index.ts'
import { layoutFeature } from './shared/board.ts'
import { roomDrawing, roomText } from './shared/frames.ts'

/**
 * DeepSea of size N, equal step for step to bsuite's (Osband et al. 2020, "Behaviour Suite for Reinforcement
 * Learning"). The agent moves down a row in each step. One of the two actions moves right at a cost of moveCost
 * / N, the other moves left; a random mapping determines which, separately for each cell. N - 1 steps to the
 * right lead to the last column; one more has reward 1. The best return is 1 - moveCost. Always moving right
 * with slip p returns (1 - p)^(N - 1) - moveCost. A random policy reaches the reward with probability 2^-N.
 *
 * Observation: row * N + column, or N * N after the last step. bsuite's stochastic variant has slip 1 / N and
 * noise 1.
 */
export const createDeepSea = (size: number, name = `deep-sea-${size}`) => {
  const definition = defineEnvironment({
    name,
    observation: discrete(size * size + 1),
    action: discrete(2),
    context: {
      mapping: { ...layoutFeature, about: 'number from which the meaning of the actions is drawn' },
      moveCost: {
        default: 0.01,
        low: 0,
        high: 0.1,
        extrapolate: [0, 1],
        about: 'cost of N moves to the right',
      },
      slip: {
        default: 0,
        low: 0,
        high: 0.1,
        extrapolate: [0, 0.3],
        about: 'chance that a move to the right stays in its column',
      },
      noise: {
        default: 0,
        low: 0,
        high: 1,
        extrapolate: [0, 2],
        about: 'standard deviation of the reward at the ends of the last row',
      },
    },
    stateSize: 2,
    reset({ state }, i) {
      state[i * 2] = 0
      state[i * 2 + 1] = 0
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * 2
      const row = state[s]
      const column = state[s + 1]
      const slip = context.slip[i]
      const noise = context.noise[i]
      const rightward = actions[i] === deepSeaRight(size, context.mapping[i], row, column)
      let reward = rightward && column === size - 1 ? 1 : 0
      if (noise > 0 && row === size - 1 && (column === 0 || column === size - 1))
        reward += noise * random.normal()
      if (rightward) {
        reward -= context.moveCost[i] / size
        if (slip === 0 || random.random() >= slip) state[s + 1] = Math.min(size - 1, column + 1)
      } else state[s + 1] = Math.max(0, column - 1)
      state[s] = row + 1
      rewards[i] = reward
      terminated[i] = row + 1 === size ? 1 : 0
    },
    observe({ state, observations }, i) {
      const row = state[i * 2]
      observations[i] = row === size ? size * size : row * size + state[i * 2 + 1]
    },
    text: ({ state }, i) => roomText(size, [['@', state[i * 2 + 1], state[i * 2]]]),
    draw: ({ state }, i) => roomDrawing(size, [['#c8452d', state[i * 2 + 1], state[i * 2]]]),
  })
  const finite: FiniteDefinition<typeof definition.context> = {
    ...definition,
    transitions: (context = {}) => deepSeaModel(size, contextRow(definition.context, context)),
  }
  return finite
}

/** Ignores `noise`, because its mean is 0. */
function deepSeaModel(size: number, [mapping, moveCost, slip]: Float64Array): FiniteModel {
  const end = size * size
  return finiteModel({
    states: end + 1,
    actions: 2,
    start: 0,
    outcomes(state, action) {
      if (state === end) return [{ probability: 1, state, reward: 0, terminated: true }]
      const row = Math.floor(state / size)
      const column = state % size
      const terminated = row + 1 === size
      const to = (next: number): number => (terminated ? end : (row + 1) * size + next)
      if (action !== deepSeaRight(size, mapping, row, column)) {
        return [{ probability: 1, state: to(Math.max(0, column - 1)), reward: 0, terminated }]
      }
      const reward = (column === size - 1 ? 1 : 0) - moveCost / size
      return [
        { probability: 1 - slip, state: to(Math.min(size - 1, column + 1)), reward, terminated },
        ...(slip > 0 ? [{ probability: slip, state: to(column), reward, terminated }] : []),
      ]
    },
  })
}

/** The action that moves right in a cell: 0 or 1 with equal probability over the mappings. */
export const deepSeaRight = (size: number, mapping: number, row: number, column: number): 0 | 1 =>
  uniformAt(mapping, 1, row * size + column) < 0.5 ? 0 : 1

/** `createDeepSea` of size 10, named `deep-sea`. */
export const deepSea = createDeepSea(10, 'deep-sea')
/** `createDeepSea` of size 20, named `deep-sea-20`. */
export const deepSea20 = createDeepSea(20)
