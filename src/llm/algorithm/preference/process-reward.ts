import { logSigmoid, sigmoid } from '../losses/logistic.ts'

/**
 * The loss of a process reward model: binary cross-entropy of a logit at the end of each step against a label,
 * 1 = the step is good; a label between (the share of continuations that succeeded) is a soft one.
 *
 * Sources: "Let's Verify Step by Step" (arXiv 2305.20050); soft labels: Math-Shepherd (arXiv 2312.08935). TRL's PRM
 * trainer has two logits and a softmax: the same with this logit as their difference.
 *
 * @param steps weights of each step, default 1 / steps.
 * @returns `gradient[i]` is d value / d logits[i].
 */
export function processRewardLoss(steps: {
  logits: ArrayLike<number>
  labels: ArrayLike<number>
  weights?: ArrayLike<number>
}): { value: number; gradient: Float32Array } {
  const { logits, labels, weights } = steps
  const gradient = new Float32Array(logits.length)
  let value = 0
  for (let i = 0; i < gradient.length; i++) {
    const weight = weights === undefined ? 1 / gradient.length : weights[i]
    value -= weight * (labels[i] * logSigmoid(logits[i]) + (1 - labels[i]) * logSigmoid(-logits[i]))
    gradient[i] = weight * (sigmoid(logits[i]) - labels[i])
  }
  return { value, gradient }
}
