import { uniformAt } from '../../../../engine/random/index.ts'
import { AgogeError } from '../../../../error.ts'
import type { EnvironmentRandom } from '../../../environment/index.ts'

/** What may stand on a cell of a board; states hold these numbers. */
export const cells = { floor: 0, wall: 1, goal: 2, key: 3, closedDoor: 4, openDoor: 5 } as const

/** One character a kind, by its number. */
export const cellCharacters = '.#Gk+/'

/** The colour of each kind, by its number. */
export const cellColours = ['#f4f1ea', '#3b3f46', '#3a9d5d', '#d9a514', '#8a5a2b', '#d8b48a'] as const

/** Kinds that cannot be entered. */
export const blocks = (kind: number): boolean => kind === cells.wall || kind === cells.closedDoor

/**
 * Where a board lies in an environment's state: first `head` numbers of the environment's own, beginning with the agent's x and y (and
 * its heading, where it has one), then a square of `side` x `side` cells, row by row from the top. Smaller layouts
 * leave walls around. The outermost cells are walls, so that movement needs no check of bounds.
 */
export interface Board {
  readonly head: number
  readonly side: number
}

/** Numbers of state that an environment on the board needs. */
export const boardStateSize = (board: Board): number => board.head + board.side * board.side

/** The index of cell (x, y) in the state of the environment that begins at `base`. */
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

/** The index in the state of the `rank`-th cell (from 0, in reading order) of a kind; -1 where there are fewer. */
export function nthCell(state: Float64Array, base: number, board: Board, kind: number, rank: number): number {
  let left = rank
  for (let k = base + board.head; k < base + boardStateSize(board); k++) {
    if (state[k] === kind && left-- === 0) return k
  }
  return -1
}

/** Puts the agent on the cell with the given index in the state. */
export function placeAgent(state: Float64Array, base: number, board: Board, index: number): void {
  const cell = index - base - board.head
  state[base] = cell % board.side
  state[base + 1] = Math.floor(cell / board.side)
}

/** The directions, clockwise from up, as actions and as headings; `stay` is the action that does nothing. */
export const directions = { up: 0, right: 1, down: 2, left: 3, stay: 4 } as const

/** What a direction adds to x and to y (downwards). */
export const directionX = Int8Array.of(0, 1, 0, -1, 0)
export const directionY = Int8Array.of(-1, 0, 1, 0, 0)

/** Moves the agent by one cell unless it is blocked. Returns the kind of the cell it moved, or tried to move, to. */
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

/** The action, or with chance `slip` one of the four directions, each equally likely. */
export const withSlip = (action: number, slip: number, random: EnvironmentRandom): number =>
  slip > 0 && random.random() < slip ? random.integers(4) : action

/** The feature `slip`, alike in all grids. */
export const slipFeature = {
  default: 0,
  low: 0,
  high: 0.3,
  extrapolate: [0, 0.6],
  about: 'chance that a move goes in a random direction',
} as const

/** The feature `layout`, alike in all environments that generate something from a number. */
export const layoutFeature = {
  default: 0,
  low: 0,
  high: 9999,
  extrapolate: [0, 19_999],
  integer: true,
  about: 'number from which the layout is generated',
} as const

/**
 * A draw from 0 to n - 1 that depends on nothing but its arguments: what layouts are made of. `purpose` keeps draws for
 * different things apart, `counter` those for one.
 */
export const drawAt = (layout: number, purpose: number, counter: number, n: number): number =>
  Math.floor(uniformAt(layout, purpose, counter) * n)

/** A feature that sizes something. Throws `bad-context` unless it is a whole number in the range. */
export function wholeFeature(value: number, low: number, high: number, name: string): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value
  throw new AgogeError(`the context feature ${name} is out of range`, {
    code: 'bad-context',
    given: value,
    expected: `a whole number from ${low} to ${high}`,
  })
}
