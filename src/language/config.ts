import { AgogeError } from '../error.ts'

/** The architecture of a decoder-only transformer, in the names of Hugging Face's Llama `config.json`. */
export interface TransformerConfig {
  vocab_size: number
  hidden_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  intermediate_size: number
  rope_theta: number
  rms_norm_eps: number
  tie_word_embeddings: boolean
  max_position_embeddings: number
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

const integers = [
  'vocab_size',
  'hidden_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'intermediate_size',
  'max_position_embeddings',
] as const

/** Width of one attention head. */
export const headWidth = (config: TransformerConfig): number =>
  config.hidden_size / config.num_attention_heads

function invalid(field: string, given: unknown, expected: string, file: string): AgogeError {
  return new AgogeError(`${file}: ${field} cannot be used`, { code: 'bad-model-config', given, expected })
}

/**
 * Reads a parsed `config.json`, ignoring what does not change the computation.
 * Throws `AgogeError` (`bad-model-config`) naming the field of an architecture that this transformer does not compute.
 */
export function parseConfig(value: unknown, file = 'config.json'): TransformerConfig {
  if (typeof value !== 'object' || value === null) throw invalid('the whole', value, 'an object', file)
  const given = value as Record<string, unknown>
  const type = given['model_type']
  if (type !== undefined && type !== 'llama') throw invalid('model_type', type, '"llama"', file)
  for (const field of ['attention_bias', 'mlp_bias']) {
    if (given[field] === true) throw invalid(field, true, 'false', file)
  }
  const activation = given['hidden_act']
  if (activation !== undefined && activation !== 'silu')
    throw invalid('hidden_act', activation, '"silu"', file)
  const scaling = given['rope_scaling']
  if (scaling !== undefined && scaling !== null) throw invalid('rope_scaling', scaling, 'null', file)
  const number = (field: string, fallback?: unknown): number => {
    const found = given[field] ?? fallback
    if (typeof found !== 'number' || !(found > 0)) throw invalid(field, found, 'a positive number', file)
    return found
  }
  // Newer releases of transformers keep the base of the rotary angles inside `rope_parameters`.
  const rope = given['rope_parameters'] as Record<string, unknown> | null | undefined
  const config: TransformerConfig = {
    vocab_size: number('vocab_size'),
    hidden_size: number('hidden_size'),
    num_hidden_layers: number('num_hidden_layers'),
    num_attention_heads: number('num_attention_heads'),
    num_key_value_heads: number('num_key_value_heads', given['num_attention_heads']),
    intermediate_size: number('intermediate_size'),
    rope_theta: number('rope_theta', rope?.['rope_theta'] ?? 10_000),
    rms_norm_eps: number('rms_norm_eps', 1e-6),
    tie_word_embeddings: given['tie_word_embeddings'] === true,
    max_position_embeddings: number('max_position_embeddings'),
  }
  for (const field of integers) {
    if (!Number.isInteger(config[field])) throw invalid(field, config[field], 'an integer', file)
  }
  const width = headWidth(config)
  if (!Number.isInteger(width) || width % 2 === 1) {
    throw invalid(
      'num_attention_heads',
      config.num_attention_heads,
      'a divisor of hidden_size leaving an even width',
      file,
    )
  }
  if (given['head_dim'] !== undefined && given['head_dim'] !== null && given['head_dim'] !== width) {
    throw invalid('head_dim', given['head_dim'], `hidden_size / num_attention_heads = ${width}`, file)
  }
  if (config.num_attention_heads % config.num_key_value_heads !== 0) {
    throw invalid('num_key_value_heads', config.num_key_value_heads, 'a divisor of num_attention_heads', file)
  }
  return config
}

/** The content of `config.json`: readable by `transformers` as a LlamaForCausalLM. */
export function serialiseConfig(config: TransformerConfig): string {
  const whole = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    ...config,
    hidden_act: 'silu',
    attention_bias: false,
    mlp_bias: false,
    head_dim: headWidth(config),
    pad_token_id: 0,
    bos_token_id: null,
    eos_token_id: 1,
    torch_dtype: 'float32',
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}
