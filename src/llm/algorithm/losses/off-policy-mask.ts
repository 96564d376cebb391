import { countedSequences } from './sequences.ts'
import type { SequenceLossInputs } from './types.ts'

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
