import { box } from '../../../environment/index.ts'
import { boardStateSize } from './board.ts'
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
  const { head, side } = board
  const stateSize = boardStateSize(board)
  const area = size * size
  const middle = size >> 1
  const planes = planeOf(kinds)
  const all = 2 ** size - 1
  /** Of the row that is looked at. */
  const kindsAhead = new Uint8Array(size)

  /** The cells of a row that are seen, one bit each, from those that light comes to and those that let it through. */
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
      // Whole numbers for the compiler as well: the state holds doubles.
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
