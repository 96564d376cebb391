/**
 * Bodies of the Tinker protocol that client and server share, with the names of the wire format. Based on the public
 * SDK (thinking-machines-lab/tinker 0.25.0) and on SkyRL's server (skyrl/tinker/api.py).
 */

/** Values flattened in row-major order; client and server know only these two types. */
export interface TensorData {
  data: ArrayLike<number>
  dtype?: 'float32' | 'int64'
  shape?: number[]
}

export interface TextChunk {
  type?: 'encoded_text'
  tokens: ArrayLike<number>
}

/**
 * A training sequence. The model reads `model_input` (N tokens). `loss_fn_inputs` hold N values each;
 * `target_tokens[i]` is the token after position i.
 */
export interface Datum {
  model_input: { chunks: TextChunk[] }
  loss_fn_inputs: Record<string, TensorData>
}

export interface ForwardBackwardInput {
  data: Datum[]
  loss_fn: string
  loss_fn_config?: Record<string, number> | null
}

export interface ForwardBackwardOutput {
  loss_fn_output_type: string
  /** One per datum; `logprobs` are those of its target tokens. */
  loss_fn_outputs: Record<string, TensorData>[]
  /** Suffixes of names say how chunks are combined: `loss:sum`, `entropy:mean`. */
  metrics: Record<string, number>
}

export interface AdamParams {
  learning_rate: number
  beta1: number
  beta2: number
  eps: number
  weight_decay: number
  /** 0 = no clipping. */
  grad_clip_norm: number
  /** Agoge's own server only: `muon` for the matrices. */
  optimizer?: 'adamw' | 'muon'
}

export interface SamplingParams {
  max_tokens: number
  seed?: number
  stop?: number[]
  temperature: number
  top_k: number
  top_p: number
}

export interface SampledSequence {
  stop_reason: 'stop' | 'length'
  tokens: ArrayLike<number>
  logprobs?: ArrayLike<number> | null
}

export interface SampleResponse {
  sequences: SampledSequence[]
  prompt_logprobs?: (number | null)[] | null
}

/**
 * Extensions of Agoge's server to the protocol. The server announces them in its answer to `client/config`, and the
 * client sends these fields to no other server. With them, training on the server equals training in this process bit
 * for bit.
 *
 * - `forward_backward`: `loss_fn_inputs` may hold `ce_weights`, `kl_weights` and `temperatures` (as of a
 * `TrainingSequence`), and `agoge.logprobs: false` omits `loss_fn_outputs`. `forward` also takes `temperatures`.
 * - `asample`: `agoge.keys` names the random streams of the samples; requests of one `agoge.batch` are sampled
 * together.
 * - `optim_step`: `adam_params.optimizer`.
 * - `save_weights_for_sampler`: with `agoge.apart`, samples are drawn concurrently with training.
 * - `retrieve_future`: a failure has `agoge.code`, the error code of the engine.
 */
export interface AgogeExtension {
  version: 1
}

/** Which samples belong to one call: request `index` of `count`. */
export interface SampleBatch {
  id: string
  index: number
  count: number
}

export const apiPath = '/api/v1'
