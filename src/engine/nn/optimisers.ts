import { adamInChunks, adamMachine, squaresInChunks } from '../tensor/index.ts'
import { AgogeError } from '../../error.ts'

/** The Euclidean norm of all gradients, taken as one vector. Sums in double precision. */
export function globalNorm(gradients: Iterable<Float32Array>): number {
  let sum = 0
  for (const gradient of gradients) sum += squaresInChunks(gradient)
  return Math.sqrt(sum)
}

/**
 * The factor that scales gradients of this norm down to `limit`, or 1 if the norm is smaller (Pascanu et al.
 * 2013; PyTorch's `clip_grad_norm_`). Pass it to the optimiser as `gradientScale`. For a norm that is not
 * finite it is 0, and every optimiser here skips the step: parameters, moments and step count do not change.
 */
export function clipScale(norm: number, limit: number): number {
  if (!Number.isFinite(norm)) return 0
  return Math.min(1, limit / (norm + 1e-6))
}

/** Options of `createAdam` and `createRAdam`. */
export interface AdamOptions {
  beta1?: number
  beta2?: number
  /** Default: 1e-8. */
  epsilon?: number
  /** Clips the norm of the gradient to this. Default: no clipping. */
  maxGradientNorm?: number
}

/** Adam (Kingma & Ba 2015) for one array of parameters, with its state. */
export interface Adam {
  /**
   * Takes one step in place and returns the norm of the gradient before clipping. A gradient with an entry that
   * is not finite is skipped: parameters, moments and step count do not change, and the norm is NaN or
   * Infinity.
   */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
  state(): AdamState
  restore(state: AdamState): void
}

/** An Adam that owns the memory of the parameters. */
export interface AdamInPlace extends Adam {
  /** Memory for the parameters, their gradient and a target copy. Arrays here are not copied for a step. */
  readonly own: {
    readonly parameters: Float32Array
    readonly gradient: Float32Array
    readonly target: Float32Array
  }
  /** Moves `own.target` towards `own.parameters`: target += rate (parameters - target). A rate of 1 copies. */
  follow(rate: number): void
}

/**
 * The state of an Adam: the moving averages of the gradient (`first`) and of its square (`second`), one number for each
 * parameter, and the number of steps taken.
 */
export interface AdamState {
  first: Float32Array
  second: Float32Array
  steps: number
}

/**
 * Adam (Kingma & Ba 2015, arXiv:1412.6980) for an array of `length` parameters. The moments start at zero. For
 * the fastest steps, keep the parameters and the gradient in `own`.
 *
 * @param options defaults: `beta1` 0.9, `beta2` 0.999, `epsilon` 1e-8, no clipping
 *
 * @example
 * const adam = createAdam(2, { maxGradientNorm: 0.5 })
 * const { parameters, gradient } = adam.own
 * gradient.set([0.3, -0.4])
 * adam.step(parameters, gradient, 3e-4) // 0.5, the norm before clipping
 */
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

/** Moving averages of one parameter. Both start at zero and have its length. */
export interface AdamMoments {
  first: Float32Array
  second: Float32Array
}

/** Options of `adamWStep`. */
export interface AdamWOptions {
  learningRate: number
  /** Decay of the average of the gradient. Default: 0.9. */
  beta1?: number
  /** Decay of the average of its square. Default: 0.999. */
  beta2?: number
  /** Avoids division by zero. Default: 1e-8. */
  epsilon?: number
  /**
   * Decoupled weight decay: every step shrinks the parameter by `learningRate * weightDecay`. Default: 0.01, as
   * in PyTorch.
   */
  weightDecay?: number
  /** Multiplies the gradient first, so clipping needs no extra pass. With 0, no step is taken. Default: 1. */
  gradientScale?: number
}

/** Zero moments for a parameter of `length` numbers, as `adamWStep` takes them. */
export function createAdamMoments(length: number): AdamMoments {
  return { first: new Float32Array(length), second: new Float32Array(length) }
}

/**
 * One AdamW step (Loshchilov and Hutter 2019, arXiv:1711.05101) in place, equal to `torch.optim.AdamW`, in
 * single precision. `step` counts from 1.
 *
 * @returns whether the step was taken. A gradient with an entry that is not finite, or a scale of 0, skips the
 * step: parameter and moments do not change, and weight decay is not applied. Do not count a skipped step.
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

/**
 * Adam with a rectified adaptive step: the step is smaller while the estimate of the variance is unreliable
 * (Liu et al. 2020, arXiv:1908.03265). Equal to `torch.optim.RAdam`.
 */
export function createRAdam(length: number, options: AdamOptions = {}): Adam {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, maxGradientNorm } = options
  const { first, second } = createAdamMoments(length)
  const longest = 2 / (1 - beta2) - 1
  let steps = 0
  return {
    step(parameters, gradient, learningRate) {
      const norm = globalNorm([gradient])
      if (!Number.isFinite(norm)) return norm
      const scale = maxGradientNorm === undefined ? 1 : clipScale(norm, maxGradientNorm)
      steps++
      const left = 1 - beta2 ** steps
      // The length of the average, rho in the paper.
      const rho = longest - (2 * steps * beta2 ** steps) / left
      const rectified =
        rho > 5
          ? Math.sqrt(((rho - 4) * (rho - 2) * longest) / ((longest - 4) * (longest - 2) * rho)) *
            Math.sqrt(left)
          : 0
      const rate = learningRate / (1 - beta1 ** steps)
      for (let i = 0; i < length; i++) {
        const g = gradient[i] * scale
        const m = beta1 * first[i] + (1 - beta1) * g
        const v = beta2 * second[i] + (1 - beta2) * g * g
        first[i] = m
        second[i] = v
        parameters[i] -= rate * m * (rectified === 0 ? 1 : rectified / (Math.sqrt(v) + epsilon))
      }
      return norm
    },
    state: () => ({ first: first.slice(), second: second.slice(), steps }),
    restore(state) {
      first.set(state.first)
      second.set(state.second)
      steps = state.steps
    },
  }
}

/** Options of `createRmsProp`. */
export interface RmsPropOptions {
  /** Decay of the average of the squared gradient. Default: 0.99. */
  decay?: number
  /** Default: 1e-8. */
  epsilon?: number
  /** Clips the norm of the gradient to this. Default: no clipping. */
  maxGradientNorm?: number
}

/** RMSprop (Tieleman & Hinton 2012, lecture 6.5) for one array of parameters, equal to `torch.optim.RMSprop`. */
export interface RmsProp {
  /**
   * Takes one step in place and returns the norm of the gradient before clipping. A gradient with an entry that
   * is not finite is skipped: parameters and averages do not change, and the norm is NaN or Infinity.
   */
  step(parameters: Float32Array, gradient: Float32Array, learningRate: number): number
  state(): RmsPropState
  restore(state: RmsPropState): void
}

/** The state of an RMSprop: the moving average of the squared gradient, one number for each parameter. */
export interface RmsPropState {
  square: Float32Array
}

/**
 * RMSprop (Tieleman & Hinton 2012, lecture 6.5) for an array of `length` parameters. The average starts at zero.
 *
 * @param options defaults: `decay` 0.99, `epsilon` 1e-8, no clipping
 *
 * @example
 * const rmsProp = createRmsProp(2)
 * rmsProp.step(Float32Array.of(1, 2), Float32Array.of(0.3, -0.4), 7e-4) // 0.5, the norm of the gradient
 */
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

/** The learning rate of a step, as a fraction of the peak in [0, 1]. Steps count from 0. */
export type Schedule = (step: number) => number

/** Always 1, the peak. */
export const constantSchedule: Schedule = () => 1

/** Linear warm-up from `1 / steps` at step 0 to 1 at step `steps - 1`, then constant. */
export function warmUp(steps: number): Schedule {
  return (step) => (step + 1 >= steps ? 1 : (step + 1) / steps)
}

/** Linear warm-up over `warmUpSteps`, then linear decay to `final` at step `steps`. */
export function linearDecay(options: DecayOptions): Schedule {
  return warmUpThen(options, (progress, final) => 1 - (1 - final) * progress)
}

/**
 * Linear warm-up over `warmUpSteps`, then cosine decay to `final` at step `steps` (Loshchilov and Hutter 2017,
 * arXiv:1608.03983).
 */
export function cosineDecay(options: DecayOptions): Schedule {
  return warmUpThen(
    options,
    (progress, final) => final + (1 - final) * 0.5 * (1 + Math.cos(Math.PI * progress)),
  )
}

/**
 * Warm-up, stable, decay (Hu et al. 2024, arXiv:2404.06395): linear warm-up, then the peak, then linear decay
 * to `final` over the last `decaySteps` of `steps`.
 */
export function warmUpStableDecay(options: DecayOptions & { decaySteps: number }): Schedule {
  const { steps, decaySteps, warmUpSteps = 0, final = 0 } = options
  check(
    decaySteps >= 0 && warmUpSteps + decaySteps <= steps,
    { ...options },
    'warmUpSteps + decaySteps of at most steps',
  )
  const rise = warmUp(warmUpSteps)
  const decayFrom = steps - decaySteps
  return (step) => {
    if (step < decayFrom) return rise(step)
    return 1 - (1 - final) * Math.min(1, (step - decayFrom) / decaySteps)
  }
}

/** Options of `linearDecay`, `cosineDecay` and `warmUpStableDecay`. */
export interface DecayOptions {
  /** Length of the whole schedule in steps. Afterwards the value stays at `final`. */
  steps: number
  /** Default: 0. */
  warmUpSteps?: number
  /** Fraction of the peak at the end. Default: 0. */
  final?: number
}

function warmUpThen(options: DecayOptions, decay: (progress: number, final: number) => number): Schedule {
  const { steps, warmUpSteps = 0, final = 0 } = options
  check(steps > warmUpSteps, { ...options }, 'more steps than warmUpSteps')
  const rise = warmUp(warmUpSteps)
  return (step) =>
    step < warmUpSteps ? rise(step) : decay(Math.min(1, (step - warmUpSteps) / (steps - warmUpSteps)), final)
}

function check(fits: boolean, given: unknown, expected: string): void {
  if (!fits)
    throw new AgogeError('The schedule does not fit its steps.', { code: 'bad-config', given, expected })
}
