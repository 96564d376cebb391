import type { LossValue } from './types.ts'

/** The weighted negative log-likelihood `-sum(weight * logprob)`: supervised learning. */
export function crossEntropyLoss(inputs: {
  logprobs: ArrayLike<number>
  weights: ArrayLike<number>
}): LossValue {
  const gradient = new Float32Array(inputs.logprobs.length)
  let value = 0
  for (let t = 0; t < gradient.length; t++) {
    if (inputs.weights[t] === 0) continue
    value -= inputs.weights[t] * inputs.logprobs[t]
    gradient[t] = -inputs.weights[t]
  }
  return { value, gradient, clipFraction: 0 }
}
