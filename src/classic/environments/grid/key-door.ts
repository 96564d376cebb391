import { defineEnvironment, discrete } from '../../environment/index.ts'
import { boardDrawing, boardText } from './shared/frames.ts'
import {
  boardStateSize,
  cellIndex,
  cells,
  directionX,
  directionY,
  drawAt,
  fillBoard,
  fillCells,
  layoutFeature,
  moveAgent,
  slipFeature,
  wholeFeature,
  withSlip,
} from './shared/board.ts'
import { fullView } from './shared/views.ts'

/** State: x, y, 1 while the agent carries the key, cells. */
const board = { head: 3, side: 9 }
const stateSize = boardStateSize(board)
const view = fullView(board, [cells.wall, cells.goal, cells.key, cells.closedDoor, cells.openDoor])
const use = 4

/**
 * Two rooms with a locked door between them (the task of MiniGrid's DoorKey; Chevalier-Boisvert et al. 2023):
 * find the key, pick it up, open the door and reach the goal. Reward: 1 at the goal, which ends the episode.
 * Actions: up, right, down, left and use. `use` picks up the key on the agent's cell, or opens a neighbouring
 * door if the agent has the key. Observation: the whole board, [6, 9, 9]: wall, goal, key, closed door, open
 * door, agent. The agent starts anywhere in the left room.
 */
export const keyDoor = defineEnvironment({
  name: 'key-door',
  observation: view.observation,
  action: discrete(5),
  context: {
    layout: { ...layoutFeature, about: 'places of the wall, the door and the key' },
    size: {
      default: 6,
      low: 5,
      high: 7,
      extrapolate: [5, 9],
      integer: true,
      about: 'side of the board, outer walls included',
    },
    slip: slipFeature,
  },
  stateSize,
  maxSteps: 250,
  reset({ state, context }, i, random) {
    const base = i * stateSize
    const layout = context.layout[i]
    const inner = wholeFeature(context.size[i], 5, board.side, 'size') - 2
    const wall = 2 + drawAt(layout, 1, 0, inner - 2)
    const left = wall - 1
    const key = drawAt(layout, 1, 2, left * inner)
    fillBoard(state, base, board, cells.wall)
    fillCells(state, base, board, 1, 1, left, inner, cells.floor)
    fillCells(state, base, board, wall + 1, 1, inner - wall, inner, cells.floor)
    state[cellIndex(board, base, wall, 1 + drawAt(layout, 1, 1, inner))] = cells.closedDoor
    state[cellIndex(board, base, 1 + (key % left), 1 + Math.floor(key / left))] = cells.key
    state[cellIndex(board, base, inner, inner)] = cells.goal
    const start = random.integers(left * inner)
    state[base] = 1 + (start % left)
    state[base + 1] = 1 + Math.floor(start / left)
    state[base + 2] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const base = i * stateSize
    rewards[i] = 0
    terminated[i] = 0
    if (actions[i] === use) {
      const here = cellIndex(board, base, state[base], state[base + 1])
      if (state[here] === cells.key) {
        state[here] = cells.floor
        state[base + 2] = 1
      } else if (state[base + 2] === 1) {
        for (let d = 0; d < 4; d++) {
          const beside = here + directionY[d] * board.side + directionX[d]
          if (state[beside] === cells.closedDoor) state[beside] = cells.openDoor
        }
      }
      return
    }
    if (moveAgent(state, base, board, withSlip(actions[i], context.slip[i], random)) === cells.goal) {
      rewards[i] = 1
      terminated[i] = 1
    }
  },
  observe: view.observe,
  text: boardText(board),
  draw: boardDrawing(board),
})
