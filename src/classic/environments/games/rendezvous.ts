import { box, defineMultiAgentEnvironment, discrete } from '../../environment/index.ts'
import { directionX, directionY, slipFeature, wholeFeature, withSlip } from '../grid/shared/board.ts'

/** The longest side of the square. */
const longest = 9

/**
 * Two agents on an empty square have to meet: both are rewarded 1 when they stand on the same cell, which ends the
 * episode, and lose `cost` in every step. Actions: up, right, down, left, stay; both move at once, so neighbours that
 * step towards each other swap places. Each sees its own cell and the other's, x and y from 0 to 1. They begin on
 * different cells. At distance d (the sum of both axes) the best is `1 - cost * ceil(d / 2)`.
 */
export const rendezvous = defineMultiAgentEnvironment({
  name: 'rendezvous',
  agents: ['first', 'second'],
  observation: box([4], 0, 1),
  action: discrete(5),
  context: {
    size: {
      default: 5,
      low: 3,
      high: 7,
      extrapolate: [2, longest],
      integer: true,
      about: 'side of the square in cells',
    },
    cost: { default: 0.05, low: 0.02, high: 0.1, extrapolate: [0, 0.2], about: 'lost by both in a step' },
    slip: slipFeature,
  },
  // x, y of the first, x, y of the second.
  stateSize: 4,
  maxSteps: 50,
  reset({ state, context }, i, random) {
    const size = wholeFeature(context.size[i], 2, longest, 'size')
    const first = random.integers(size * size)
    const second = (first + 1 + random.integers(size * size - 1)) % (size * size)
    state[i * 4] = first % size
    state[i * 4 + 1] = Math.floor(first / size)
    state[i * 4 + 2] = second % size
    state[i * 4 + 3] = Math.floor(second / size)
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const end = context.size[i] - 1
    const clamped = (x: number): number => Math.min(Math.max(x, 0), end)
    for (let agent = 0; agent < 2; agent++) {
      const place = i * 4 + agent * 2
      const move = withSlip(actions[i * 2 + agent], context.slip[i], random)
      state[place] = clamped(state[place] + directionX[move])
      state[place + 1] = clamped(state[place + 1] + directionY[move])
    }
    const met = state[i * 4] === state[i * 4 + 2] && state[i * 4 + 1] === state[i * 4 + 3]
    rewards.fill((met ? 1 : 0) - context.cost[i], i * 2, i * 2 + 2)
    terminated[i] = met ? 1 : 0
  },
  observe({ state, observations, context }, i) {
    const end = context.size[i] - 1
    for (let k = 0; k < 4; k++) {
      observations[i * 8 + k] = state[i * 4 + k] / end
      observations[i * 8 + 4 + k] = state[i * 4 + ((k + 2) % 4)] / end
    }
  },
})
