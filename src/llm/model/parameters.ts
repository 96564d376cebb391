import { createRandom } from '../../engine/random/index.ts'
import { attentionParts, headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'

/** A tensor of the checkpoint and its place in the flat array. */
export interface ParameterEntry {
  /** Its name in Hugging Face's layout for Llama and related models. */
  name: string
  shape: readonly number[]
  offset: number
  size: number
  /**
   * `matrix`: a weight matrix of a block, which Muon can update. AdamW updates everything else. Gains and biases have
   * no weight decay.
   */
  kind: 'embedding' | 'matrix' | 'norm' | 'bias'
}

/** An input of a program: an entry, or adjacent entries seen as one (query, key and value). */
export interface WeightView {
  name: string
  shape: readonly number[]
  offset: number
  size: number
}

export interface ParameterLayout {
  entries: readonly ParameterEntry[]
  views: readonly WeightView[]
  size: number
}

/** All weights in one flat array, so that clipping, optimisers and copies are single loops. */
export interface Parameters {
  layout: ParameterLayout
  data: Float32Array
}

/** The tensors of a configuration in memory order. */
export function parameterLayout(config: TransformerConfig): ParameterLayout {
  const width = config.hidden_size
  const inner = config.intermediate_size
  const queries = config.num_attention_heads * headWidth(config)
  const keys = config.num_key_value_heads * headWidth(config)
  const { inputBias, outputBias, headNorms } = attentionParts(config)
  const entries: ParameterEntry[] = []
  const views: WeightView[] = []
  let offset = 0
  const add = (name: string, shape: readonly number[], kind: ParameterEntry['kind'], view?: string): void => {
    const size = shape.reduce((product, length) => product * length, 1)
    entries.push({ name, shape, offset, size, kind })
    if (view !== undefined) views.push({ name: view, shape, offset, size })
    offset += size
  }
  add('model.embed_tokens.weight', [config.vocab_size, width], 'embedding', 'embedding')
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}`
    add(`${prefix}.input_layernorm.weight`, [width], 'norm', `${layer}.attentionNorm`)
    views.push({
      name: `${layer}.qkv`,
      shape: [queries + 2 * keys, width],
      offset,
      size: (queries + 2 * keys) * width,
    })
    add(`${prefix}.self_attn.q_proj.weight`, [queries, width], 'matrix')
    add(`${prefix}.self_attn.k_proj.weight`, [keys, width], 'matrix')
    add(`${prefix}.self_attn.v_proj.weight`, [keys, width], 'matrix')
    if (inputBias) {
      const size = queries + 2 * keys
      views.push({ name: `${layer}.qkvBias`, shape: [size], offset, size })
      add(`${prefix}.self_attn.q_proj.bias`, [queries], 'bias')
      add(`${prefix}.self_attn.k_proj.bias`, [keys], 'bias')
      add(`${prefix}.self_attn.v_proj.bias`, [keys], 'bias')
    }
    if (headNorms) {
      add(`${prefix}.self_attn.q_norm.weight`, [headWidth(config)], 'norm', `${layer}.queryNorm`)
      add(`${prefix}.self_attn.k_norm.weight`, [headWidth(config)], 'norm', `${layer}.keyNorm`)
    }
    add(`${prefix}.self_attn.o_proj.weight`, [width, queries], 'matrix', `${layer}.out`)
    if (outputBias) add(`${prefix}.self_attn.o_proj.bias`, [width], 'bias', `${layer}.outBias`)
    add(`${prefix}.post_attention_layernorm.weight`, [width], 'norm', `${layer}.mlpNorm`)
    add(`${prefix}.mlp.gate_proj.weight`, [inner, width], 'matrix', `${layer}.gate`)
    add(`${prefix}.mlp.up_proj.weight`, [inner, width], 'matrix', `${layer}.up`)
    add(`${prefix}.mlp.down_proj.weight`, [width, inner], 'matrix', `${layer}.down`)
  }
  add('model.norm.weight', [width], 'norm', 'norm')
  if (!config.tie_word_embeddings) add('lm_head.weight', [config.vocab_size, width], 'embedding', 'head')
  return { entries, views, size: offset }
}

/**
 * Weights initialised from a seed: norms 1, biases 0, embeddings normal with deviation 0.05, matrices normal with
 * deviation 1 / sqrt(3 * inputs) (that of PyTorch's `Linear`). Matrices that write into the residual stream are scaled
 * by a further 1 / sqrt(2 * layers) (GPT-2).
 */
export function initialiseParameters(config: TransformerConfig, seed: number): Parameters {
  const layout = parameterLayout(config)
  const data = new Float32Array(layout.size)
  for (const { name, shape, offset, size, kind } of layout.entries) {
    if (kind === 'norm') {
      data.fill(1, offset, offset + size)
      continue
    }
    if (kind === 'bias') continue
    const random = createRandom(seed, 'initial', name)
    const residual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight')
    const matrix = (residual ? 1 / Math.sqrt(2 * config.num_hidden_layers) : 1) / Math.sqrt(3 * shape[1])
    const deviation = kind === 'embedding' ? 0.05 : matrix
    for (let i = offset; i < offset + size; i++) data[i] = deviation * random.normal()
  }
  return { layout, data }
}
