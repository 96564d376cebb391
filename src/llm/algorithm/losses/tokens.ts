import { AgogeError } from '../../../error.ts'

/** Inputs of a loss over tokens. All arrays have one entry per token. */
export interface LossInputs {
  /** Natural-log probabilities under the trained policy. */
  logprobs: ArrayLike<number>
  /** Natural-log probabilities under the policy that sampled the tokens. */
  samplerLogprobs: ArrayLike<number>
  advantages: ArrayLike<number>
  /** Weight of the token, including the normaliser; 0 if it does not count. */
  weights: ArrayLike<number>
}

/** Like `LossInputs`, for losses that need to know which tokens belong together. */
export interface SequenceLossInputs extends LossInputs {
  /**
   * Index of the first token of each sequence, starting with 0 and never falling. A sequence ends where the next one
   * begins.
   */
  starts: ArrayLike<number>
}

/** A loss to minimise, with its exact gradient: `gradient[t]` is d value / d logprobs[t]. */
export interface LossValue {
  value: number
  gradient: Float32Array
  /** Share of the counted tokens at which a clip stopped or bounded the gradient. */
  clipFraction: number
}

/** One distribution per token over a vocabulary of V words. Logits have shape [tokens, V], row-major. */
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
 * How per-token losses are aggregated to one number.
 * - `token-mean`: every token of the batch has the same weight (DAPO, verl's default).
 * - `sequence-mean`: the mean over sequences of each one's token mean (the GRPO paper).
 * - `constant`: the sum divided by the number of sequences times a fixed length (Dr.GRPO), which rewards neither long
 * nor short answers. With `length: 1` it is the mean over sequences of each one's token sum.
 *
 * Elsewhere: TRL's `loss_type` dapo, grpo and dr_grpo; verl's `loss_agg_mode` token-mean, seq-mean-token-mean,
 * seq-mean-token-sum (`length: 1`) and seq-mean-token-sum-norm, which divides by the length alone. TRL and verl also
 * count sequences without trained tokens; this does not.
 */
export type Aggregation =
  | { mode: 'token-mean' }
  | { mode: 'sequence-mean' }
  | { mode: 'constant'; length: number }

/**
 * The weight of a token of each sequence, including the normaliser, so that a weighted sum gives the aggregate.
 * Gradients of micro-batches and machines can then be summed.
 *
 * @param lengths number of trained tokens of each sequence; sequences without any do not count.
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

/** Loss of one token and its derivative d loss / d logprob, before the weight. */
interface TokenValue {
  loss: number
  derivative: number
  clipped?: boolean
}

/** Largest absolute log-probability difference that is exponentiated, as in verl. */
const logRatioLimit = 20

/** Clamps to the limit. A clamped ratio is constant, so its gradient is 0 (as `torch.clamp`). */
export function clampLogRatio(difference: number): number {
  return Math.min(logRatioLimit, Math.max(-logRatioLimit, difference))
}

/**
 * The weighted sum over tokens that all losses share. `difference` is the trainer's log-probability minus the
 * sampler's. `logRatio` is the same clamped to +-20, so that its exponential stays finite.
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
 * For each sequence with counted tokens: its range [from, to), the number of counted tokens and the sum of their
 * log-ratios.
 *
 * @throws AgogeError `shape-mismatch` if `starts` does not begin with 0, decreases, or points beyond the tokens.
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

/** 1 / (1 + exp(-x)) without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x))
  const power = Math.exp(x)
  return power / (1 + power)
}

/** log(sigmoid(x)), exact even if the sigmoid rounds to 0 or 1. Its derivative is sigmoid(-x). */
export function logSigmoid(x: number): number {
  return Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)))
}

/** Log-probabilities of the row of V logits that begins at `offset`, written into `out` (V numbers). */
export function logSoftmaxRow(logits: ArrayLike<number>, offset: number, out: Float64Array): void {
  let most = -Infinity
  for (let v = 0; v < out.length; v++) most = Math.max(most, logits[offset + v])
  let sum = 0
  for (let v = 0; v < out.length; v++) sum += Math.exp(logits[offset + v] - most)
  const shift = most + Math.log(sum)
  for (let v = 0; v < out.length; v++) out[v] = logits[offset + v] - shift
}
