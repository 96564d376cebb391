import { AgogeError } from '../../../error.ts'

/** Everything per token and of the same length. */
export interface LossInputs {
  /** Natural-log probabilities under the policy being trained. */
  logprobs: ArrayLike<number>
  /** Those under the policy that sampled the tokens. */
  samplerLogprobs: ArrayLike<number>
  advantages: ArrayLike<number>
  /** 0 where the token does not count; otherwise its weight, normaliser folded in. */
  weights: ArrayLike<number>
}

/** The same, where the loss has to know which tokens belong together. */
export interface SequenceLossInputs extends LossInputs {
  /** The first token of each sequence, 0 first and never falling; a sequence ends where the next begins. */
  starts: ArrayLike<number>
}

/** A loss to be minimised, with its exact gradient: `gradient[t]` is d value / d logprobs[t]. */
export interface LossValue {
  value: number
  gradient: Float32Array
  /** Share of the counted tokens at which a clip stopped or bounded the gradient. */
  clipFraction: number
}

/** Distributions over a vocabulary of V words, one a token: logits are of shape [tokens, V], in rows. */
export interface LogitInputs {
  logits: ArrayLike<number>
  /** V. */
  vocabulary: number
  /** [tokens], as in `LossInputs`. */
  weights: ArrayLike<number>
}

/** A loss over whole distributions: `gradient` is d value / d logits, [tokens, V]. */
export interface LogitLossValue {
  value: number
  gradient: Float32Array
}

/**
 * How per-token losses become one number.
 * - `token-mean`: every token of the batch counts the same (DAPO, verl's default).
 * - `sequence-mean`: the mean over sequences of each one's token mean (the GRPO paper).
 * - `constant`: the sum divided by sequences times a fixed length (Dr.GRPO): no reward for being long or short.
 *   With `length: 1` it is the mean over sequences of each one's token sum.
 *
 * Elsewhere: TRL's `loss_type` dapo, grpo and dr_grpo; verl's `loss_agg_mode` token-mean, seq-mean-token-mean,
 * seq-mean-token-sum (`length: 1`) and seq-mean-token-sum-norm, which divides by the length alone, not by the sequences.
 * TRL and verl count sequences without trained tokens among the sequences, this does not.
 */
export type Aggregation =
  | { mode: 'token-mean' }
  | { mode: 'sequence-mean' }
  | { mode: 'constant'; length: number }

/**
 * The weight of one token of each sequence, normaliser folded in, so that a plain weighted sum gives the aggregate.
 * Micro-batches and several machines then add up to the same gradient.
 *
 * @param lengths trained tokens of each sequence; sequences without any count for nothing.
 */
export function tokenWeights(lengths: readonly number[], aggregation: Aggregation): number[] {
  const sequences = lengths.filter((length) => length > 0).length
  const tokens = lengths.reduce((sum, length) => sum + length, 0)
  return lengths.map((length) => {
    if (length === 0) return 0
    if (aggregation.mode === 'token-mean') return 1 / tokens
    if (aggregation.mode === 'sequence-mean') return 1 / (sequences * length)
    return 1 / (sequences * aggregation.length)
  })
}

/** Loss and derivative d loss / d logprob of one token, before its weight. */
interface TokenValue {
  loss: number
  derivative: number
  clipped?: boolean
}

/** The largest difference of log-probabilities, either way, whose exponential is taken; the number is verl's. */
const logRatioLimit = 20

/** Clamped to the limit. A clamped ratio is constant, so it has no gradient (as `torch.clamp`). */
export function clampLogRatio(difference: number): number {
  return Math.min(logRatioLimit, Math.max(-logRatioLimit, difference))
}

/**
 * The weighted sum over tokens that all losses share. `difference` is trainer less sampler; `logRatio` is the same
 * clamped to +-20, so that its exponential stays finite.
 */
export function sumTokens(
  inputs: LossInputs,
  token: (logRatio: number, advantage: number, difference: number, logprob: number) => TokenValue,
): LossValue {
  const { logprobs, samplerLogprobs, advantages, weights } = inputs
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (let t = 0; t < logprobs.length; t++) {
    const weight = weights[t]
    if (weight === 0) continue
    const difference = logprobs[t] - samplerLogprobs[t]
    const result = token(clampLogRatio(difference), advantages[t], difference, logprobs[t])
    value += weight * result.loss
    gradient[t] = weight * result.derivative
    counted++
    if (result.clipped === true) clipped++
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}

/**
 * The range [from, to) of each sequence that has any token that counts, with the number of those and the sum of
 * their log-ratios.
 *
 * @throws AgogeError `shape-mismatch` where `starts` does not begin with 0, falls, or points beyond the tokens.
 */
export function* countedSequences(
  inputs: Pick<SequenceLossInputs, 'logprobs' | 'samplerLogprobs' | 'weights' | 'starts'>,
): Generator<{ from: number; to: number; count: number; logRatio: number }> {
  const { logprobs, samplerLogprobs, weights, starts } = inputs
  checkStarts(starts, logprobs.length)
  for (let s = 0; s < starts.length; s++) {
    const from = starts[s]
    const to = s + 1 < starts.length ? starts[s + 1] : logprobs.length
    let count = 0
    let logRatio = 0
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue
      count++
      logRatio += logprobs[t] - samplerLogprobs[t]
    }
    if (count > 0) yield { from, to, count, logRatio }
  }
}

function checkStarts(starts: ArrayLike<number>, length: number): void {
  let last = 0
  for (let s = 0; s < starts.length; s++) {
    if (Number.isInteger(starts[s]) && starts[s] >= last && starts[s] <= length && (s > 0 || starts[s] === 0))
      last = starts[s]
    else throw badStarts(starts, length)
  }
  if (starts.length === 0 && length > 0) throw badStarts(starts, length)
}

function badStarts(starts: ArrayLike<number>, length: number): AgogeError {
  return new AgogeError('The starts of the sequences do not divide the tokens', {
    code: 'shape-mismatch',
    given: { starts: Array.from(starts), tokens: length },
    expected: 'integers from 0, never falling, none above the number of tokens',
  })
}

/** 1 / (1 + exp(-x)), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x))
  const power = Math.exp(x)
  return power / (1 + power)
}

/** log(sigmoid(x)), exact also where the sigmoid rounds to 0 or 1. Its derivative is sigmoid(-x). */
export function logSigmoid(x: number): number {
  return Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)))
}

/** Log-probabilities of one row of V logits that begins at `offset`, written into `out` (V numbers). */
export function logSoftmaxRow(logits: ArrayLike<number>, offset: number, out: Float64Array): void {
  let most = -Infinity
  for (let v = 0; v < out.length; v++) most = Math.max(most, logits[offset + v])
  let sum = 0
  for (let v = 0; v < out.length; v++) sum += Math.exp(logits[offset + v] - most)
  const shift = most + Math.log(sum)
  for (let v = 0; v < out.length; v++) out[v] = logits[offset + v] - shift
}
