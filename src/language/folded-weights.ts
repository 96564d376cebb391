import type { Dim, HostTensor } from '../tensor/index.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'
import type { Parameters, WeightView } from './parameters.ts'

/**
 * The weights as sampling uses them: each gain of a norm is multiplied into the matrix behind it, and the scale of
 * the attention scores, 1 / sqrt(head width), into the queries. This saves every step of decoding a pass over them.
 */
export interface FoldedWeights {
  embedding: HostTensor
  head: HostTensor
  [view: string]: HostTensor
}

const gainOf: Record<string, string> = { qkv: 'attentionNorm', gate: 'mlpNorm', up: 'mlpNorm' }

function foldedViews(
  config: TransformerConfig,
): { name: string; source: WeightView; gain: WeightView | undefined }[] {
  const { views } = parameterLayout(config)
  const find = (name: string): WeightView => views.find((view) => view.name === name)!
  const folded = views
    .filter(({ name }) => name !== 'head' && !name.toLowerCase().endsWith('norm'))
    .map((source) => {
      const [layer, part] = source.name.split('.')
      const gain = part === undefined ? undefined : gainOf[part]
      return { name: source.name, source, gain: gain === undefined ? undefined : find(`${layer}.${gain}`) }
    })
  const source = find(config.tie_word_embeddings ? 'embedding' : 'head')
  return [...folded, { name: 'head', source, gain: find('norm') }]
}

/** Program inputs that take `foldWeights`. */
export function foldedInputs(config: TransformerConfig): Record<string, { shape: Dim[] }> {
  return Object.fromEntries(
    foldedViews(config).map(({ name, source }) => [name, { shape: [...source.shape] }]),
  )
}

export function foldWeights({ data }: Parameters, config: TransformerConfig): FoldedWeights {
  const fold = (source: WeightView, gain: WeightView | undefined): Float32Array => {
    const original = data.subarray(source.offset, source.offset + source.size)
    if (gain === undefined) return original
    const width = gain.size
    const scale = 1 / Math.sqrt(headWidth(config))
    const scaled = source.name.endsWith('.qkv') ? config.num_attention_heads * headWidth(config) * width : 0
    return original.map((value, i) => value * data[gain.offset + (i % width)] * (i < scaled ? scale : 1))
  }
  return Object.fromEntries(
    foldedViews(config).map(({ name, source, gain }) => [
      name,
      { data: fold(source, gain), shape: source.shape },
    ]),
  ) as unknown as FoldedWeights
}
