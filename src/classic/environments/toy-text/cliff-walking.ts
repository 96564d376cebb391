import { defineEnvironment, discrete, finiteModel } from '../../environment/index.ts'
import type { ContextSpace, FiniteDefinition } from '../../environment/index.ts'
import { threeWays } from '../../environment/finite-model.ts'

const columns = 12
const cells = 4 * columns
const start = 3 * columns
const goal = cells - 1

/**
 * Walk along the edge of a cliff (Sutton & Barto, Reinforcement Learning, example 6.6). Equal step for step and
 * draw for draw to Gymnasium 1.3's CliffWalking-v1. Actions: up, right, down, left. Observation: the cell,
 * numbered row by row. Reward:
 * -100 for a fall, which returns to the start; -1 for any other step. The goal ends the episode.
 */
export const cliffWalking = cliff('cliff-walking', 0)

/**
 * The slippery variant, as Gymnasium's CliffWalkingSlippery-v1: a step goes forward or to either side, each
 * with probability 1/3.
 */
export const cliffWalkingSlippery = cliff('cliff-walking-slippery', 1)

function cliff(name: string, slip: number): FiniteDefinition {
  const context = {
    slip: {
      default: slip,
      low: 0,
      high: 1,
      about:
        'probability of a slip: forward or to either side with 1/3 each; otherwise the step goes forward',
    },
    stepReward: { default: -1, low: -2, high: -0.5, extrapolate: [-5, 0], about: 'of a step' },
    fallReward: {
      default: -100,
      low: -100,
      high: -20,
      extrapolate: [-200, 0],
      about: 'of a step into the cliff',
    },
    firstColumn: {
      default: 1,
      low: 1,
      high: 5,
      extrapolate: [1, 10],
      integer: true,
      about: 'where the cliff begins',
    },
    lastColumn: {
      default: 10,
      low: 6,
      high: 10,
      extrapolate: [1, 10],
      integer: true,
      about: 'where the cliff ends',
    },
  } satisfies ContextSpace

  const definition = defineEnvironment({
    name,
    observation: discrete(cells),
    action: discrete(4),
    context,
    stateSize: 1,
    reset({ state }, i, random) {
      // The reference draws here too, although there is only one start.
      random.random()
      state[i] = start
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const side = context.slip[i] / 3
      const way = threeWays(side, 1 - context.slip[i] + side, side, random.random())
      const cell = move(state[i], (actions[i] + way + 3) % 4)
      const fallen = inCliff(cell, context.firstColumn[i], context.lastColumn[i])
      state[i] = fallen ? start : cell
      rewards[i] = fallen ? context.fallReward[i] : context.stepReward[i]
      terminated[i] = cell === goal ? 1 : 0
    },
    observe({ state, observations }, i) {
      observations[i] = state[i]
    },
    text({ state, context }, i) {
      let frame = ''
      for (let cell = 0; cell < cells; cell++) {
        if (cell > 0 && cell % columns === 0) frame += '\n'
        if (cell === state[i]) frame += '@'
        else if (inCliff(cell, context.firstColumn[i], context.lastColumn[i])) frame += 'C'
        else frame += cell === start ? 'S' : cell === goal ? 'G' : '.'
      }
      return frame
    },
  })
  return {
    ...definition,
    transitions: ({
      slip: slipping = slip,
      stepReward = context.stepReward.default,
      fallReward = context.fallReward.default,
      firstColumn = context.firstColumn.default,
      lastColumn = context.lastColumn.default,
    } = {}) =>
      finiteModel({
        states: cells,
        actions: 4,
        start,
        outcomes(state, action) {
          const side = slipping / 3
          const ways = slipping === 0 ? [1] : [0, 1, 2]
          return ways.map((way) => {
            const cell = move(state, (action + way + 3) % 4)
            const fallen = inCliff(cell, firstColumn, lastColumn)
            return {
              probability: way === 1 ? 1 - slipping + side : side,
              state: fallen ? start : cell,
              reward: fallen ? fallReward : stepReward,
              terminated: cell === goal,
            }
          })
        },
      }),
  }
}

function move(cell: number, direction: number): number {
  switch (direction) {
    case 0:
      return cell >= columns ? cell - columns : cell
    case 1:
      return cell % columns < columns - 1 ? cell + 1 : cell
    case 2:
      return cell < cells - columns ? cell + columns : cell
    default:
      return cell % columns > 0 ? cell - 1 : cell
  }
}

const inCliff = (cell: number, first: number, last: number): boolean =>
  cell >= start + first && cell <= start + last && cell !== start && cell !== goal
