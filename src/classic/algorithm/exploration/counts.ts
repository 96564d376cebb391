import { rowSize } from '../../environment/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { MakeBonus } from './bonus.ts'

/** Options of `counts`. */
export interface CountOptions {
  /**
   * How observations are grouped into states. `resolution` rounds to multiples (default: 0.01). `hashBits` uses
   * the signs of that many random projections, so that similar observations share a count.
   */
  resolution?: number
  hashBits?: number
  /** Counts pairs of an observation and the action taken in it, not the next observation. Default: false. */
  withActions?: boolean
}

/**
 * A count-based bonus 1 / sqrt(n), where n is the number of visits to a state, including this one. Tabular (Strehl
 * & Littman 2008, doi:10.1016/j.jcss.2007.08.009) or with SimHash (Tang et al. 2017, arXiv:1611.04717).
 */
export const counts =
  (options: CountOptions = {}): MakeBonus =>
  (definition, { seed }) => {
    const { resolution = 0.01, hashBits, withActions = false } = options
    const width = rowSize(definition.observation)
    const actionSize = rowSize(definition.action)
    const random = createRandom('counts', seed)
    const directions = Float64Array.from({ length: (hashBits ?? 0) * width }, () => random.normal())
    let seen = new Map<string, number>()

    function key(row: number, observations: Float32Array, actions: Float32Array, next: Float32Array): string {
      const from = withActions ? observations : next
      let text = ''
      if (hashBits === undefined) {
        for (let k = row * width; k < (row + 1) * width; k++) text += `${Math.round(from[k] / resolution)},`
      } else {
        for (let bit = 0; bit < hashBits; bit++) {
          let dot = 0
          for (let k = 0; k < width; k++) dot += directions[bit * width + k] * from[row * width + k]
          text += dot > 0 ? '1' : '0'
        }
      }
      if (withActions) text += `|${actions.subarray(row * actionSize, (row + 1) * actionSize).join()}`
      return text
    }

    return Promise.resolve({
      bonus(observations, actions, next, rows, out) {
        for (let r = 0; r < rows; r++)
          out[r] = 1 / Math.sqrt(1 + (seen.get(key(r, observations, actions, next)) ?? 0))
      },
      learn(observations, actions, next, rows) {
        for (let r = 0; r < rows; r++) {
          const state = key(r, observations, actions, next)
          seen.set(state, (seen.get(state) ?? 0) + 1)
        }
        return undefined
      },
      state: () => ({ seen: new Map(seen), directions: directions.slice() }),
      restore(saved) {
        const state = saved as { seen: Map<string, number>; directions: Float64Array }
        seen = new Map(state.seen)
        directions.set(state.directions)
      },
      dispose: () => Promise.resolve(),
    })
  }
