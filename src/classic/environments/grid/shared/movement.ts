import type { EnvironmentRandom } from '../../../environment/index.ts'
import { cellIndex } from './board.ts'
import type { Board } from './board.ts'
import { blocks } from './cells.ts'

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
