import { defineEnvironment, discrete } from '../../environment/index.ts'
import {
  type Board,
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
  wholeFeature,
} from './shared/board.ts'
import { boardDrawing, boardText } from './shared/frames.ts'
import { facingView } from './shared/views.ts'

/** Number of rooms on each axis of the lattice. */
const roomLattice = 3

const purposes = { walk: 1, door: 2, goal: 3 } as const

/** The direction from room `step - 1` to room `step`, or -1 at a dead end. `taken` has one bit for each lattice place. */
function stepOfWalk(
  layout: number,
  attempt: number,
  step: number,
  x: number,
  y: number,
  taken: number,
): number {
  const first = drawAt(layout, purposes.walk, attempt * 8 + step, 4)
  for (let turn = 0; turn < 4; turn++) {
    const d = (first + turn) % 4
    const nextX = x + directionX[d]
    const nextY = y + directionY[d]
    const inside = nextX >= 0 && nextY >= 0 && nextX < roomLattice && nextY < roomLattice
    if (inside && (taken & (1 << (nextY * roomLattice + nextX))) === 0) return d
  }
  return -1
}

const firstRoom = (layout: number, attempt: number): number =>
  drawAt(layout, purposes.walk, attempt * 8, roomLattice * roomLattice)

/** The first sampled walk over the lattice that reaches `rooms` places without crossing itself. */
function workingAttempt(layout: number, rooms: number): number {
  for (let attempt = 0; ; attempt++) {
    const start = firstRoom(layout, attempt)
    let x = start % roomLattice
    let y = Math.floor(start / roomLattice)
    let taken = 1 << start
    let step = 1
    for (; step < rooms; step++) {
      const d = stepOfWalk(layout, attempt, step, x, y, taken)
      if (d < 0) break
      x += directionX[d]
      y += directionY[d]
      taken |= 1 << (y * roomLattice + x)
    }
    if (step === rooms) return attempt
  }
}

/**
 * Carves a chain of `rooms` (2 to 6) square rooms of `size` cells into a board of walls. A closed door
 * separates each room from the next; the goal is in the last room and always reachable. Writes the upper left
 * cell of the first room to the agent's x and y.
 */
function buildRoomChain(
  state: Float64Array,
  base: number,
  board: Board,
  layout: number,
  rooms: number,
  size: number,
): void {
  const attempt = workingAttempt(layout, rooms)
  const start = firstRoom(layout, attempt)
  let x = start % roomLattice
  let y = Math.floor(start / roomLattice)
  let taken = 1 << start
  state[base] = x * (size + 1) + 1
  state[base + 1] = y * (size + 1) + 1
  fillCells(state, base, board, x * (size + 1) + 1, y * (size + 1) + 1, size, size, cells.floor)
  for (let step = 1; step < rooms; step++) {
    const d = stepOfWalk(layout, attempt, step, x, y, taken)
    const place = 1 + drawAt(layout, purposes.door, step, size)
    // The wall in direction d. Right and lower walls lie a room further.
    const wallX = x * (size + 1) + (d === 1 ? size + 1 : d === 3 ? 0 : place)
    const wallY = y * (size + 1) + (d === 2 ? size + 1 : d === 0 ? 0 : place)
    x += directionX[d]
    y += directionY[d]
    taken |= 1 << (y * roomLattice + x)
    fillCells(state, base, board, x * (size + 1) + 1, y * (size + 1) + 1, size, size, cells.floor)
    state[cellIndex(board, base, wallX, wallY)] = cells.closedDoor
  }
  const goal = drawAt(layout, purposes.goal, 0, size * size)
  const goalX = x * (size + 1) + 1 + (goal % size)
  state[cellIndex(board, base, goalX, y * (size + 1) + 1 + Math.floor(goal / size))] = cells.goal
}

const largestRoom = 5
/** State: x, y, heading (0 up, 1 right, 2 down, 3 left), cells. */
const board = { head: 3, side: roomLattice * (largestRoom + 1) + 1 }
const stateSize = boardStateSize(board)
const view = facingView(board, [cells.wall, cells.goal, cells.closedDoor, cells.openDoor], 7)
const actions = { turnLeft: 0, turnRight: 1, forward: 2, toggle: 3 } as const

/**
 * A chain of rooms with closed doors between them (the task of MiniGrid's MultiRoom; Chevalier-Boisvert et al.
 * 2023). The agent starts anywhere in the first room. Reward: 1 at the goal in the last room, which ends the
 * episode. Actions: turn left, turn right, go forward, open or close the door ahead. Observation: the 7x7 cells
 * ahead, [5, 7, 7]: wall, goal, closed door, open door, hidden by a wall or a closed door. The agent is in the
 * middle of the last row and faces the first.
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
