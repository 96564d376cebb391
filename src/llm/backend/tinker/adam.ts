import { AgogeError } from '../../../error.ts'
import type { OptimStep } from '../../model-backend.ts'
import { checkOptimStep } from '../../model/optimizer.ts'
import type { AdamParams } from './wire.ts'

/** A step in the words of the protocol, which knows AdamW only; Agoge's own server also takes Muon. */
export function adamParams(step: OptimStep, extended: boolean, host: string): AdamParams {
  // As JSON, what is no number would be null, and stand for the server's own value.
  checkOptimStep(step)
  const { learningRate, optimizer = 'adamw', beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8 } = step
  if (optimizer !== 'adamw' && !extended) {
    throw new AgogeError(`The Tinker server ${host} has no optimiser but AdamW.`, {
      code: 'unsupported-optimizer',
      given: optimizer,
      expected: 'adamw',
      hint: "Say optimizer: 'adamw' in the plan, with a learning rate that suits it.",
    })
  }
  return {
    learning_rate: learningRate,
    beta1,
    beta2,
    eps: epsilon,
    weight_decay: step.weightDecay ?? 0,
    grad_clip_norm: step.clip ?? 0,
    ...(optimizer === 'adamw' ? {} : { optimizer }),
  }
}

/** By whatever name the server tells it; undefined where it does not, which says nothing about the gradient. */
export function gradientNorm(metrics: unknown): number | undefined {
  const entries = Object.entries((metrics ?? {}) as Record<string, unknown>)
  const named = entries.find(([name]) => /(^|\/)(unclipped_)?grad(ient)?_(norm|l2)(:\w+)?$/.test(name))
  return typeof named?.[1] === 'number' ? named[1] : undefined
}
