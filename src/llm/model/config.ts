import type { RotaryScaling } from './rotary-scaling.ts'

/** The families of architectures that this transformer computes, by their `model_type`. */
export const modelFamilies = ['llama', 'qwen2', 'qwen3'] as const
export type ModelFamily = (typeof modelFamilies)[number]

/**
 * The architecture of a decoder-only transformer, in the names of Hugging Face's `config.json`. A Llama with none of the optional
 * fields is what the project trains from nothing.
 */
export interface TransformerConfig {
  /** `llama` unless told. `qwen2` has biases on queries, keys and values; `qwen3` normalises queries and keys of each head. */
  model_type?: ModelFamily
  vocab_size: number
  hidden_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  /** Width of a head; hidden_size / num_attention_heads unless told. */
  head_dim?: number
  intermediate_size: number
  rope_theta: number
  rope_scaling?: RotaryScaling
  rms_norm_eps: number
  tie_word_embeddings: boolean
  /** Biases on all four matrices of attention; of `llama` and `qwen3`. */
  attention_bias?: boolean
  /** The window: no sequence may be longer. */
  max_position_embeddings: number
  /** Kept for those who read what is saved. */
  bos_token_id?: number | null
  eos_token_id?: number | readonly number[] | null
  pad_token_id?: number | null
}

/** The 0.92M-parameter model that the project trains from nothing. */
export const smallConfig: TransformerConfig = {
  vocab_size: 1024,
  hidden_size: 128,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  intermediate_size: 352,
  rope_theta: 10_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  max_position_embeddings: 1024,
}

/** Width of one attention head. */
export const headWidth = (config: TransformerConfig): number =>
  config.head_dim ?? config.hidden_size / config.num_attention_heads

/** Which extra parameters the attention of a configuration has. */
export function attentionParts(config: TransformerConfig): {
  inputBias: boolean
  outputBias: boolean
  headNorms: boolean
} {
  const outputBias = config.attention_bias === true && config.model_type !== 'qwen2'
  return {
    inputBias: outputBias || config.model_type === 'qwen2',
    outputBias,
    headNorms: config.model_type === 'qwen3',
  }
}

const notArchitecture = new Set(['bos_token_id', 'eos_token_id', 'pad_token_id'])

/** The first field in which two configurations compute something else, or undefined. */
export function firstDifference(
  a: TransformerConfig,
  b: TransformerConfig,
): keyof TransformerConfig | undefined {
  const canonical = (config: TransformerConfig): TransformerConfig => ({
    ...config,
    model_type: config.model_type ?? 'llama',
    head_dim: headWidth(config),
    attention_bias: config.attention_bias === true,
  })
  const [first, second] = [canonical(a), canonical(b)]
  const fields = [...Object.keys(first), ...Object.keys(second)] as (keyof TransformerConfig)[]
  return fields.find(
    (field) => !notArchitecture.has(field) && JSON.stringify(first[field]) !== JSON.stringify(second[field]),
  )
}
