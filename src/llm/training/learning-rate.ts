import type { OptimStep } from '../model-backend.ts'
import type { OptimiserSettings } from './types.ts'

/**
 * The optimiser step at `step` (from 0): linear warm-up, then linear decay by `progress` (0 at the start, 1 at the
 * end of the budget) down to `final` of the peak.
 */
export function optimStepAt(settings: OptimiserSettings, step: number, progress: number): OptimStep {
  const { learningRate, warmup = 0, final = 0, optimizer, weightDecay, beta1, beta2, clip } = settings
  const rise = Math.min(1, (step + 1) / (warmup + 1))
  const fall = 1 - (1 - final) * Math.min(1, Math.max(0, progress))
  return {
    learningRate: learningRate * rise * fall,
    ...(optimizer === undefined ? {} : { optimizer }),
    ...(weightDecay === undefined ? {} : { weightDecay }),
    ...(beta1 === undefined ? {} : { beta1 }),
    ...(beta2 === undefined ? {} : { beta2 }),
    ...(clip === undefined ? {} : { clip }),
  }
}
