import type { ActionDistribution } from '../policy/index.ts'
import {
  add,
  exp,
  maximum,
  mean,
  minimum,
  mul,
  neg,
  reshape,
  square,
  sub,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { KlPenalty } from './kl-control.ts'

export interface PpoLossConfig {
  /** Clip also the change of the value (as OpenAI's code does); false: plain squared error. */
  clipValue: boolean
  entropy: number
  valueWeight: number
  /** Penalise the divergence from the acting policy instead of clipping the ratio. */
  klPenalty?: KlPenalty
}

/** Figures of the loss. */
export type PpoMetric = 'policyLoss' | 'valueLoss' | 'entropy' | 'kl'

/**
 * PPO's loss of what a policy says of rows, its distribution's parameters [R, p] and values [R, 1], against what was
 * kept: actions [R, k], logprobs, values, advantages and returns [R], with clip [1], beta [1] where divergence is
 * penalised, and maskPenalty [R, n] where actions are masked.
 */
export function ppoLoss(
  { clipValue, entropy, valueWeight, klPenalty }: PpoLossConfig,
  distribution: ActionDistribution,
  found: { parameters: Tensor; values: Tensor },
  inputs: Record<string, Tensor>,
): { loss: Tensor; outputs: Record<PpoMetric, Tensor> } {
  const { advantages, returns, clip, maskPenalty } = inputs
  const logRatio = sub(
    distribution.logprob(found.parameters, inputs['actions'], maskPenalty),
    inputs['logprobs'],
  )
  const ratio = exp(logRatio)
  // log(old/new) plus ratio - 1, whose mean is 0: the same mean as the divergence, and never negative (k3 of Schulman)
  const kl = mean(sub(sub(ratio, 1), logRatio))
  const clipped = minimum(maximum(ratio, sub(1, clip)), add(1, clip))
  const surrogate = mul(ratio, advantages)
  const policyLoss =
    klPenalty === undefined
      ? neg(mean(minimum(surrogate, mul(clipped, advantages))))
      : sub(mul(kl, reshape(inputs['beta'], [])), mean(surrogate))
  const values = reshape(found.values, returns.shape)
  const error = square(sub(values, returns))
  const change = sub(values, inputs['values'])
  const clamped = add(inputs['values'], minimum(maximum(change, neg(clip)), clip))
  const valueLoss = mul(
    mean(clipValue ? maximum(error, square(sub(clamped, returns))) : error),
    clipValue ? 0.5 : 1,
  )
  const meanEntropy = mean(distribution.entropy(found.parameters, maskPenalty))
  return {
    loss: add(sub(policyLoss, mul(meanEntropy, entropy)), mul(valueLoss, valueWeight)),
    outputs: { policyLoss, valueLoss, entropy: meanEntropy, kl },
  }
}
