import { box } from '../../../environment/index.ts'
import { boardStateSize, cellIndex } from './board.ts'
import type { Board } from './board.ts'
import { blocks, cells } from './cells.ts'
import { directionX, directionY } from './movement.ts'
import { planeOf } from './views.ts'
import type { View } from './views.ts'

/**
 * What an agent with a heading (state 2) sees ahead: [kinds + 1, size, size] (size odd), the agent in the middle of the
 * last row, facing the first. The last plane marks cells that walls or closed doors hide: sight spreads from the
 * agent's cell sideways and to the three cells ahead, through cells that can be entered.
 */
export function facingView(board: Board, kinds: readonly number[], size: number): View {
  const { side } = board
  const stateSize = boardStateSize(board)
  const area = size * size
  const middle = size >> 1
  const planes = planeOf(kinds)
  const kind = new Uint8Array(area)
  const seen = new Uint8Array(area)

  const clear = (k: number): boolean => seen[k] === 1 && !blocks(kind[k])

  /** Row r of the view from the row behind it (r + 1), then sideways. */
  function lookAlong(r: number): void {
    const row = r * size
    for (let c = 0; c < size; c++) {
      const behind = row + size + c
      const ahead =
        r === size - 1
          ? c === middle
          : clear(behind) || (c > 0 && clear(behind - 1)) || (c < size - 1 && clear(behind + 1))
      seen[row + c] = ahead ? 1 : 0
    }
    for (let c = 1; c < size; c++) if (clear(row + c - 1)) seen[row + c] = 1
    for (let c = size - 2; c >= 0; c--) if (clear(row + c + 1)) seen[row + c] = 1
  }

  return {
    observation: box([kinds.length + 1, size, size], 0, 1),
    observe({ state, observations }, i) {
      const base = i * stateSize
      const heading = state[base + 2]
      const aheadX = directionX[heading]
      const aheadY = directionY[heading]
      for (let k = 0; k < area; k++) {
        const ahead = size - 1 - Math.floor(k / size)
        const right = (k % size) - middle
        const x = state[base] + aheadX * ahead - aheadY * right
        const y = state[base + 1] + aheadY * ahead + aheadX * right
        const inside = x >= 0 && y >= 0 && x < side && y < side
        kind[k] = inside ? state[cellIndex(board, base, x, y)] : cells.wall
      }
      for (let r = size - 1; r >= 0; r--) lookAlong(r)
      const row = i * (kinds.length + 1) * area
      observations.fill(0, row, row + (kinds.length + 1) * area)
      for (let k = 0; k < area; k++) {
        const plane = seen[k] === 1 ? planes[kind[k]] : kinds.length
        if (plane >= 0) observations[row + plane * area + k] = 1
      }
    },
  }
}
