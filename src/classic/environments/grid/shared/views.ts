import { box, discrete } from '../../../environment/index.ts'
import type { ArraySpace, EnvArrays } from '../../../environment/index.ts'
import { boardStateSize } from './board.ts'
import type { Board } from './board.ts'
import { cells } from './cells.ts'

/** An observation space and what fills it. */
export interface View {
  observation: ArraySpace
  observe: (numEnvs: EnvArrays, i: number) => void
}

/** The number of the agent's cell, y * side + x: the layout stays hidden. */
export function cellView(board: Board): View {
  const stateSize = boardStateSize(board)
  return {
    observation: discrete(board.side * board.side),
    observe({ state, observations }, i) {
      observations[i] = state[i * stateSize + 1] * board.side + state[i * stateSize]
    },
  }
}

/** From a kind to its plane; -1 where it has none. */
export function planeOf(kinds: readonly number[]): Int8Array {
  const planes = new Int8Array(Object.keys(cells).length).fill(-1)
  kinds.forEach((kind, plane) => (planes[kind] = plane))
  return planes
}

/** The whole board: [kinds + 1, side, side], a plane of zeros and ones for each kind, the agent in the last. */
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
 * A window of `size` x `size` (odd) around the agent, not turned: [kinds, size, size]. What lies outside the board is
 * wall. Nothing hides anything.
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
