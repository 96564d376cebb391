import type { Dim, HostTensor } from '../tensor/index.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'
import type { Parameters, WeightView } from './parameters.ts'

/**
 * The weights as programs use them: each gain of a norm is multiplied into the matrix behind it, and the scale of the
 * attention scores, 1 / sqrt(head width), into the queries. What every program run would do to them, and undo to
 * their gradients, is done once for many runs.
 */
export interface FoldedWeights {
  embedding: HostTensor
  head: HostTensor
  [view: string]: HostTensor
}

/** Sums of the gradients of folded weights. */
export interface FoldedGradient {
  /** That of one weight, to be added to. */
  of(name: string): Float32Array
  /** All but the embedding's, whose gradient is one of rows. */
  readonly dense: readonly { name: string; shape: readonly number[]; sum: Float32Array }[]
  /** Adds to `gradient` what the sums are for the weights themselves. */
  unfold(parameters: Parameters, gradient: Float32Array): void
  clear(): void
}

interface FoldedView {
  name: string
  source: WeightView
  gain?: WeightView
  /** So many values from the beginning are multiplied by `scale`. */
  scaled: number
  scale: number
}

const gainOf: Record<string, string> = { qkv: 'attentionNorm', gate: 'mlpNorm', up: 'mlpNorm' }

function foldedViews(config: TransformerConfig): FoldedView[] {
  const { views } = parameterLayout(config)
  const find = (name: string): WeightView => views.find((view) => view.name === name)!
  const head = find(config.tie_word_embeddings ? 'embedding' : 'head')
  const width = headWidth(config)
  const scale = 1 / Math.sqrt(width)
  const folded = views
    .filter(({ name }) => name !== 'head' && !name.toLowerCase().endsWith('norm'))
    .map((source): FoldedView => {
      const [layer, part] = source.name.split('.')
      const gain = part === undefined ? undefined : gainOf[part]
      const scaled = part === 'qkv' ? config.num_attention_heads * width * config.hidden_size : 0
      const view = { name: source.name, source, scaled, scale }
      return gain === undefined ? view : { ...view, gain: find(`${layer}.${gain}`) }
    })
  return [...folded, { name: 'head', source: head, gain: find('norm'), scaled: 0, scale }]
}

/** Program inputs that take the folded weights. */
export function foldedInputs(config: TransformerConfig): Record<string, { shape: Dim[] }> {
  return Object.fromEntries(
    foldedViews(config).map(({ name, source }) => [name, { shape: [...source.shape] }]),
  )
}

/**
 * Folds weights again whenever it is called, into the same arrays: what it gave before changes too. Weights without a
 * gain are views of the parameters.
 */
export function createFolding({ data }: Parameters, config: TransformerConfig): () => FoldedWeights {
  const views = foldedViews(config)
  const weights = Object.fromEntries(
    views.map(({ name, source: { offset, size, shape }, gain }) => {
      const array = gain === undefined ? data.subarray(offset, offset + size) : new Float32Array(size)
      return [name, { data: array, shape }]
    }),
  ) as unknown as FoldedWeights
  return () => {
    for (const view of views)
      if (view.gain !== undefined) fold(data, view, view.gain, weights[view.name].data)
    return weights
  }
}

function fold(
  data: Float32Array,
  { source: { offset, size }, scaled, scale }: FoldedView,
  gain: WeightView,
  target: HostTensor['data'],
): void {
  for (let row = 0; row < size; row += gain.size) {
    const factor = row < scaled ? scale : 1
    for (let i = 0; i < gain.size; i++)
      target[row + i] = data[offset + row + i] * data[gain.offset + i] * factor
  }
}

export function createFoldedGradient(config: TransformerConfig): FoldedGradient {
  const views = foldedViews(config)
  const sums = new Map(views.map(({ name, source }) => [name, new Float32Array(source.size)]))
  const dense = views
    .filter(({ name }) => name !== 'embedding')
    .map(({ name, source: { shape } }) => ({ name, shape, sum: sums.get(name)! }))
  return {
    of: (name) => sums.get(name)!,
    dense,
    unfold({ data }, gradient) {
      for (const { name, source, gain, scaled, scale } of views) {
        const sum = sums.get(name)!
        const { offset, size } = source
        if (gain === undefined) {
          for (let i = 0; i < size; i++) gradient[offset + i] += sum[i]
          continue
        }
        const ofGain = new Float64Array(gain.size)
        for (let row = 0; row < size; row += gain.size) {
          const factor = row < scaled ? scale : 1
          for (let i = 0; i < gain.size; i++) {
            const g = sum[row + i] * factor
            ofGain[i] += g * data[offset + row + i]
            gradient[offset + row + i] += g * data[gain.offset + i]
          }
        }
        for (let i = 0; i < gain.size; i++) gradient[gain.offset + i] += ofGain[i]
      }
    },
    clear() {
      for (const sum of sums.values()) sum.fill(0)
    },
  }
}
