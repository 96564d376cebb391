import { uniformAt } from '../../../../engine/random/index.ts'
import { AgogeError } from '../../../../error.ts'
import type { EnvironmentRandom } from '../../../environment/index.ts'

/** The kinds of cells, as states store them. */
export const cells = { floor: 0, wall: 1, goal: 2, key: 3, closedDoor: 4, openDoor: 5 } as const

/** One character for each kind, by its number. */
export const cellCharacters = '.#Gk+/'

/** One colour for each kind, by its number. */
export const cellColours = ['#f4f1ea', '#3b3f46', '#3a9d5d', '#d9a514', '#8a5a2b', '#d8b48a'] as const

/** Kinds that the agent cannot enter. */
export const blocks = (kind: number): boolean => kind === cells.wall || kind === cells.closedDoor

/**
 * The position of a board in the state of an environment. First come `head` numbers, beginning with the agent's
 * x and y, and its heading if it has one. Then come `side` x `side` cells, row by row from the top. Smaller
 * layouts are surrounded by walls. The outermost cells are walls, so moves need no check of bounds.
 */
export interface Board {
  readonly head: number
  readonly side: number
}

/** Length of the state of an environment on the board. */
export const boardStateSize = (board: Board): number => board.head + board.side * board.side

/** The index of cell (x, y), in the state of the environment that begins at `base`. */
export const cellIndex = (board: Board, base: number, x: number, y: number): number =>
  base + board.head + y * board.side + x

/** Fills all cells with one kind. */
export function fillBoard(state: Float64Array, base: number, board: Board, kind: number): void {
  state.fill(kind, base + board.head, base + boardStateSize(board))
}

/** Fills a rectangle of cells with one kind. */
export function fillCells(
  state: Float64Array,
  base: number,
  board: Board,
  left: number,
  top: number,
  width: number,
  height: number,
  kind: number,
): void {
  for (let y = top; y < top + height; y++) {
    const from = cellIndex(board, base, left, y)
    state.fill(kind, from, from + width)
  }
}

/** The index in the state of the `rank`-th cell (from 0, in reading order) of a kind, or -1 if there are fewer. */
export function nthCell(state: Float64Array, base: number, board: Board, kind: number, rank: number): number {
  let left = rank
  for (let k = base + board.head; k < base + boardStateSize(board); k++) {
    if (state[k] === kind && left-- === 0) return k
  }
  return -1
}

/** Moves the agent to the cell with the given index in the state. */
export function placeAgent(state: Float64Array, base: number, board: Board, index: number): void {
  const cell = index - base - board.head
  state[base] = cell % board.side
  state[base + 1] = Math.floor(cell / board.side)
}

/** The directions, clockwise from up, as actions and as headings. The action `stay` does nothing. */
export const directions = { up: 0, right: 1, down: 2, left: 3, stay: 4 } as const

/** The change of x in each direction, by index. */
export const directionX = Int8Array.of(0, 1, 0, -1, 0)
/** The change of y in each direction, by index. Up is -1, because y counts downwards. */
export const directionY = Int8Array.of(-1, 0, 1, 0, 0)

/** Moves the agent by one cell unless it is blocked. Returns the kind of the cell that it tried to enter. */
export function moveAgent(state: Float64Array, base: number, board: Board, direction: number): number {
  const x = state[base] + directionX[direction]
  const y = state[base + 1] + directionY[direction]
  const kind = state[cellIndex(board, base, x, y)]
  if (!blocks(kind)) {
    state[base] = x
    state[base + 1] = y
  }
  return kind
}

/** The action, or with probability `slip` a uniformly random direction. */
export const withSlip = (action: number, slip: number, random: EnvironmentRandom): number =>
  slip > 0 && random.random() < slip ? random.integers(4) : action

/** The context feature `slip`, the same in all grids. */
export const slipFeature = {
  default: 0,
  low: 0,
  high: 0.3,
  extrapolate: [0, 0.6],
  about: 'chance that a move goes in a random direction',
} as const

/** The context feature `layout`, the same in all environments that generate a layout from a number. */
export const layoutFeature = {
  default: 0,
  low: 0,
  high: 9999,
  extrapolate: [0, 19_999],
  integer: true,
  about: 'number from which the layout is generated',
} as const

/**
 * A random integer from 0 to n - 1 that depends only on the arguments, for generating layouts. `purpose`
 * separates the streams of different uses; `counter` is the position in a stream.
 */
export const drawAt = (layout: number, purpose: number, counter: number, n: number): number =>
  Math.floor(uniformAt(layout, purpose, counter) * n)

/**
 * Reads an integer feature that sizes something.
 *
 * @throws AgogeError `bad-context` for a value that is not an integer in the range
 */
export function wholeFeature(value: number, low: number, high: number, name: string): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value
  throw new AgogeError(`the context feature ${name} is out of range`, {
    code: 'bad-context',
    given: value,
    expected: `a whole number from ${low} to ${high}`,
  })
}
