import { AgogeError } from '../../error.ts'

/**
 * How rotary angles are scaled for sequences longer than those of the first training, with the names of Hugging Face's
 * `rope_scaling`. `linear`: Chen et al. 2023 (arXiv:2306.15595); `llama3`: Llama 3.1 (arXiv:2407.21783); `yarn`: Peng
 * et al. 2023 (arXiv:2309.00071).
 */
type RotaryScaling =
  | { rope_type: 'linear'; factor: number }
  | {
      rope_type: 'llama3'
      factor: number
      low_freq_factor: number
      high_freq_factor: number
      original_max_position_embeddings: number
    }
  | {
      rope_type: 'yarn'
      factor: number
      original_max_position_embeddings: number
      beta_fast: number
      beta_slow: number
      attention_factor: number
      truncate: boolean
    }

/** Angles per position, one for each pair of a head's values, and the factor of all cosines and sines. */
interface RotaryFrequencies {
  frequencies: Float32Array
  amplitude: number
}

/** Reads `rope_scaling`, or `rope_parameters` of newer releases; undefined if angles are not scaled. */
export function parseRotaryScaling(value: unknown, file: string): RotaryScaling | undefined {
  if (value === undefined || value === null) return undefined
  const wrong = (field: string, given: unknown, expected: string): AgogeError =>
    new AgogeError(`${file}: ${field} cannot be used`, { code: 'bad-model-config', given, expected })
  if (typeof value !== 'object') throw wrong('rope_scaling', value, 'an object or null')
  const given = value as Record<string, unknown>
  const type = given['rope_type'] ?? given['type'] ?? 'default'
  if ((given['partial_rotary_factor'] ?? 1) !== 1)
    throw wrong('partial_rotary_factor', given['partial_rotary_factor'], '1')
  const number = (field: string, fallback?: number): number => {
    const found = given[field] ?? fallback
    if (typeof found !== 'number' || !(found > 0))
      throw wrong(`rope_scaling.${field}`, found, 'a positive number')
    return found
  }
  if (type === 'default') return undefined
  if (type === 'linear') return { rope_type: 'linear', factor: number('factor') }
  if (type === 'llama3')
    return {
      rope_type: 'llama3',
      factor: number('factor'),
      low_freq_factor: number('low_freq_factor'),
      high_freq_factor: number('high_freq_factor'),
      original_max_position_embeddings: number('original_max_position_embeddings'),
    }
  if (type === 'yarn') {
    const factor = number('factor')
    return {
      rope_type: 'yarn',
      factor,
      original_max_position_embeddings: number('original_max_position_embeddings'),
      beta_fast: number('beta_fast', 32),
      beta_slow: number('beta_slow', 1),
      attention_factor: number('attention_factor', factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1),
      truncate: given['truncate'] !== false,
    }
  }
  throw wrong('rope_scaling.rope_type', type, 'default, linear, llama3 or yarn')
}

/**
 * Frequencies for heads of `width` values. In single precision like the reference, which rounds angles at distant
 * positions the same way.
 */
export function rotaryFrequencies(
  theta: number,
  width: number,
  scaling: RotaryScaling | undefined,
): RotaryFrequencies {
  const half = width / 2
  const plain = Float32Array.from({ length: half }, (_, i) => 1 / Math.fround(theta ** (i / half)))
  if (scaling === undefined) return { frequencies: plain, amplitude: 1 }
  const { factor } = scaling
  if (scaling.rope_type === 'linear') return { frequencies: plain.map((f) => f / factor), amplitude: 1 }
  if (scaling.rope_type === 'llama3') {
    const { low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: window } = scaling
    const frequencies = plain.map((frequency) => {
      const wavelength = (2 * Math.PI) / frequency
      if (wavelength < window / high) return frequency
      if (wavelength > window / low) return frequency / factor
      const smooth = (window / wavelength - low) / (high - low)
      return ((1 - smooth) * frequency) / factor + smooth * frequency
    })
    return { frequencies, amplitude: 1 }
  }
  const place = (rotations: number): number =>
    (width * Math.log(scaling.original_max_position_embeddings / (rotations * 2 * Math.PI))) /
    (2 * Math.log(theta))
  const [first, last] = [place(scaling.beta_fast), place(scaling.beta_slow)]
  const low = Math.max(scaling.truncate ? Math.floor(first) : first, 0)
  const end = Math.min(scaling.truncate ? Math.ceil(last) : last, width - 1)
  const high = end === low ? end + 0.001 : end
  const frequencies = plain.map((frequency, i) => {
    const stretched = Math.min(1, Math.max(0, (i - low) / (high - low)))
    return (frequency / factor) * stretched + frequency * (1 - stretched)
  })
  return { frequencies, amplitude: scaling.attention_factor }
}

/** The model families that this transformer supports, by their `model_type`. */
export const modelFamilies = ['llama', 'qwen2', 'qwen3'] as const
export type ModelFamily = (typeof modelFamilies)[number]

/**
 * The architecture of a decoder-only transformer, with the names of Hugging Face's `config.json`. A Llama without the
 * optional fields is what this project trains from scratch.
 */
export interface TransformerConfig {
  /** `qwen2` has biases on queries, keys and values; `qwen3` normalises queries and keys of each head. Default: `llama`. */
  model_type?: ModelFamily
  vocab_size: number
  hidden_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  /** Width of a head. Default: hidden_size / num_attention_heads. */
  head_dim?: number
  intermediate_size: number
  rope_theta: number
  rope_scaling?: RotaryScaling
  rms_norm_eps: number
  tie_word_embeddings: boolean
  /** Biases on all four matrices of attention, for `llama` and `qwen3`. */
  attention_bias?: boolean
  /** Context window: the longest sequence. */
  max_position_embeddings: number
  /** Kept only to be saved again. */
  bos_token_id?: number | null
  eos_token_id?: number | readonly number[] | null
  pad_token_id?: number | null
}

/** The 0.92M-parameter model that the project trains from scratch. */
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

/** Which optional parameters the attention of a configuration has. */
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

/** The first field in which two configurations differ in what they compute, or undefined. */
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
