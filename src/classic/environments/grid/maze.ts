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
  layoutFeature,
  moveAgent,
  slipFeature,
  wholeFeature,
  withSlip,
} from './shared/board.ts'
import { boardDrawing, boardText } from './shared/frames.ts'
import { fullView, type View, windowView } from './shared/views.ts'

const purposes = { carve: 1, braid: 2, opening: 3 } as const
/** While carving, a visited place stores this number plus the direction that leads back; 4 at the start. */
const visited = 8

/** Whether the next place in direction d lies in the maze. */
function isInside(size: number, x: number, y: number, d: number): boolean {
  const toX = x + 2 * directionX[d]
  const toY = y + 2 * directionY[d]
  return toX >= 1 && toY >= 1 && toX < 2 * size && toY < 2 * size
}

/** Whether direction d has an unvisited place. */
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
 * Carves a perfect maze of `size` x `size` places into a board of walls: a depth-first walk from the upper left
 * place that backtracks at dead ends. Exactly one path connects any two places. Place (a, b) is cell (2 a + 1,
 * 2 b + 1).
 */
function carveMaze(state: Float64Array, base: number, board: Board, layout: number, size: number): void {
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

/** Opens another wall at each dead end with probability `braid`, which makes loops. With 1, no dead end remains. */
function braidMaze(
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

const largest = 7
const board = { head: 2, side: 2 * largest + 1 }
const stateSize = boardStateSize(board)

/**
 * A generated maze that is always solvable, from the upper left place to the goal. Reward: 1 at the goal, which
 * ends the episode. Actions: up, right, down, left.
 */
const createMaze = (name: string, view: View) =>
  defineEnvironment({
    name,
    observation: view.observation,
    action: discrete(4),
    context: {
      layout: { ...layoutFeature, about: 'number from which the ways are generated' },
      size: {
        default: 4,
        low: 3,
        high: 5,
        extrapolate: [2, largest],
        integer: true,
        about: 'places in a row; the board has 2 size + 1 cells in a row',
      },
      braid: {
        default: 0,
        low: 0,
        high: 0.5,
        extrapolate: [0, 1],
        about: 'share of dead ends that are opened',
      },
      goal: {
        ...layoutFeature,
        about: 'number from which the place of the goal is drawn; 0 is the far corner',
      },
      slip: slipFeature,
    },
    stateSize,
    maxSteps: 200,
    reset({ state, context }, i) {
      const base = i * stateSize
      const layout = context.layout[i]
      const size = wholeFeature(context.size[i], 2, largest, 'size')
      const goal = context.goal[i]
      fillBoard(state, base, board, cells.wall)
      carveMaze(state, base, board, layout, size)
      if (context.braid[i] > 0) braidMaze(state, base, board, layout, size, context.braid[i])
      const places = size * size
      const place = goal === 0 ? places - 1 : 1 + drawAt(goal, 0, 0, places - 1)
      const goalY = 1 + 2 * Math.floor(place / size)
      state[cellIndex(board, base, 1 + 2 * (place % size), goalY)] = cells.goal
      state[base] = 1
      state[base + 1] = 1
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

/** Observes the whole maze, [3, 15, 15]: wall, goal, agent. */
export const maze = createMaze('maze', fullView(board, [cells.wall, cells.goal]))
/** Observes only the 5x5 cells around the agent, [2, 5, 5]: wall, goal. */
export const mazeWindow = createMaze('maze-window', windowView(board, [cells.wall, cells.goal], 5))
