import { adamMachine } from '../tensor/index.ts'
import { clipScale } from './clip.ts'

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
  /**
   * One step in place; gives the norm of the gradient before clipping. A gradient with an entry that is not finite is left out whole:
   * parameters, moments and the count of steps stay as they are, and the norm says so (NaN or Infinity).
   */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
  state(): AdamState
  restore(state: AdamState): void
}

/** One with memory of its own for what it moves. */
export interface AdamInPlace extends Adam {
  /** Memory for parameters, their gradient and a copy that follows them: what lies here is not copied for a step. */
  readonly own: {
    readonly parameters: Float32Array
    readonly gradient: Float32Array
    readonly target: Float32Array
  }
  /** `own.target` moves towards `own.parameters` by the share `rate` (Polyak averaging; 1 copies). */
  follow(rate: number): void
}

export interface AdamState {
  first: Float32Array
  second: Float32Array
  steps: number
}

export function createAdam(
  length: number,
  { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradientNorm }: AdamOptions = {},
): AdamInPlace {
  const machine = adamMachine(length)
  const scaleFor = (norm: number): number =>
    maxGradientNorm === undefined ? 1 : clipScale(norm, maxGradientNorm)
  let steps = 0
  return {
    step(parameters, gradient, learningRate) {
      const numbers = { learningRate, beta1, beta2, epsilon, step: steps + 1, scaleFor }
      const norm = machine.run(parameters, gradient, numbers)
      if (Number.isFinite(norm)) steps++
      return norm
    },
    own: machine.own,
    follow(rate) {
      if (rate === 1) machine.own.target.set(machine.own.parameters)
      else machine.follow(rate)
    },
    state: () => ({ first: machine.first.slice(), second: machine.second.slice(), steps }),
    restore(state) {
      machine.first.set(state.first)
      machine.second.set(state.second)
      steps = state.steps
    },
  }
}
