import {
  add,
  exp,
  less,
  maximum,
  minimum,
  mul,
  neg,
  stopGradient,
  sub,
  sum,
  where,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'

/** Per-token inputs of a loss, all [tokens] but the two clips, which are [1]. */
export interface LossInputs {
  /** Log-probabilities under the weights being trained. */
  logprobs: Tensor
  /** Log-probabilities under the sampling policy. */
  sampled: Tensor
  advantages: Tensor
  rl: Tensor
  ce: Tensor
  kl: Tensor
  clipLow: Tensor
  clipHigh: Tensor
}

/** The largest difference of log-probabilities, either way, whose exponential is taken: that of the pure losses in `algorithm/losses`. */
const logRatioLimit = 20

/** Held within the limit, beyond which it is constant and has no slope. */
function held(difference: Tensor): Tensor {
  return minimum(maximum(difference, -logRatioLimit), logRatioLimit)
}

function objective(name: LossName, inputs: LossInputs): Tensor | undefined {
  if (name === 'cross_entropy') return undefined
  const { logprobs, sampled, advantages } = inputs
  const ratio = exp(held(sub(logprobs, sampled)))
  const plain = mul(ratio, advantages)
  if (name === 'importance_sampling') return plain
  const cap = add(inputs.clipHigh, 1)
  if (name === 'cispo') return mul(mul(stopGradient(minimum(ratio, cap)), advantages), logprobs)
  const clipped = mul(minimum(maximum(ratio, sub(1, inputs.clipLow)), cap), advantages)
  // `where` and not `minimum`: at ratio 1 the two are equal, and the gradient must pass exactly once.
  return where(less(clipped, plain), clipped, plain)
}

/**
 * The weighted sum over tokens, a scalar:
 * - `ce`: -logprob
 * - `rl`: -ratio * A (importance_sampling); -min(ratio * A, clip(ratio) * A) (ppo, Schulman et al. 2017, with the
 *   separate bounds of DAPO, Yu et al. 2025); -stop(min(ratio, 1 + clipHigh)) * A * logprob (cispo, MiniMax 2025)
 *   ratios are those of log-ratios held within +-20
 * - `kl`: r - 1 - log r with r = sampled / trained probability (k3, Schulman 2020), which is 0 where both agree
 */
export function tracedLoss(name: LossName, inputs: LossInputs): Tensor {
  const cross = mul(inputs.ce, neg(inputs.logprobs))
  const difference = held(sub(inputs.sampled, inputs.logprobs))
  const divergence = mul(inputs.kl, sub(sub(exp(difference), 1), difference))
  const reward = objective(name, inputs)
  const total = add(cross, divergence)
  return sum(reward === undefined ? total : sub(total, mul(inputs.rl, reward)))
}
