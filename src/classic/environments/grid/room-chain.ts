import { cellIndex, cells, directionX, directionY, drawAt, fillCells } from './shared/index.ts'
import type { Board } from './shared/index.ts'

/** Rooms lie on a lattice of this many by this many. */
export const roomLattice = 3

const purposes = { walk: 1, door: 2, goal: 3 } as const

/** The direction of the `step`-th room from the one before it; -1 at a dead end. `taken` has a bit a lattice place. */
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

/** The first attempt at a walk over the lattice that comes to `rooms` places without crossing itself. */
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
 * Carves a chain of `rooms` (2 to 6) square rooms of `size` cells into a board of walls, with a closed door between
 * each and the next and the goal in the last; so that the goal can always be reached. Leaves the upper left cell of the
 * first room in the agent's x and y.
 */
export function buildRoomChain(
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
    // The wall on the side of direction d: right and down ones lie a room further.
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
