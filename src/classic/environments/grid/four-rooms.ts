import { contextRow, defineEnvironment, discrete } from '../../environment/index.ts'
import type { FiniteDefinition } from '../../environment/index.ts'
import { boardDrawing, boardText } from './shared/frames.ts'
import {
  boardStateSize,
  cellIndex,
  cells,
  drawAt,
  fillBoard,
  fillCells,
  layoutFeature,
  moveAgent,
  nthCell,
  placeAgent,
  slipFeature,
  wholeFeature,
  withSlip,
} from './shared/board.ts'
import { cellView } from './shared/views.ts'
import { oneEnv, slipMix, sweptModel } from './shared/exact.ts'

const board = { head: 2, side: 13 }
const stateSize = boardStateSize(board)
const view = cellView(board)
/** Number of floor cells of every layout, including doorways. */
const freeCells = 104

/** Writes the walls between the rooms, with one doorway in each of the four. Layout 0 has the doorways of the original. */
function buildRooms(state: Float64Array, base: number, layout: number): void {
  const doorway = (x: number, y: number): void => {
    state[cellIndex(board, base, x, y)] = cells.floor
  }
  fillBoard(state, base, board, cells.wall)
  fillCells(state, base, board, 1, 1, 5, 5, cells.floor)
  fillCells(state, base, board, 7, 1, 5, 6, cells.floor)
  fillCells(state, base, board, 1, 7, 5, 5, cells.floor)
  fillCells(state, base, board, 7, 8, 5, 4, cells.floor)
  const original = layout === 0
  doorway(6, original ? 3 : 1 + drawAt(layout, 1, 0, 5))
  doorway(2 + (original ? 0 : drawAt(layout, 1, 1, 5) - 1), 6)
  doorway(9 + (original ? 0 : drawAt(layout, 1, 2, 5) - 2), 7)
  doorway(6, original ? 10 : 8 + drawAt(layout, 1, 3, 4))
}

function layOut(state: Float64Array, base: number, layout: number, goal: number): void {
  buildRooms(state, base, layout)
  const rank = wholeFeature(goal, 0, freeCells - 1, 'goal')
  state[nthCell(state, base, board, cells.floor, rank)] = cells.goal
}

const definition = defineEnvironment({
  name: 'four-rooms',
  observation: view.observation,
  action: discrete(4),
  context: {
    layout: { ...layoutFeature, about: 'places of the doorways; 0 is the original' },
    goal: {
      default: 62,
      low: 0,
      high: freeCells - 1,
      integer: true,
      about: 'goal: its rank among the floor cells in reading order',
    },
    slip: slipFeature,
  },
  stateSize,
  maxSteps: 500,
  reset({ state, context }, i, random) {
    const base = i * stateSize
    layOut(state, base, context.layout[i], context.goal[i])
    placeAgent(state, base, board, nthCell(state, base, board, cells.floor, random.integers(freeCells - 1)))
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const action = withSlip(actions[i], context.slip[i], random)
    const arrived = moveAgent(state, i * stateSize, board, action) === cells.goal
    rewards[i] = arrived ? 1 : 0
    terminated[i] = arrived ? 1 : 0
  },
  observe: view.observe,
  text: boardText(board),
  draw: boardDrawing(board),
})

/**
 * Four rooms joined in a ring by four doorways (Sutton, Precup & Singh 1999). The agent starts on any cell but
 * the goal and observes the number of its cell (y * 13 + x). Actions: up, right, down, left. Reward: 1 at the
 * goal, which ends the episode. In the original, a move fails with probability 1/3 and then goes to one of the
 * other three sides: slip 4/9.
 */
export const fourRooms: FiniteDefinition<typeof definition.context> = {
  ...definition,
  transitions: (context = {}) => {
    const { state: map, context: own } = oneEnv(definition, contextRow(definition.context, context))
    layOut(map, 0, own.layout[0], own.goal[0])
    const floor = Float64Array.from(map.subarray(board.head), (kind) => (kind === cells.floor ? 1 : 0))
    return sweptModel(definition, {
      context: { ...context, slip: 0 },
      states: floor.length,
      start: floor.map((free) => free / (freeCells - 1)),
      place(state, number) {
        state.set(map)
        placeAgent(state, 0, board, board.head + number)
        return floor[number] === 1
      },
      mix: slipMix(own.slip[0]),
    })
  },
}
