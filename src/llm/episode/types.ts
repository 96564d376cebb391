/** A parsed tool call of the policy. `arguments` are validated against the tool's schema before the tool runs. */
export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}

/**
 * How an episode ended. `failed`: the agent's fault; trains with its reward. `masked`: not the agent's fault (a crash, a timeout
 * of the infrastructure, an outcome that could not be judged); left out of gradients and success rates.
 */
export type EpisodeStatus = 'ok' | 'masked' | 'failed'

/** Why the episode stopped. `answered`: the policy replied without a call. The others name the limit or the fault. */
export type Ending = 'answered' | 'turn-limit' | 'token-limit' | 'aborted' | 'infrastructure' | 'deadline'

/** One immutable message of the tree. A summary or a sub-agent is a new child, never an edit. */
export interface EpisodeNode {
  id: number
  parent: number | null
  agent: string
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** Exact token ids of this message in the local policy's vocabulary, including markers. Empty for a remote model. */
  tokens: Int32Array
  text: string
  /** For `assistant`: the parsed calls. For `tool`: the call that it answers, and whether the tool reported an error. */
  calls?: ToolCall[]
  callId?: string
  isError?: boolean
  /** For `assistant`: why an attempted call could not be parsed or validated. */
  invalid?: string
}

/** How the tokens of one output were drawn. Defaults: temperature 1, no truncation of the distribution. */
export interface SamplingSettings {
  temperature: number
  topP?: number
  topK?: number
  grammar?: string
}

/** One output of the policy: the path of nodes in its prompt, the node it created, and how it was sampled. */
export interface EpisodeSample {
  path: number[]
  output: number
  /** Natural-log probability of each token of the output node under the sampling distribution. Same length as its tokens. */
  logprobs: Float32Array
  /** 1 for tokens that the policy chose, 0 for forced tokens (template markers). Same length. */
  mask: Uint8Array
  weightVersion: number
  sampling: SamplingSettings
  trainable: boolean
}

/** A named score. A `null` value could not be judged and masks the episode. Without `sample`, it scores the whole episode. */
export interface EpisodeReward {
  agent: string
  sample?: number
  name: string
  value: number | null
  /** The judge's reason in words, if it gave one. */
  reason?: string
}

/** The record of one episode, which every learner, judge, exporter and viewer reads. */
export interface Episode {
  schema: 1
  id: string
  /** Episodes of the same task under the same weights form a group. Advantages are computed relative to the group. */
  group: string
  environment: string
  task: string
  kind: string
  seed: number
  context: Record<string, unknown>
  status: EpisodeStatus
  ending: Ending
  nodes: EpisodeNode[]
  samples: EpisodeSample[]
  rewards: EpisodeReward[]
  /** Whether the task was done, by the environment's own check. `null` if that could not be judged. */
  success: boolean | null
  usage: { promptTokens: number; sampledTokens: number; calls: number; invalidCalls: number }
  timing: { seconds: number; toolSeconds: number }
  error?: string
}

/** One row for the trainer. Every array has the length of `tokens`; entry t belongs to token t, given the tokens before it. */
export interface TrainingSequence {
  tokens: Int32Array
  /** Log-probabilities under the sampling policy; 0 for tokens that are not trained. */
  logprobs: Float32Array
  advantages: Float32Array
  /** Weight of each token in each loss component, already divided by the normaliser. 0: not trained. */
  weights: { rl: Float32Array; ce: Float32Array; kl: Float32Array }
  /**
   * Temperature each token was drawn at; the trainer divides its logits by it, so that an unchanged policy has ratio 1.
   * Positive; 1 for tokens that were not sampled or are trained by SFT. Default: all 1.
   */
  temperatures?: Float32Array
}
