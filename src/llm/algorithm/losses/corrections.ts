import { countedSequences, clampLogRatio, type SequenceLossInputs } from './tokens.ts'

/** Inputs of `importanceWeights`. `logprobs`, `samplerLogprobs` and `weights` have one entry per token; log-probabilities are in nats. */
export interface MismatchInputs {
  /** The trainer's log-probabilities of the sampled tokens, before its update. */
  logprobs: ArrayLike<number>
  /** The sampler's log-probabilities of the same tokens under the same weights. */
  samplerLogprobs: ArrayLike<number>
  weights: ArrayLike<number>
  /** Index of the first token of each sequence. Not needed at level `token`. */
  starts?: ArrayLike<number>
}

/** Settings of `importanceWeights`. */
export interface ImportanceSettings {
  /**
   * What the ratio is computed for: a token, a sequence (product over its tokens), or the geometric mean over the
   * sequence.
   */
  level: 'token' | 'sequence' | 'geometric'
  /**
   * `truncate`: multiplies the weight by the ratio clamped to [low, high]. `mask`: by the ratio, or by 0 outside the
   * range. `reject`: by 1, or by 0 outside the range.
   */
  mode: 'truncate' | 'mask' | 'reject'
  /** Default: 0. */
  low?: number
  high: number
}

/**
 * Corrects token weights for a sampler that differs from the trainer (another engine, lower precision, older weights).
 * Pass the result to any loss as its `weights`. The normaliser does not change, so masking does not increase the weight
 * of the remaining tokens (as in AReaL). Corrections combine: reject by `geometric`, then truncate by `token`.
 *
 * Sources: truncated importance sampling (Ionides 2008; "Your Efficient RL Framework Secretly Brings You Off-Policy RL
 * Training", 2025), masked at sequence level (IcePop and "When Speed Kills Stability", 2025). TRL:
 * `vllm_importance_sampling_mode` (`token|sequence` x `truncate|mask`, default sequence_mask with cap 3; its sequence
 * ratio is the product too). verl: `rollout_is` truncates (cap 2), `rollout_rs` rejects (`seq_mean_k1` = geometric).
 * SkyRL: token cap 2, sequence cap 5.
 *
 * @returns the weights, and over the tokens with non-zero weight the mean ratio (clamped to exp(+-20)) and the share
 * that remains.
 */
export function importanceWeights(
  inputs: MismatchInputs,
  settings: ImportanceSettings,
): { weights: Float32Array; meanRatio: number; kept: number } {
  const { level, mode, low = 0, high } = settings
  const { logprobs, samplerLogprobs } = inputs
  const weights = new Float32Array(logprobs.length)
  let counted = 0
  let stayed = 0
  let sum = 0
  for (const { from, to, count, logRatio } of countedSequences({
    ...inputs,
    starts: startsOf(inputs, level),
  })) {
    for (let t = from; t < to; t++) {
      if (inputs.weights[t] === 0) continue
      const difference = logprobs[t] - samplerLogprobs[t]
      const log = level === 'token' ? difference : level === 'sequence' ? logRatio : logRatio / count
      const ratio = Math.exp(clampLogRatio(log))
      const inside = ratio >= low && ratio <= high
      const factor = mode === 'truncate' ? Math.min(high, Math.max(low, ratio)) : mode === 'mask' ? ratio : 1
      weights[t] = mode === 'truncate' || inside ? inputs.weights[t] * factor : 0
      sum += ratio
      if (mode === 'truncate' || inside) stayed++
    }
    counted += count
  }
  return counted === 0
    ? { weights, meanRatio: 1, kept: 1 }
    : { weights, meanRatio: sum / counted, kept: stayed / counted }
}

function startsOf(
  { starts, logprobs }: MismatchInputs,
  level: ImportanceSettings['level'],
): ArrayLike<number> {
  return starts ?? (level === 'token' || logprobs.length === 0 ? [0] : [])
}

/**
 * Removes stale failures: a token of negative advantage gets weight 0 if its sequence has become unlikely,
 * `mean(sampler logprob - logprob) > threshold`. Tokens of positive advantage always remain. Pass the result to any
 * loss as its `weights`.
 *
 * Source: DeepSeek-V3.2 (arXiv 2512.02556), off-policy sequence masking; TRL's `off_policy_mask_threshold`, slime's
 * `--use-opsm`.
 */
export function offPolicyMask(
  inputs: SequenceLossInputs,
  { threshold }: { threshold: number },
): Float32Array {
  const weights = Float32Array.from(inputs.weights)
  for (const { from, to, count, logRatio } of countedSequences(inputs)) {
    if (-logRatio / count <= threshold) continue
    for (let t = from; t < to; t++) if (inputs.advantages[t] < 0) weights[t] = 0
  }
  return weights
}
