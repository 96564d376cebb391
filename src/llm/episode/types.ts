/** A parsed request of the policy to run a tool. `arguments` is checked against the tool's schema before it runs. */
export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}

/**
 * What became of an episode. `failed` is the agent's fault and trains with its reward; `masked` is ours
 * (a crash, a timeout of the infrastructure, an outcome that could not be judged) and never enters a gradient
 * or a success rate.
 */
export type EpisodeStatus = 'ok' | 'masked' | 'failed'

/** Why the episode stopped. `answered`: the policy spoke without a call; the rest name the limit or fault. */
export type Ending = 'answered' | 'turn-limit' | 'token-limit' | 'aborted' | 'infrastructure' | 'deadline'

/** One immutable message of the tree; a summary, a fold or a sub-agent is a new child, never an edit. */
export interface EpisodeNode {
  id: number
  parent: number | null
  agent: string
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** Exact token ids of this message in the local policy's vocabulary, markers included; empty for a remote model. */
  tokens: Int32Array
  text: string
  /** For `assistant`: the parsed calls. For `tool`: the call it answers and whether the tool reported an error. */
  calls?: ToolCall[]
  callId?: string
  isError?: boolean
  /** For `assistant`: a call was attempted but could not be parsed or validated; says why. */
  invalid?: string
}

/** How the tokens of one model output were drawn. Defaults: temperature 1, the whole distribution. */
export interface SamplingSettings {
  temperature: number
  topP?: number
  topK?: number
  grammar?: string
}

/** One output of the policy: the path of nodes it was shown, the node it made, and how it was sampled. */
export interface EpisodeSample {
  path: number[]
  output: number
  /** Natural-log probability of every token of the output node under the sampling distribution; same length. */
  logprobs: Float32Array
  /** 1 where the policy chose the token, 0 where it was forced (template markers). Same length. */
  mask: Uint8Array
  weightVersion: number
  sampling: SamplingSettings
  trainable: boolean
}

/** A named score; `null` could not be judged and masks the episode. Without `sample` it scores the whole episode. */
export interface EpisodeReward {
  agent: string
  sample?: number
  name: string
  value: number | null
  /** In words why, where who judged said so. */
  reason?: string
}

/** The one record of what happened that every learner, judge, exporter and screen reads. */
export interface Episode {
  schema: 1
  id: string
  /** Episodes of the same task under the same weights share a group, the unit of relative advantages. */
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
  /** Did the task end in the wanted state, by the environment's own check; `null` where it could not be judged. */
  success: boolean | null
  usage: { promptTokens: number; sampledTokens: number; calls: number; invalidCalls: number }
  timing: { seconds: number; toolSeconds: number }
  error?: string
}

/** One row for the trainer. Everything has the length of `tokens`; index t speaks of token t given those before. */
export interface TrainingSequence {
  tokens: Int32Array
  /** Log-probabilities under the sampling policy, 0 where nothing is trained. */
  logprobs: Float32Array
  advantages: Float32Array
  /** Per-token weights of the loss components; the caller folds its normaliser in. Zero = not trained. */
  weights: { rl: Float32Array; ce: Float32Array; kl: Float32Array }
  /**
   * What the logits that each token was drawn from had been divided by; a trainer divides by it too, so that an unchanged policy
   * has ratios of 1. Above 0; 1 where tokens were not sampled or are imitated. Default: 1 throughout.
   */
  temperatures?: Float32Array
}
