import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode } from '../../episode/types.ts'
import type { LossSettings } from '../../model-backend.ts'
import type { PolicyUpdate } from '../types.ts'
import type { LogitInputs, LogitLossValue, LossValue } from './tokens.ts'
import { logSoftmaxRow, tokenWeights } from './tokens.ts'

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

/**
 * The sum of losses over the same tokens, each with its coefficient: a policy loss with a divergence, or demonstrations
 * mixed with RL, `(1 - mu) rl + mu sft`. `clipFraction` is the largest of the terms'.
 *
 * Sources of the mixture: CHORD (arXiv 2508.11408), whose mu falls over training; verl and TRL add `kl_coef * kl`.
 *
 * @throws RangeError if the gradients of the terms differ in length.
 */
export function combineLosses(terms: readonly { loss: LossValue; coefficient: number }[]): LossValue {
  const gradient = new Float32Array(terms.length === 0 ? 0 : terms[0].loss.gradient.length)
  let value = 0
  let clipFraction = 0
  for (const { loss, coefficient } of terms) {
    if (loss.gradient.length !== gradient.length)
      throw new RangeError(
        `losses over ${gradient.length} and ${loss.gradient.length} tokens cannot be added`,
      )
    value += coefficient * loss.value
    clipFraction = Math.max(clipFraction, loss.clipFraction)
    for (let t = 0; t < gradient.length; t++) gradient[t] += coefficient * loss.gradient[t]
  }
  return { value, gradient, clipFraction }
}

/**
 * Weights of demonstrated tokens that reduce those the policy already knows or finds very unlikely: `weight * p (1 -
 * p)`, with p the policy's probability of the token, without gradient. Largest at p = 1/2.
 *
 * Source: CHORD-phi (arXiv 2508.11408).
 */
export function highEntropyWeights(logprobs: ArrayLike<number>, weights: ArrayLike<number>): Float32Array {
  return Float32Array.from(weights, (weight, t) =>
    weight === 0 ? 0 : -weight * Math.exp(logprobs[t]) * Math.expm1(logprobs[t]),
  )
}

/**
 * On-policy distillation as advantages: the teacher's log-probability of each token that the student sampled, relative
 * to the student's, `A_t = coefficient * (teacher logprob - sampler logprob)`, the negative reverse divergence of the
 * token. Use them with `importanceSamplingLoss`, alone or added to reward advantages. With a discount above 0, the
 * advantage of a token includes the divergence of later tokens: `A_t = d_t + discount * A_(t+1)`.
 *
 * Sources: MiniLLM (arXiv 2306.08543) for the discounted form; "On-Policy Distillation" (Thinking Machines, 2025) with
 * discount 0, the default; tinker-cookbook's `kl_penalty_coef` and `kl_discount_factor`. `distillationLoss` is the
 * exact form and needs the teacher's whole distribution.
 *
 * @param sequence the trained tokens of one sequence.
 */
export function distillationAdvantages(
  sequence: { samplerLogprobs: ArrayLike<number>; teacherLogprobs: ArrayLike<number> },
  settings: { coefficient?: number; discount?: number } = {},
): Float32Array {
  const { coefficient = 1, discount = 0 } = settings
  const advantages = new Float32Array(sequence.samplerLogprobs.length)
  let running = 0
  for (let t = advantages.length - 1; t >= 0; t--) {
    running = sequence.teacherLogprobs[t] - sequence.samplerLogprobs[t] + discount * running
    advantages[t] = coefficient * running
  }
  return advantages
}

/**
 * Distillation over whole distributions of student q and teacher p, a weighted sum over tokens. The loss is the
 * generalised Jensen-Shannon divergence with mixture m = (1 - beta) q + beta p, `beta KL(p || m) + (1 - beta) KL(q ||
 * m)`; beta 0 is the forward KL(p || q). beta 1 (default) is the reverse KL(q || p), which is on-policy distillation
 * when the student sampled the tokens. Returns the exact gradient with respect to the student's logits.
 *
 * Sources: GKD (arXiv 2306.13649), where the ends are limits up to a factor; TRL's `GKD` and distillation trainers set
 * the ends as here. `distillationAdvantages` is the sampled form, for teachers that give log-probabilities only.
 *
 * @param inputs the teacher's logits or log-probabilities, in the shape of the student's logits.
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

/**
 * What one vocabulary entry adds to the divergence, and its derivative with respect to log q. Both may omit terms that
 * sum to 0.
 */
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

/** Number of tokens that the policy chose in an episode, including masked episodes. */
export function trainedTokens(episode: Episode): number {
  let count = 0
  for (const sample of episode.samples)
    if (sample.trainable) for (const chosen of sample.mask) count += chosen
  return count
}

/**
 * Supervised fine-tuning: cross-entropy of the demonstrator's tokens, the mean over all of them in the batch. Tokens of
 * tools, user and system are never trained. Masked episodes are left out.
 *
 * @returns the training sequences and the settings of the loss.
 * @example
 * const { sequences, loss } = supervised(demonstrations)
 * await backend.forwardBackward(sequences, loss)
 */
export function supervised(episodes: readonly Episode[]): PolicyUpdate & { loss: LossSettings } {
  const judged = episodes.filter((episode) => episode.status !== 'masked')
  const weights = tokenWeights(judged.map(trainedTokens), { mode: 'token-mean' })
  return {
    sequences: judged.flatMap((episode, at) =>
      toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: weights[at] } })),
    ),
    loss: { name: 'cross_entropy' },
    metrics: {},
  }
}
