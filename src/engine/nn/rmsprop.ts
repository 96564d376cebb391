import { clipScale, globalNorm } from './clip.ts'

export interface RmsPropOptions {
  /** Decay of the average of the squared gradient; 0.99 unless told. */
  decay?: number
  /** 1e-8 unless told. */
  epsilon?: number
  /** Brings a longer gradient down to this norm first; never unless told. */
  maxGradientNorm?: number
}

/** RMSprop (Tieleman & Hinton 2012, lecture 6.5) for one array of parameters, with the semantics of `torch.optim.RMSprop`. */
export interface RmsProp {
  /**
   * One step in place; gives the norm of the gradient before clipping. A gradient with an entry that is not finite is left out whole:
   * parameters and averages stay as they are, and the norm says so (NaN or Infinity).
   */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
  state(): RmsPropState
  restore(state: RmsPropState): void
}

export interface RmsPropState {
  square: Float32Array
}

export function createRmsProp(length: number, options: RmsPropOptions = {}): RmsProp {
  const { decay = 0.99, epsilon = 1e-8, maxGradientNorm } = options
  const square = new Float32Array(length)
  return {
    step(parameters, gradient, learningRate) {
      const norm = globalNorm([gradient])
      if (!Number.isFinite(norm)) return norm
      const scale = maxGradientNorm === undefined ? 1 : clipScale(norm, maxGradientNorm)
      for (let i = 0; i < length; i++) {
        const g = gradient[i] * scale
        const v = decay * square[i] + (1 - decay) * g * g
        square[i] = v
        parameters[i] -= (learningRate * g) / (Math.sqrt(v) + epsilon)
      }
      return norm
    },
    state: () => ({ square: square.slice() }),
    restore: (state) => square.set(state.square),
  }
}
