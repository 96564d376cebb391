import { defineLoss } from '../define.ts'
import { countedSequences, clampLogRatio, type LossValue, type SequenceLossInputs } from './tokens.ts'

/** Bounds [low, high] to which the ratio is clamped before it weights a token. */
export interface Taper {
  low: number
  high: number
}

/** Settings of `toprLoss`. */
export interface ToprSettings {
  /** Bounds for advantages of at least 0. Default: [1, 1], so good behaviour is learned whoever produced it. */
  positive?: Taper
  /** Bounds for negative advantages. Default: [0, 1], so bad behaviour stops counting once it has become rare. */
  negative?: Taper
  /** Whether the ratio is that of the whole sequence (default, the paper) or of each token (ROLL). */
  level?: 'sequence' | 'token'
}

/**
 * Off-policy REINFORCE with a tapered ratio that carries no gradient: `-stop(clip(ratio, low, high)) A logprob`, with
 * separate bounds for positive and negative advantages. Learning from old data stays stable without a reference model.
 *
 * As in CISPO, the value is relative to the sampler, `-weight A (logprob - sampler logprob)`.
 *
 * Source: TOPR (arXiv 2503.14286). Its ratio of a sequence is the product over tokens (not GSPO's mean), clamped to
 * exp(+-20). `clipFraction` counts the negative tokens whose ratio was bounded.
 */
export function toprLoss(inputs: SequenceLossInputs, settings: ToprSettings = {}): LossValue {
  const { positive = { low: 1, high: 1 }, negative = { low: 0, high: 1 }, level = 'sequence' } = settings
  const { logprobs, samplerLogprobs, advantages, weights } = inputs
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (const { from, to, count, logRatio } of countedSequences(inputs)) {
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue
      const difference = logprobs[t] - samplerLogprobs[t]
      const ratio = Math.exp(clampLogRatio(level === 'sequence' ? logRatio : difference))
      const { low, high } = advantages[t] < 0 ? negative : positive
      const taper = Math.min(high, Math.max(low, ratio))
      value -= weights[t] * taper * advantages[t] * difference
      gradient[t] = -weights[t] * taper * advantages[t]
      if (advantages[t] < 0 && taper !== ratio) clipped++
    }
    counted += count
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}

const taperFields = { low: { type: 'number', minimum: 0 }, high: { type: 'number', minimum: 0 } } as const

export const toprDefinition = defineLoss({
  name: 'topr',
  about: 'successes learnt as in SFT whichever policy made them, failures tapered',
  formula: '-stop(clip(Π r)) A log p, bounds by the sign of A',
  source: ['2503.14286'],
  settings: {
    positive: { fields: taperFields, default: { low: 1, high: 1 } },
    negative: { fields: taperFields, default: { low: 0, high: 1 } },
    level: { oneOf: ['sequence', 'token'], default: 'sequence' },
  },
  compute: toprLoss,
  stopsGradient: () => true,
  cases: [{}, { settings: { level: 'token', negative: { low: 0.5, high: 1.5 } } }],
  preset: {
    about:
      'successes learnt as in SFT whichever policy made them, failures tapered; for batches used several times',
    settings: {
      advantage: { name: 'grpo', std: false },
      loss: { name: 'topr' },
      aggregation: { mode: 'constant', length: 1 },
    },
  },
})
