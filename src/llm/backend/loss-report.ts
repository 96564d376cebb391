import type { HostTensor } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { ForwardOptions, LossReport, LossSettings, ModelBackend } from '../model-backend.ts'

/** Sums over the micro-batches of a call; threads add theirs. Ratios are those of tokens with an rl weight. */
export interface LossSums {
  loss: number
  entropyBonus: number
  tokens: number
  entropy: number
  policyTokens: number
  ratio: number
  clipped: number
  kl: number
  /** Sum of |trainer log-probability - sampler log-probability|. */
  difference: number
  /** The maximum, not a sum. */
  maxRatio: number
}

export function createLossSums(): LossSums {
  const zeros = {
    loss: 0,
    entropyBonus: 0,
    tokens: 0,
    entropy: 0,
    policyTokens: 0,
    ratio: 0,
    clipped: 0,
    kl: 0,
  }
  return { ...zeros, difference: 0, maxRatio: 0 }
}

/** Adds how far trainer and sampler are apart. Calls `each` with the ratio of every token with an rl weight. */
export function addTokens(
  sums: LossSums,
  { logprobs, sampled, rl }: Record<'logprobs' | 'sampled' | 'rl', ArrayLike<number>>,
  each: (ratio: number, i: number) => void = () => {},
): void {
  for (let i = 0; i < logprobs.length; i++) {
    if (rl[i] === 0) continue
    const difference = logprobs[i] - sampled[i]
    const ratio = Math.exp(difference)
    sums.policyTokens++
    sums.ratio += ratio
    sums.kl += ratio - 1 - difference
    sums.difference += Math.abs(difference)
    sums.maxRatio = Math.max(sums.maxRatio, ratio)
    each(ratio, i)
  }
}

/** Adds the results of a micro-batch. */
export function addBatch(
  sums: LossSums,
  { name, clipLow = 0.2, clipHigh = 0.2, entropyCoefficient = 0 }: LossSettings,
  outputs: Record<string, HostTensor>,
  inputs: Record<'sampled' | 'advantages' | 'rl', { data: Float32Array }>,
): void {
  sums.loss += outputs['loss'].data[0]
  const logprobs = outputs['logprobs'].data
  const entropy = outputs['entropy'].data
  sums.tokens += logprobs.length
  for (const [i, value] of entropy.entries()) {
    sums.entropy += value
    sums.entropyBonus += entropyCoefficient * inputs.rl.data[i] * value
  }
  addTokens(sums, { logprobs, sampled: inputs.sampled.data, rl: inputs.rl.data }, (ratio, i) => {
    const advantage = inputs.advantages.data[i]
    const above = ratio > 1 + clipHigh && (name === 'cispo' || (name === 'ppo' && advantage > 0))
    const below = name === 'ppo' && ratio < 1 - clipLow && advantage < 0
    if (above || below) sums.clipped++
  })
}

export function lossReport(parts: readonly LossSums[]): LossReport {
  const total = (key: keyof LossSums): number => parts.reduce((sum, part) => sum + part[key], 0)
  const policy = Math.max(1, total('policyTokens'))
  const tokens = total('tokens')
  return {
    loss: total('loss'),
    ...(total('entropyBonus') === 0 ? {} : { entropyBonus: total('entropyBonus') }),
    tokens,
    meanRatio: total('ratio') / policy,
    clipFraction: total('clipped') / policy,
    kl: total('kl') / policy,
    meanDifference: total('difference') / policy,
    maxRatio: Math.max(0, ...parts.map((part) => part.maxRatio)),
    entropy: total('entropy') / Math.max(1, tokens),
  }
}

/** Log-probabilities of the tokens of training sequences, each at the temperature it was drawn at. */
export function scoreSequences(
  backend: Pick<ModelBackend, 'forward'>,
  sequences: Tempered,
  options: { signal?: AbortSignal } = {},
): Promise<Float32Array[]> {
  return backend.forward(...asked(sequences, options))
}

/**
 * Entropies of the distributions of tokens of training sequences, in nats, each at the temperature it was drawn at.
 *
 * @throws AgogeError `unsupported` if the backend cannot compute it.
 */
export async function sequenceEntropies(
  backend: Pick<ModelBackend, 'entropies'>,
  sequences: Tempered,
  options: { signal?: AbortSignal } = {},
): Promise<Float32Array[]> {
  if (backend.entropies !== undefined) return backend.entropies(...asked(sequences, options))
  throw new AgogeError('This backend cannot compute entropies', {
    code: 'unsupported',
    expected: 'a backend in this process',
    hint: 'Remove the settings that need them, such as entropyShare',
  })
}

type Tempered = readonly Pick<TrainingSequence, 'tokens' | 'temperatures'>[]

function asked(
  sequences: Tempered,
  options: { signal?: AbortSignal },
): [sequences: Int32Array[], options: ForwardOptions] {
  const tempered = sequences.some(({ temperatures }) => temperatures !== undefined)
  return [
    sequences.map(({ tokens }) => tokens),
    { ...options, ...(tempered && { temperatures: sequences.map(({ temperatures }) => temperatures) }) },
  ]
}
