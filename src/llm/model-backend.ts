import type { TrainingSequence } from './episode/types.ts'
import type { Grammar } from './grammar/compile.ts'

/**
 * How tokens are drawn. Tokens are removed in the order of transformers: grammar, temperature, top-k, top-p of the
 * rest, min-p. The next token is drawn from the remaining tokens in proportion to their probability.
 */
export interface GenerationSettings {
  /** Most tokens to generate, at least 1. A row also ends when the model's window is full. */
  maxTokens: number
  /** Generation ends with any of these ids, which is included in the result. */
  stop: readonly number[]
  /**
   * Generation also ends after any of these: sequences of token ids, or texts. A text may end inside a token, which is
   * then kept whole. Matches that begin in the prompt do not count. Texts need a backend with a tokenizer.
   */
  stopSequences?: readonly (readonly number[] | string)[]
  /**
   * 0 = greedy, with log-probabilities reported at temperature 1. Otherwise they are those of the tempered
   * distribution.
   */
  temperature: number
  seed: number
  /** Keeps only this many of the most probable tokens; among equals the lower ids. Default: all. */
  topK?: number
  /**
   * Keeps the smallest set of most probable tokens whose probabilities sum to at least this. Above 0, at most 1.
   * Default: 1 (all).
   */
  topP?: number
  /** Keeps tokens with at least this fraction of the top token's probability, 0 to 1. Default: 0 (all). */
  minP?: number
  /** Keeps only tokens that the grammar allows, and stop ids where it may end. Needs a backend with a tokenizer. */
  grammar?: Grammar
  /** Reports this many of the most probable tokens at each position. */
  topLogprobs?: number
  /** Whether to report the log-probabilities of the prompt. */
  promptLogprobs?: boolean
}

/**
 * One sequence to generate. Its own settings override those of the call, so one call can carry requests of several
 * users.
 */
export interface SampleRequest extends Partial<GenerationSettings> {
  /** Token ids that the model is shown, special tokens included. */
  prompt: Int32Array
  /** Key of this row's random stream. Tokens depend on (key, token index), not on the order of arrival. */
  key: number | string
}

/** Settings of one call of `sample`, for all its requests. A request can override those of `GenerationSettings`. */
export interface SampleOptions extends GenerationSettings {
  signal?: AbortSignal
  /** Called for each token as soon as it is drawn; `row` is the index of the request. */
  onToken?: (row: number, token: number, logprob: number) => void
}

/** A token id with the natural log of its probability. */
export interface TokenLogprob {
  token: number
  logprob: number
}

/** What was generated for one request: tokens, log-probabilities, why it ended (`finish`) and the version of the weights. */
export interface SampleOutput {
  tokens: Int32Array
  /**
   * Natural log of each token's probability, same length as `tokens`, at least -87.4. Normalised over the whole
   * tempered distribution, before a grammar, top-k, top-p or min-p removes tokens. The trainer recomputes the same
   * number, so an unchanged policy has a ratio of exactly 1. Normalising over the remaining tokens (vLLM's
   * `processed_logprobs`) would shift the ratios by the removed probability.
   */
  logprobs: Float32Array
  /** Natural log under the distribution that the token was drawn from. Present if tokens were removed. */
  drawnLogprobs?: Float32Array
  /**
   * Present if `topLogprobs` is set: the most probable tokens at each position, most probable first, ranked as in
   * `logprobs`.
   */
  topLogprobs?: TokenLogprob[][]
  /**
   * Present if `promptLogprobs` is set: log-probability of each prompt token given those before it, at temperature 1.
   * Index 0 is 0.
   */
  promptLogprobs?: Float32Array
  finish: 'stop' | 'length'
  weightVersion: number
}

/**
 * Names of the losses that a backend computes in one pass. Any other loss is a `CustomLoss` and takes two passes. Each
 * is a weighted sum over tokens of `-weight * objective`; the caller puts normalisers into the weights.
 */
export type LossName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo'

/** A loss that a backend computes in one pass, with its settings. */
export interface LossSettings {
  name: LossName
  /** `ppo` clips the ratio to [1 - clipLow, 1 + clipHigh]. `cispo` caps it at 1 + clipHigh and has no lower bound. */
  clipLow?: number
  clipHigh?: number
  /**
   * Subtracts `entropyCoefficient * sum(rl weight * entropy)` from the loss, with each token's exact entropy over the
   * vocabulary at its temperature. If the rl weights contain the normaliser, this is a mean entropy bonus (A3C, arXiv
   * 1602.01783). With `cross_entropy`, rl weights serve only this term. Local backends only: the Tinker protocol
   * refuses it (`unsupported-loss`).
   */
  entropyCoefficient?: number
}

/** What a pass of `forwardBackward` measured, over the tokens of its sequences. */
export interface LossReport {
  /** The weighted sum minus the entropy bonus. */
  loss: number
  /** What `entropyCoefficient` subtracted from the loss. Absent without a coefficient. */
  entropyBonus?: number
  tokens: number
  /** Means over tokens with a non-zero rl weight; 0 if there are none. */
  meanRatio: number
  clipFraction: number
  /** Mean of (ratio - 1 - log ratio), the k3 estimate of KL(sampler || trainer). */
  kl: number
  /** Mean of |trainer log-probability - sampler log-probability| in nats. Present if the backend measures it. */
  meanDifference?: number
  /** Largest ratio trainer / sampler of a token. Present if the backend measures it. */
  maxRatio?: number
  /** Mean entropy of the next-token distribution in nats. Present if the backend computes it. */
  entropy: number
}

/** Settings of one optimiser step. */
export interface OptimStep {
  learningRate: number
  /** 'adamw' or 'muon'. 'muon' updates the matrices of the blocks with Muon and everything else with AdamW. */
  optimizer?: 'adamw' | 'muon'
  beta1?: number
  beta2?: number
  epsilon?: number
  weightDecay?: number
  /** Global norm to which the accumulated gradient is clipped. Default: no clipping. */
  clip?: number
}

/** What an optimiser step measured. */
export interface OptimReport {
  /** Global gradient norm before clipping. Undefined if the backend does not report it, as some Tinker servers. */
  gradientNorm: number | undefined
}

/** Settings of one call of `forward`. */
export interface ForwardOptions {
  signal?: AbortSignal
  /** One array per sequence, as `temperatures` of a `TrainingSequence`. Default: 1 for every token. */
  temperatures?: readonly (Float32Array | undefined)[]
}

/** A frozen copy of the weights, for sampling while the model is trained. */
export interface FrozenSampler {
  /** Version of these weights; every sample carries it. */
  readonly weightVersion: number
  readonly sample: ModelBackend['sample']
}

/** The operations of the Tinker protocol. Gradients accumulate in the backend until `optimStep`. */
export interface ModelBackend {
  sample(requests: SampleRequest[], options: SampleOptions): Promise<SampleOutput[]>
  /** Log-probability of every token given those before it; index 0 is 0. One array per sequence. Default temperature: 1. */
  forward(sequences: Int32Array[], options?: ForwardOptions): Promise<Float32Array[]>
  /** Like `forward`, with the entropy in nats of each token's distribution. Optional: not every backend computes it. */
  entropies?(sequences: Int32Array[], options?: ForwardOptions): Promise<Float32Array[]>
  forwardBackward(
    sequences: TrainingSequence[],
    loss: LossSettings,
    options?: { signal?: AbortSignal },
  ): Promise<LossReport>
  /** Applies and clears the accumulated gradient, and increments the weight version. */
  optimStep(step: OptimStep): Promise<OptimReport>
  /** Writes weights, optimiser state and versions into the folder atomically (to a temporary place, then renamed). */
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
}
