import { AgogeError } from '../../error.ts'
import {
  headWidth,
  modelFamilies,
  type ModelFamily,
  parseRotaryScaling,
  type TransformerConfig,
} from '../model/config.ts'

const integers = [
  'vocab_size',
  'hidden_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'intermediate_size',
  'max_position_embeddings',
] as const

const classOf: Record<ModelFamily, string> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
}

/** Defaults of this project's models, for configurations that do not set them. */
const ownTokenIds = { pad_token_id: 0, bos_token_id: null, eos_token_id: 1 } as const

/** Far more than any model has. Each layer is listed before its weights are looked for. */
const mostLayers = 10_000

/** The value of Qwen3. Its released configurations set it, and its class has it as default. */
const qwen3HeadWidth = 128

type Json = Readonly<Record<string, unknown>>

function invalid(field: string, given: unknown, expected: string, file: string): AgogeError {
  return new AgogeError(`${file}: ${field} cannot be used`, { code: 'bad-model-config', given, expected })
}

/** The model family by `model_type` and `architectures`, one of which may be missing. Without both: Llama. */
function parseKind(given: Json, file: string): ModelFamily {
  const { model_type: type, architectures } = given
  const names: readonly unknown[] = Array.isArray(architectures) ? architectures : []
  const found = modelFamilies.find((family) =>
    type === undefined ? names.includes(classOf[family]) : family === type,
  )
  if (found !== undefined && (names.length === 0 || names.includes(classOf[found]))) return found
  if (type === undefined && names.length === 0) return 'llama'
  throw new AgogeError(`${file}: this model_type, with these architectures, is not supported`, {
    code: 'unsupported-architecture',
    given: { model_type: type, architectures },
    expected: modelFamilies.map((family) => `${family} (${classOf[family]})`).join(', '),
  })
}

function isTokenIds(value: unknown): boolean {
  return [value].flat().every((id) => id === null || typeof id === 'number')
}

/** Refuses settings that change the computation in ways that this transformer does not support. */
function refuseOthers(given: Json, family: ModelFamily, layers: number, file: string): void {
  if (given['mlp_bias'] === true) throw invalid('mlp_bias', true, 'false', file)
  const activation = given['hidden_act'] ?? 'silu'
  if (activation !== 'silu') throw invalid('hidden_act', activation, '"silu"', file)
  const quantised = given['quantization_config'] ?? undefined
  if (quantised !== undefined)
    throw invalid('quantization_config', quantised, 'weights in float32, float16 or bfloat16', file)
  if ((given['partial_rotary_factor'] ?? 1) !== 1)
    throw invalid('partial_rotary_factor', given['partial_rotary_factor'], '1', file)
  // Released Qwen models define a window but switch it off; only layers from max_window_layers on would use it.
  const types = given['layer_types']
  const slides = Array.isArray(types)
    ? types.some((type) => type !== 'full_attention')
    : family !== 'llama' &&
      given['use_sliding_window'] === true &&
      !(typeof given['max_window_layers'] === 'number' && given['max_window_layers'] >= layers)
  if (slides)
    throw invalid(
      Array.isArray(types) ? 'layer_types' : 'use_sliding_window',
      types ?? true,
      'full attention in every layer: windows of attention are not computed',
      file,
    )
}

/**
 * Reads a parsed `config.json` of a Llama, Qwen2 or Qwen3. Ignores settings that do not change the computation.
 *
 * @throws AgogeError `unsupported-architecture` naming the architecture and the supported ones; `bad-model-config`
 * naming the unsupported field.
 */
export function parseConfig(value: unknown, file = 'config.json'): TransformerConfig {
  if (typeof value !== 'object' || value === null) throw invalid('the whole', value, 'an object', file)
  const given = value as Json
  const family = parseKind(given, file)
  const number = (field: string, fallback?: unknown): number => {
    const found = given[field] ?? fallback
    if (typeof found !== 'number' || !(found > 0)) throw invalid(field, found, 'a positive number', file)
    return found
  }
  // Newer releases of transformers store all rotary settings in `rope_parameters`.
  const rope = given['rope_parameters'] as Json | null | undefined
  const config: TransformerConfig = {
    ...(family === 'llama' ? {} : { model_type: family }),
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
  refuseOthers(given, family, config.num_hidden_layers, file)
  const width = number('head_dim', family === 'qwen3' ? qwen3HeadWidth : headWidth(config))
  if (width !== headWidth(config)) config.head_dim = width
  const scaling = parseRotaryScaling(given['rope_scaling'] ?? rope, file)
  if (scaling !== undefined) config.rope_scaling = scaling
  if (given['attention_bias'] === true && family !== 'qwen2') config.attention_bias = true
  for (const [field, own] of Object.entries(ownTokenIds))
    if (!isTokenIds(given[field] ?? null))
      throw invalid(field, given[field], 'the id of a token, a list of them, or null', file)
    else if ((given[field] ?? null) !== own) Object.assign(config, { [field]: given[field] ?? null })

  for (const field of integers) {
    const found = field === 'head_dim' ? width : config[field]
    if (!Number.isInteger(found)) throw invalid(field, found, 'an integer', file)
  }
  if (config.num_hidden_layers > mostLayers)
    throw invalid('num_hidden_layers', config.num_hidden_layers, `at most ${mostLayers}`, file)
  if (width % 2 === 1) throw invalid('head_dim', width, 'an even width', file)
  if (config.hidden_size % 4 !== 0)
    throw invalid('hidden_size', config.hidden_size, 'a multiple of four', file)
  if (config.num_attention_heads % config.num_key_value_heads !== 0) {
    throw invalid('num_key_value_heads', config.num_key_value_heads, 'a divisor of num_attention_heads', file)
  }
  return config
}

/** The content of `config.json`, which `transformers` reads as a causal model of its family. */
export function serialiseConfig(config: TransformerConfig): string {
  const family = config.model_type ?? 'llama'
  const fields = Object.entries(config)
  const isTokenId = ([field]: [string, unknown]): boolean => field in ownTokenIds
  const architecture = Object.fromEntries(fields.filter((field) => !isTokenId(field)))
  const tokenIds = Object.fromEntries(fields.filter(isTokenId))
  const biases = {
    llama: { attention_bias: config.attention_bias === true, mlp_bias: false },
    qwen2: {},
    qwen3: { attention_bias: config.attention_bias === true },
  }
  const whole = {
    architectures: [classOf[family]],
    model_type: family,
    ...architecture,
    hidden_act: 'silu',
    ...biases[family],
    head_dim: headWidth(config),
    ...ownTokenIds,
    ...tokenIds,
    ...(family === 'llama' ? {} : { use_sliding_window: false }),
    torch_dtype: 'float32',
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}
