import { type ArraySpace, box, discrete, type EnvArrays } from '../../../environment/index.ts'
import { blocks, type Board, boardStateSize, cells, directionX, directionY } from './board.ts'

/** An observation space and the function that fills it. */
export interface View {
  observation: ArraySpace
  observe: (envs: EnvArrays, i: number) => void
}

/** The number of the agent's cell, y * side + x. Does not show the layout. */
export function cellView(board: Board): View {
  const stateSize = boardStateSize(board)
  return {
    observation: discrete(board.side * board.side),
    observe({ state, observations }, i) {
      observations[i] = state[i * stateSize + 1] * board.side + state[i * stateSize]
    },
  }
}

/** The plane of each kind, or -1 if it has none. */
function planeOf(kinds: readonly number[]): Int8Array {
  const planes = new Int8Array(Object.keys(cells).length).fill(-1)
  kinds.forEach((kind, plane) => (planes[kind] = plane))
  return planes
}

/** The whole board: [kinds + 1, side, side], a plane of zeros and ones for each kind, the agent in the last plane. */
export function fullView(board: Board, kinds: readonly number[]): View {
  const { head, side } = board
  const stateSize = boardStateSize(board)
  const area = side * side
  const size = (kinds.length + 1) * area
  const planes = planeOf(kinds)
  return {
    observation: box([kinds.length + 1, side, side], 0, 1),
    observe({ state, observations }, i) {
      const base = i * stateSize
      const row = i * size
      observations.fill(0, row, row + size)
      for (let k = 0; k < area; k++) {
        const plane = planes[state[base + head + k] | 0]
        if (plane >= 0) observations[row + plane * area + k] = 1
      }
      observations[row + kinds.length * area + state[base + 1] * side + state[base]] = 1
    },
  }
}

/**
 * A window of `size` x `size` (odd) around the agent, not rotated: [kinds, size, size]. Cells outside the board
 * are walls. Nothing is hidden.
 */
export function windowView(board: Board, kinds: readonly number[], size: number): View {
  const { head, side } = board
  const stateSize = boardStateSize(board)
  const area = size * size
  const reach = size >> 1
  const planes = planeOf(kinds)
  return {
    observation: box([kinds.length, size, size], 0, 1),
    observe({ state, observations }, i) {
      const base = i * stateSize
      const row = i * kinds.length * area
      const left = (state[base] | 0) - reach
      const top = (state[base + 1] | 0) - reach
      observations.fill(0, row, row + kinds.length * area)
      for (let r = 0; r < size; r++) {
        for (let c = 0; c < size; c++) {
          const x = left + c
          const y = top + r
          const inside = x >= 0 && y >= 0 && x < side && y < side
          const plane = planes[inside ? state[base + head + y * side + x] | 0 : cells.wall]
          if (plane >= 0) observations[row + plane * area + r * size + c] = 1
        }
      }
    },
  }
}

/**
 * The view ahead of an agent with a heading (state 2): [kinds + 1, size, size] (size odd). The agent is in the
 * middle of the last row and faces the first. The last plane marks cells hidden by walls or closed doors.
 * Visibility spreads from the agent's cell sideways and to the three cells ahead, through cells that can be
 * entered.
 */
export function facingView(board: Board, kinds: readonly number[], size: number): View {
  const { head, side } = board
  const stateSize = boardStateSize(board)
  const area = size * size
  const middle = size >> 1
  const planes = planeOf(kinds)
  const all = 2 ** size - 1
  /** Of the current row. */
  const kindsAhead = new Uint8Array(size)

  /** The visible cells of a row, one bit each, from the lit cells and the transparent cells. */
  function alongRow(lit: number, clear: number): number {
    let seen = lit
    for (;;) {
      const sources = seen & clear
      const spread = (seen | (sources << 1) | (sources >> 1)) & all
      if (spread === seen) return seen
      seen = spread
    }
  }

  return {
    observation: box([kinds.length + 1, size, size], 0, 1),
    observe({ state, observations }, i) {
      const base = i * stateSize
      // Makes these integers for the compiler, because the state stores doubles.
      const agentX = state[base] | 0
      const agentY = state[base + 1] | 0
      const heading = state[base + 2] | 0
      const aheadX = directionX[heading]
      const aheadY = directionY[heading]
      const first = i * (kinds.length + 1) * area
      observations.fill(0, first, first + (kinds.length + 1) * area)
      let lit = 1 << middle
      for (let ahead = 0; ahead < size; ahead++) {
        const row = (size - 1 - ahead) * size
        let clear = 0
        for (let c = 0; c < size; c++) {
          const x = agentX + aheadX * ahead - aheadY * (c - middle)
          const y = agentY + aheadY * ahead + aheadX * (c - middle)
          const inside = x >= 0 && y >= 0 && x < side && y < side
          const kind = inside ? state[base + head + y * side + x] | 0 : cells.wall
          kindsAhead[c] = kind
          if (!blocks(kind)) clear |= 1 << c
        }
        const seen = alongRow(lit, clear)
        for (let c = 0; c < size; c++) {
          const plane = (seen & (1 << c)) === 0 ? kinds.length : planes[kindsAhead[c]]
          if (plane >= 0) observations[first + plane * area + row + c] = 1
        }
        const sources = seen & clear
        lit = (sources | (sources << 1) | (sources >> 1)) & all
      }
    },
  }
}
