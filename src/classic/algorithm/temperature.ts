import { createAdam } from '../../engine/nn/index.ts'
import type { AdamState } from '../../engine/nn/index.ts'

/** `auto`: adjusted so that the policy keeps a certain entropy; `start` is where it begins. */
export type TemperatureConfig = number | { auto: true; start: number }

/** The weight of entropy against reward. */
export interface Temperature {
  /** Fed to programs, [1]. */
  readonly value: Float32Array
  /** Sees the mean entropy of the policy on a batch, and the mean of what it should be in those states. */
  update(entropy: number, target: number): void
  state(): unknown
  restore(state: unknown): void
}

/**
 * Fixed, or learned as in Haarnoja et al. 2018 (arXiv:1812.05905, section 5): its logarithm descends the gradient
 * (entropy - target), by Adam.
 */
export function createTemperature(
  config: TemperatureConfig,
  { learningRate }: { learningRate: number },
): Temperature {
  const logarithm = Float32Array.of(Math.log(typeof config === 'number' ? config : config.start))
  const value = Float32Array.of(Math.exp(logarithm[0]))
  const adam = createAdam(1)
  return {
    value,
    update(entropy, target) {
      if (typeof config === 'number') return
      adam.step(logarithm, Float32Array.of(entropy - target), learningRate)
      value[0] = Math.exp(logarithm[0])
    },
    state: () => ({ logarithm: logarithm[0], adam: adam.state() }),
    restore(saved) {
      const state = saved as { logarithm: number; adam: AdamState }
      logarithm[0] = state.logarithm
      value[0] = Math.exp(state.logarithm)
      adam.restore(state.adam)
    },
  }
}
