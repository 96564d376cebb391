import { adamWStep, createAdamMoments } from './adamw.ts'
import { clipScale, globalNorm } from './clip.ts'

export interface AdamOptions {
  beta1?: number
  beta2?: number
  /** 1e-8 unless told. */
  epsilon?: number
  /** Brings a longer gradient down to this norm first; never unless told. */
  maxGradientNorm?: number
}

/** Adam (Kingma & Ba 2015) for one array of parameters, with what it must remember. */
export interface Adam {
  /** One step in place; gives the norm of the gradient before clipping. */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
  state(): AdamState
  restore(state: AdamState): void
}

export interface AdamState {
  first: Float32Array
  second: Float32Array
  steps: number
}

export function createAdam(length: number, { maxGradientNorm, ...options }: AdamOptions = {}): Adam {
  const moments = createAdamMoments(length)
  let steps = 0
  return {
    step(parameters, gradient, learningRate) {
      const norm = globalNorm([gradient])
      const gradientScale = maxGradientNorm === undefined ? 1 : clipScale(norm, maxGradientNorm)
      adamWStep(parameters, gradient, moments, ++steps, {
        ...options,
        learningRate,
        gradientScale,
        weightDecay: 0,
      })
      return norm
    },
    state: () => ({ first: moments.first.slice(), second: moments.second.slice(), steps }),
    restore(state) {
      moments.first.set(state.first)
      moments.second.set(state.second)
      steps = state.steps
    },
  }
}
