import { sigmoid } from '../losses/tokens.ts'

/** Unpaired answers labelled good or bad. All arrays have one entry per answer. */
export interface JudgedAnswers {
  /** Log-probabilities of whole answers, summed over tokens. */
  logprobs: ArrayLike<number>
  referenceLogprobs: ArrayLike<number>
  desirable: ArrayLike<boolean | number>
  /** Weight of each answer; 0 = does not count. Default: 1 / answers (the mean). */
  weights?: ArrayLike<number>
}

/** Settings of `ktoLoss`. */
export interface KtoSettings {
  /** The reference point between gains and losses, at least 0 nats: `ktoReference` of mismatched answers. */
  reference: number
  /** Default: 0.1. */
  beta?: number
  /**
   * Weights of good and bad answers. With unequal numbers, choose them so that the ratio of number x weight is within 1
   * to 4/3.
   */
  desirableWeight?: number
  undesirableWeight?: number
}

/**
 * Kahneman-Tversky optimisation: a good answer has loss `w_D (1 - sigmoid(beta (l - z)))`, a bad one `w_U (1 -
 * sigmoid(beta (z - l)))`, where l is the log-ratio of the answer and z the reference point, without gradient.
 *
 * Source: KTO (arXiv 2402.01306); TRL's `kto` (there the constants are weights too, and the mean is over all answers of
 * the batch, good and bad).
 *
 * @returns `gradient[i]` is d value / d logprobs[i].
 */
export function ktoLoss(
  answers: JudgedAnswers,
  settings: KtoSettings,
): { value: number; gradient: Float32Array } {
  const { reference, beta = 0.1, desirableWeight = 1, undesirableWeight = 1 } = settings
  const { logprobs, referenceLogprobs, desirable, weights } = answers
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  for (let i = 0; i < gradient.length; i++) {
    const sign = desirable[i] ? 1 : -1
    const weight =
      (weights === undefined ? 1 / gradient.length : weights[i]) *
      (desirable[i] ? desirableWeight : undesirableWeight)
    const x = sign * beta * (logprobs[i] - referenceLogprobs[i] - reference)
    value += weight * sigmoid(-x)
    gradient[i] = -weight * sign * beta * sigmoid(x) * sigmoid(-x)
  }
  return { value, gradient }
}

/**
 * The reference point: the mean log-ratio of answers under prompts they do not belong to, at least 0. Estimates
 * KL(policy || reference). TRL pairs each prompt of the batch with the next one's answer. Returns 0 for no answers.
 */
export function ktoReference(logprobs: ArrayLike<number>, referenceLogprobs: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < logprobs.length; i++) sum += logprobs[i] - referenceLogprobs[i]
  return logprobs.length === 0 ? 0 : Math.max(0, sum / logprobs.length)
}
