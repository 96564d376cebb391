import { defineLoss } from '../define.ts'
import { countedSequences, clampLogRatio, type LossValue, type SequenceLossInputs } from './tokens.ts'

/** Settings of `gspoLoss`. */
export interface GspoSettings {
  /** The ratio of the sequence is clipped to [1 - clipLow, 1 + clipHigh]. The paper uses 3e-4 and 4e-4. */
  clipLow: number
  clipHigh: number
  /**
   * How advantages that differ within a sequence act. `sequence` (default): the ratio is one number, and the gradient
   * of each token depends on all advantages (TRL's `importance_sampling_level: sequence`). `token`: each token keeps
   * its own advantage (GSPO-token; verl). With one advantage per sequence both agree.
   */
  gradient?: 'sequence' | 'token'
}

/**
 * The clipped surrogate with one ratio per sequence, the geometric mean of its tokens' ratios: `-min(s A, clip(s, 1 -
 * low, 1 + high) A)`, `s = exp(mean(logprob - sampler logprob))`. Sequences are clipped as a whole. Use it with
 * `sequence-mean` weights.
 *
 * Source: GSPO (arXiv 2507.18071), eq. 5 to 7, and GSPO-token there. verl clamps log s to 10, TRL does not clamp it;
 * here it is clamped to +-20. With `gradient: 'token'` the gradient is that of the surrogate, not of the value.
 */
export function gspoLoss(inputs: SequenceLossInputs, settings: GspoSettings): LossValue {
  const { clipLow, clipHigh, gradient: kind = 'sequence' } = settings
  const { advantages, weights } = inputs
  const gradient = new Float32Array(inputs.logprobs.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (const { from, to, count, logRatio } of countedSequences(inputs)) {
    const mean = logRatio / count
    const ratio = Math.exp(clampLogRatio(mean))
    const bounded = Math.min(1 + clipHigh, Math.max(1 - clipLow, ratio))
    let shared = 0
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue
      const plain = -ratio * advantages[t]
      const limited = -bounded * advantages[t]
      value += weights[t] * Math.max(plain, limited)
      if (limited > plain) clipped++
      else if (clampLogRatio(mean) === mean) {
        gradient[t] = weights[t] * plain
        shared += weights[t] * plain
      }
    }
    counted += count
    if (kind === 'sequence')
      for (let t = from; t < to; t++) gradient[t] = weights[t] === 0 ? 0 : shared / count
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}

export const gspoDefinition = defineLoss({
  name: 'gspo',
  about: 'one ratio a sequence, clipped as a whole',
  formula: '-min(s A, clip(s) A), s = exp(mean l)',
  source: ['2507.18071'],
  settings: {
    clipLow: { type: 'number', minimum: 0 },
    clipHigh: { type: 'number', minimum: 0 },
    gradient: { oneOf: ['sequence', 'token'], default: 'sequence' },
  },
  compute: gspoLoss,
  stopsGradient: ({ gradient }) => gradient === 'token',
  cases: [
    { settings: { clipLow: 3e-4, clipHigh: 4e-4 } },
    { settings: { clipLow: 0.2, clipHigh: 0.3 } },
    { settings: { clipLow: 0.2, clipHigh: 0.3, gradient: 'token' } },
  ],
  preset: {
    settings: {
      advantage: { name: 'grpo' },
      loss: { name: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 },
      aggregation: { mode: 'sequence-mean' },
    },
  },
})
