import { logSoftmaxRow } from './softmax-rows.ts'
import type { LogitInputs, LogitLossValue } from './types.ts'

/**
 * Distillation over whole distributions, student q and teacher p, each of its tokens weighted: the generalised
 * Jensen-Shannon divergence with mixture m = (1 - beta) q + beta p, `beta KL(p || m) + (1 - beta) KL(q || m)`; its ends
 * are beta 0: forward KL(p || q), and beta 1 (default): reverse KL(q || p), which on the student's own samples is
 * on-policy distillation. Exact gradient with respect to the student's logits.
 *
 * Sources: GKD (arXiv 2306.13649), where the ends are limits up to a factor; TRL's `GKD` and distillation
 * trainers set the ends as here. `distillationAdvantages` is the sampled form, for teachers that give log-probabilities only.
 *
 * @param inputs teacher's logits of the same shape as the student's (log-probabilities do as well).
 */
export function distillationLoss(
  inputs: LogitInputs & { teacherLogits: ArrayLike<number> },
  settings: { beta?: number } = {},
): LogitLossValue {
  const { beta = 1 } = settings
  const { logits, teacherLogits, vocabulary, weights } = inputs
  const gradient = new Float32Array(logits.length)
  const q = new Float64Array(vocabulary)
  const p = new Float64Array(vocabulary)
  const derivatives = new Float64Array(vocabulary)
  let value = 0
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue
    logSoftmaxRow(logits, t * vocabulary, q)
    logSoftmaxRow(teacherLogits, t * vocabulary, p)
    let total = 0
    for (let v = 0; v < vocabulary; v++) {
      const { loss, derivative } = divergenceTerm(q[v], p[v], beta)
      value += weights[t] * loss
      derivatives[v] = derivative
      total += derivative
    }
    for (let v = 0; v < vocabulary; v++)
      gradient[t * vocabulary + v] = weights[t] * (derivatives[v] - Math.exp(q[v]) * total)
  }
  return { value, gradient }
}

/** What one word adds to the divergence, and its slope with respect to log q; both may leave out what sums to 0. */
function divergenceTerm(logQ: number, logP: number, beta: number): { loss: number; derivative: number } {
  const q = Math.exp(logQ)
  const p = Math.exp(logP)
  if (beta === 0) return { loss: p === 0 ? 0 : p * (logP - logQ), derivative: -p }
  if (beta === 1)
    return { loss: q === 0 ? 0 : q * (logQ - logP), derivative: q === 0 ? 0 : q * (logQ - logP) }
  const logM = Math.log((1 - beta) * q + beta * p)
  const ofTeacher = p === 0 ? 0 : beta * p * (logP - logM)
  const ofStudent = q === 0 ? 0 : (1 - beta) * q * (logQ - logM)
  return { loss: ofTeacher + ofStudent, derivative: ofStudent }
}
