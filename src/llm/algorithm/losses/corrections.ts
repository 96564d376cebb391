import { countedSequences, clampLogRatio, type SequenceLossInputs } from './tokens.ts'

export interface MismatchInputs {
  /** Log-probabilities by the trainer, before its update, of what the sampler's engine chose. */
  logprobs: ArrayLike<number>
  /** What the sampler's engine itself said of the same tokens under the same weights. */
  samplerLogprobs: ArrayLike<number>
  weights: ArrayLike<number>
  /** The first token of each sequence. Not needed at level `token`. */
  starts?: ArrayLike<number>
}

export interface ImportanceSettings {
  /** The ratio of a token, of a sequence (product over its tokens), or the geometric mean of the sequence's. */
  level: 'token' | 'sequence' | 'geometric'
  /**
   * `truncate`: the weight is multiplied by the ratio bounded to [low, high]. `mask`: by the ratio, or 0 outside.
   * `reject`: by 1, or 0 outside.
   */
  mode: 'truncate' | 'mask' | 'reject'
  /** Default 0. */
  low?: number
  high: number
}

/**
 * Weights of tokens corrected for a sampler that is not the trainer (another engine, lower precision, older weights).
 * Give the result to any loss as its `weights`; the normaliser is left as it was, so masking never makes the tokens
 * that stay count for more (as in AReaL). Corrections combine: reject by `geometric`, then truncate by `token`.
 *
 * Sources: truncated importance sampling (Ionides 2008; "Your Efficient RL Framework Secretly Brings You Off-Policy
 * RL Training", 2025), masked at sequence level (IcePop and "When Speed Kills Stability", 2025). TRL:
 * `vllm_importance_sampling_mode` (`token|sequence` x `truncate|mask`, default sequence_mask with cap 3; its sequence
 * ratio is the product too). verl: `rollout_is` truncates (cap 2), `rollout_rs` rejects (`seq_mean_k1` = geometric).
 * SkyRL: token cap 2, sequence cap 5.
 *
 * @returns the weights; over the tokens that counted, the mean ratio (clamped to exp(+-20)) and the share that stayed.
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
 * Weights with stale failures removed: a token of negative advantage is dropped where its sequence has become
 * unlikely, `mean(sampler logprob - logprob) > threshold`. Sequences of good outcome always stay. Give the result to
 * any loss as its `weights`.
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
