import type { ArraySpace } from '../environment/index.ts'

/**
 * Brings the first `rows` actions [rows, k] of a box within its bounds, in place, as Stable-Baselines3 and CleanRL do before
 * a step; NaN stays, and choices are left alone.
 */
export function clipActionRows(space: ArraySpace, actions: Float32Array, rows: number): void {
  if (space.type !== 'box') return
  const { low, high } = space
  const size = low.length
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < size; k++) {
      const at = r * size + k
      actions[at] = Math.min(Math.max(actions[at], low[k]), high[k])
    }
  }
}
