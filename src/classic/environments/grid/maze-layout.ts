import { cellIndex, cells, directionX, directionY, drawAt } from './shared/index.ts'
import type { Board } from './shared/index.ts'

const purposes = { carve: 1, braid: 2, opening: 3 } as const
/** While carving, a visited place holds this number plus the direction that leads back; 4 at the start. */
const visited = 8

/** Whether the next place in direction d lies in the maze. */
function isInside(size: number, x: number, y: number, d: number): boolean {
  const toX = x + 2 * directionX[d]
  const toY = y + 2 * directionY[d]
  return toX >= 1 && toY >= 1 && toX < 2 * size && toY < 2 * size
}

/** Whether there is a place in direction d that the walk has not come to. */
function isUnvisited(
  state: Float64Array,
  base: number,
  board: Board,
  size: number,
  x: number,
  y: number,
  d: number,
): boolean {
  if (!isInside(size, x, y, d)) return false
  const there = cellIndex(board, base, x + 2 * directionX[d], y + 2 * directionY[d])
  return state[there] === cells.wall
}

/**
 * Carves a perfect maze of `size` x `size` places into a board of walls: a depth-first walk from the upper left place,
 * which goes back the way it came at dead ends, so that every place is reached by exactly one way. Place (a, b) is cell
 * (2 a + 1, 2 b + 1).
 */
export function carveMaze(
  state: Float64Array,
  base: number,
  board: Board,
  layout: number,
  size: number,
): void {
  let x = 1
  let y = 1
  state[cellIndex(board, base, x, y)] = visited + 4
  for (let draws = 0; ; draws++) {
    let ways = 0
    for (let d = 0; d < 4; d++) if (isUnvisited(state, base, board, size, x, y, d)) ways++
    const here = cellIndex(board, base, x, y)
    if (ways === 0) {
      const back = (state[here] | 0) - visited
      state[here] = cells.floor
      if (back === 4) return
      x += 2 * directionX[back]
      y += 2 * directionY[back]
      continue
    }
    let rank = drawAt(layout, purposes.carve, draws, ways)
    for (let d = 0; d < 4; d++) {
      if (!isUnvisited(state, base, board, size, x, y, d) || rank-- > 0) continue
      state[here + directionY[d] * board.side + directionX[d]] = cells.floor
      x += 2 * directionX[d]
      y += 2 * directionY[d]
      state[cellIndex(board, base, x, y)] = visited + ((d + 2) % 4)
      break
    }
  }
}

/** Opens a further wall at each dead end with chance `braid`, which makes loops: 1 leaves no dead end. */
export function braidMaze(
  state: Float64Array,
  base: number,
  board: Board,
  layout: number,
  size: number,
  braid: number,
): void {
  for (let place = 0; place < size * size; place++) {
    const x = 1 + 2 * (place % size)
    const y = 1 + 2 * Math.floor(place / size)
    const here = cellIndex(board, base, x, y)
    let walls = 0
    for (let d = 0; d < 4; d++)
      if (state[here + directionY[d] * board.side + directionX[d]] === cells.wall) walls++
    if (walls < 3 || drawAt(layout, purposes.braid, place, 2 ** 32) >= braid * 2 ** 32) continue
    const first = drawAt(layout, purposes.opening, place, 4)
    for (let turn = 0; turn < 4; turn++) {
      const d = (first + turn) % 4
      const wall = here + directionY[d] * board.side + directionX[d]
      if (!isInside(size, x, y, d) || state[wall] !== cells.wall) continue
      state[wall] = cells.floor
      break
    }
  }
}
