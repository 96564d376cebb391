/**
 * Where a board lies in a slot's state: first `head` numbers of the environment's own, beginning with the agent's x and y (and
 * its heading, where it has one), then a square of `side` x `side` cells, row by row from the top. Smaller layouts
 * leave walls around. The outermost cells are walls, so that movement needs no check of bounds.
 */
export interface Board {
  readonly head: number
  readonly side: number
}

/** Numbers of state that an environment on the board needs. */
export const boardStateSize = (board: Board): number => board.head + board.side * board.side

/** The index of cell (x, y) in the state of the slot that begins at `base`. */
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
