import { adamInChunks } from '../tensor/index.ts'
import { globalNorm } from './clip.ts'

/** Running averages of one parameter; both start at zero and have its length. */
export interface AdamMoments {
  first: Float32Array
  second: Float32Array
}

export interface AdamWOptions {
  learningRate: number
  /** Decay of the average of the gradient; 0.9 unless told. */
  beta1?: number
  /** Decay of the average of its square; 0.999 unless told. */
  beta2?: number
  /** Keeps the division finite; 1e-8 unless told. */
  epsilon?: number
  /** Decoupled decay: every step shrinks the parameter by `learningRate * weightDecay`; 0.01 unless told, as in PyTorch. */
  weightDecay?: number
  /** The gradient is multiplied by this first, which is how clipping costs no pass of its own; with 0 no step is taken. 1 unless told. */
  gradientScale?: number
}

export function createAdamMoments(length: number): AdamMoments {
  return { first: new Float32Array(length), second: new Float32Array(length) }
}

/**
 * One AdamW step (Loshchilov and Hutter 2019, arXiv:1711.05101) in place, with the semantics of `torch.optim.AdamW`. `step` counts from
 * 1. In single precision.
 *
 * @returns whether the step was taken: a gradient with an entry that is not finite, or one of scale 0, is left out whole, and neither the
 *   parameter nor its moments change, by weight decay either. Do not count such a step.
 */
export function adamWStep(
  parameter: Float32Array,
  gradient: Float32Array,
  moments: AdamMoments,
  step: number,
  options: AdamWOptions,
): boolean {
  const {
    learningRate,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
    weightDecay = 0.01,
    gradientScale = 1,
  } = options
  if (gradientScale === 0 || !Number.isFinite(globalNorm([gradient]) * gradientScale)) return false
  adamInChunks(parameter, gradient, moments.first, moments.second, {
    gradientScale,
    beta1,
    beta2,
    epsilon,
    learningRate,
    step,
    keep: 1 - learningRate * weightDecay,
  })
  return true
}
