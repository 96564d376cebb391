import type { TrainingSequence } from './episode/types.ts'
import type { SamplingSettings } from './sampling-settings.ts'

/** One row. Its own settings come before those of the call, so that a call may carry requests of several users. */
export interface SampleRequest extends Partial<SamplingSettings> {
  /** Token ids the model is shown, markers included. */
  prompt: Int32Array
  /** Identifies the random stream of this row: tokens are drawn from (key, token index), never from arrival order. */
  key: number | string
}

export interface SampleOptions extends SamplingSettings {
  signal?: AbortSignal
  /** Called for every token as soon as it is drawn; `row` is the index of the request. */
  onToken?: (row: number, token: number, logprob: number) => void
}

export interface TokenLogprob {
  token: number
  logprob: number
}

export interface SampleOutput {
  tokens: Int32Array
  /**
   * Natural log, of the whole tempered distribution, before top-k, top-p, min-p or a grammar took tokens away; same length as
   * `tokens`. It is what a trainer computes again, so that an unchanged policy has ratios of 1: normalised over the tokens that were
   * left (vLLM's `processed_logprobs`), ratios would be off by the probability that was taken away. At least -87.4.
   */
  logprobs: Float32Array
  /** Where tokens were taken away: natural log, of the distribution that the token was drawn from. */
  drawnLogprobs?: Float32Array
  /** As asked for by `topLogprobs`: at each position the likeliest tokens, likeliest first, by the distribution of `logprobs`. */
  topLogprobs?: TokenLogprob[][]
  /** As asked for by `promptLogprobs`: of each token of the prompt given those before it, at temperature 1; index 0 is 0. */
  promptLogprobs?: Float32Array
  finish: 'stop' | 'length'
  weightVersion: number
}

/**
 * Names of the losses that run inside the backend in one pass; any other is a `CustomLoss` and takes two. All are
 * weighted SUMs over tokens of `-weight * objective`; the caller folds normalisers into the weights.
 */
export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo'

export interface LossSettings {
  name: LossName
  /** ppo: ratio clipped to [1 - clipLow, 1 + clipHigh]. cispo: the cap of the ratio is 1 + clipHigh, without a bound below. */
  clipLow?: number
  clipHigh?: number
  /**
   * The loss is less by this times the sum of rl weight * entropy, exact over the vocabulary, of every token's distribution at its temperature: with the
   * caller's normalisers in the weights, a mean entropy (A3C, arXiv 1602.01783). With cross_entropy rl weights are for this alone. On
   * backends in this process; over the Tinker protocol it is refused (`unsupported-loss`).
   */
  entropyCoefficient?: number
}

export interface LossReport {
  /** The weighted sum, less the bonus for entropy. */
  loss: number
  /** What `entropyCoefficient` has taken off the loss; absent without one. */
  entropyBonus?: number
  tokens: number
  /** Means over tokens with a non-zero rl weight; 0 where none. */
  meanRatio: number
  clipFraction: number
  /** Mean of (ratio - 1 - log ratio): the k3 estimate of KL(sampler || trainer). */
  kl: number
  /** Mean of |trainer log-probability - sampler's|, in nats, where the backend measures it. */
  meanDifference?: number
  /** The largest ratio trainer / sampler of a token, where the backend measures it. */
  maxRatio?: number
  /** Mean entropy of the next-token distribution in nats, where the program computes it. */
  entropy: number
}

export interface OptimStep {
  learningRate: number
  /** 'adamw' | 'muon': muon for the matrices of the blocks with adamw for the rest. */
  optimizer?: 'adamw' | 'muon'
  beta1?: number
  beta2?: number
  epsilon?: number
  weightDecay?: number
  /** Global norm to which the accumulated gradient is clipped; absent = not clipped. */
  clip?: number
}

export interface OptimReport {
  /** Global norm of the gradient before clipping; undefined where the backend does not tell, as some servers of the Tinker protocol. */
  gradientNorm: number | undefined
}

export interface ForwardOptions {
  signal?: AbortSignal
  /** One array a sequence, as `temperatures` of a `TrainingSequence`; 1 throughout where there is none. */
  temperatures?: readonly (Float32Array | undefined)[]
}

/** Weights that stand still, to be sampled from while the model that they are of is trained. */
export interface FrozenSampler {
  /** Of these weights; every sample tells it. */
  readonly weightVersion: number
  readonly sample: ModelBackend['sample']
}

/** The verbs of the Tinker protocol. Gradients add up in the backend until `optimStep`. */
export interface ModelBackend {
  sample(requests: SampleRequest[], options: SampleOptions): Promise<SampleOutput[]>
  /** Log-probability of every token given those before it, at temperature 1 by default; index 0 is 0. One array a sequence. */
  forward(sequences: Int32Array[], options?: ForwardOptions): Promise<Float32Array[]>
  /** The same with the entropy, in nats, of the distribution of each token; not every backend can tell. */
  entropies?(sequences: Int32Array[], options?: ForwardOptions): Promise<Float32Array[]>
  forwardBackward(
    sequences: TrainingSequence[],
    loss: LossSettings,
    options?: { signal?: AbortSignal },
  ): Promise<LossReport>
  /** Applies and clears the accumulated gradient. Raises the weight version. */
  optimStep(step: OptimStep): Promise<OptimReport>
  /** Writes weights, optimiser state and versions under the folder; atomic (written aside, then renamed). */
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
}
