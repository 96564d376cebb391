import { defineEnvironment, discrete } from '../../environment/index.ts'
import {
  boardDrawing,
  boardStateSize,
  boardText,
  cellIndex,
  cells,
  directionX,
  directionY,
  facingView,
  fillBoard,
  layoutFeature,
  moveAgent,
  wholeFeature,
} from './shared/index.ts'
import { buildRoomChain, roomLattice } from './room-chain.ts'

const largestRoom = 5
/** State: x, y, heading (0 up, 1 right, 2 down, 3 left), cells. */
const board = { head: 3, side: roomLattice * (largestRoom + 1) + 1 }
const stateSize = boardStateSize(board)
const view = facingView(board, [cells.wall, cells.goal, cells.closedDoor, cells.openDoor], 7)
const actions = { turnLeft: 0, turnRight: 1, forward: 2, toggle: 3 } as const

/**
 * A chain of rooms with closed doors between them; the agent begins anywhere in the first, the goal in the last pays 1
 * and ends the episode (the task of MiniGrid's MultiRoom; Chevalier-Boisvert et al. 2023). Actions: turn left, turn
 * right, go forward, open or close the door ahead. Only the 7x7 cells ahead are seen, [5, 7, 7]: wall, goal, closed
 * door, open door, hidden by a wall or a closed door; the agent is in the middle of the last row and faces the first.
 */
export const multiRoom = defineEnvironment({
  name: 'multi-room',
  observation: view.observation,
  action: discrete(4),
  context: {
    layout: { ...layoutFeature, about: 'places of rooms, doors and goal' },
    rooms: { default: 3, low: 2, high: 4, extrapolate: [2, 6], integer: true, about: 'rooms in the chain' },
    roomSize: {
      default: 3,
      low: 2,
      high: 4,
      extrapolate: [2, largestRoom],
      integer: true,
      about: 'side of a room',
    },
  },
  stateSize,
  maxSteps: 200,
  reset({ state, context }, i, random) {
    const base = i * stateSize
    const layout = context.layout[i]
    const rooms = wholeFeature(context.rooms[i], 2, 6, 'rooms')
    const size = wholeFeature(context.roomSize[i], 2, largestRoom, 'roomSize')
    fillBoard(state, base, board, cells.wall)
    buildRoomChain(state, base, board, layout, rooms, size)
    state[base] += random.integers(size)
    state[base + 1] += random.integers(size)
    state[base + 2] = random.integers(4)
  },
  step({ state, actions: chosen, rewards, terminated }, i) {
    const base = i * stateSize
    const heading = state[base + 2]
    rewards[i] = 0
    terminated[i] = 0
    switch (chosen[i]) {
      case actions.turnLeft:
        state[base + 2] = (heading + 3) % 4
        return
      case actions.turnRight:
        state[base + 2] = (heading + 1) % 4
        return
      case actions.forward:
        if (moveAgent(state, base, board, heading) === cells.goal) {
          rewards[i] = 1
          terminated[i] = 1
        }
        return
      case actions.toggle: {
        const x = state[base] + directionX[heading]
        const ahead = cellIndex(board, base, x, state[base + 1] + directionY[heading])
        if (state[ahead] === cells.closedDoor) state[ahead] = cells.openDoor
        else if (state[ahead] === cells.openDoor) state[ahead] = cells.closedDoor
      }
    }
  },
  observe: view.observe,
  text: boardText(board, true),
  draw: boardDrawing(board, true),
})
