import { AgogeError } from '../../error.ts'

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
