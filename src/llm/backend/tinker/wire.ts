/**
 * Bodies of the Tinker protocol that client and server share, named as on the wire. Read from the public SDK
 * (thinking-machines-lab/tinker 0.25.0) and from SkyRL's server (skyrl/tinker/api.py).
 */

/** Values flattened in rows; both sides of the protocol know only these two types. */
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
 * A sequence to learn from. The model reads `model_input` (N tokens); `loss_fn_inputs` hold N values each, of which
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
  /** One a datum; `logprobs` are those of its target tokens. */
  loss_fn_outputs: Record<string, TensorData>[]
  /** Names end in how chunks are put together: `loss:sum`, `entropy:mean`. */
  metrics: Record<string, number>
}

export interface AdamParams {
  learning_rate: number
  beta1: number
  beta2: number
  eps: number
  weight_decay: number
  /** 0 = not clipped. */
  grad_clip_norm: number
  /** Of Agoge's own server: `muon` for the matrices. */
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
 * What Agoge's server does beyond the protocol: it says so in the answer to `client/config`, and a client sends such
 * fields to no other server. With them training against the server is training in this process, bit for bit.
 *
 * - `forward_backward`: `loss_fn_inputs` may hold `ce_weights`, `kl_weights` and `temperatures` (as of a `TrainingSequence`), and
 *   `agoge.logprobs: false` leaves `loss_fn_outputs` out. `forward`: `temperatures` as well.
 * - `asample`: `agoge.keys` names the random streams of the samples; requests of one `agoge.batch` are sampled together.
 * - `optim_step`: `adam_params.optimizer`.
 * - `save_weights_for_sampler`: with `agoge.apart` samples are drawn beside training, not in turn with it.
 * - `retrieve_future`: a failure has `agoge.code`, the code of the engine's error.
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
