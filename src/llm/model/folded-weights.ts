import { addInChunks, foldInChunks, unfoldInChunks } from '../../engine/tensor/index.ts'
import type { Dim, HostTensor } from '../../engine/tensor/index.ts'
import { attentionParts, headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'
import type { Parameters, WeightView } from './parameters.ts'

/**
 * Folded weights for programs. The gain of each norm is multiplied into the following matrix. The scale of the
 * attention scores, 1 / sqrt(head width), is multiplied into the queries: into their matrix and bias, or into the gain
 * of their norm if heads are normalised. Folding once saves every program run from doing it, and from undoing it for
 * the gradients.
 */
export interface FoldedWeights {
  embedding: HostTensor
  head: HostTensor
  [view: string]: HostTensor
}

/** Gradient sums of folded weights over the batches of a call. */
export interface FoldedGradient {
  /** Gradients that programs accumulate: inputs `sum.NAME` to read, outputs `gradient.NAME` to write. */
  feeds(): { sums: Record<string, HostTensor>; into: Record<string, HostTensor> }
  /** Call it after a program run: its outputs become the inputs of the next run. */
  advance(): void
  /** Widths of the rows for `addRows`. Missing for what is not trained. */
  readonly rowWidths: { readonly embedding?: number; readonly head?: number }
  /** Adds rows [ids, width] to the rows `ids` of the embedding or the head. */
  addRows(name: 'embedding' | 'head', ids: Int32Array, rows: Float32Array): void
  /** Adds to `gradient` the gradient of the original weights that follows from the sums. */
  unfold(parameters: Parameters, gradient: Float32Array): void
  clear(): void
}

interface FoldedView {
  name: string
  source: WeightView
  gain?: WeightView
  /** Multiplies this many leading values by `scale`. */
  scaled: number
  scale: number
}

const gainOf: Record<string, string> = { qkv: 'attentionNorm', gate: 'mlpNorm', up: 'mlpNorm' }
const foldedAway = new Set(['head', 'norm', 'attentionNorm', 'mlpNorm'])

function foldedViews(config: TransformerConfig): FoldedView[] {
  const { views } = parameterLayout(config)
  const find = (name: string): WeightView => views.find((view) => view.name === name)!
  const head = find(config.tie_word_embeddings ? 'embedding' : 'head')
  const width = headWidth(config)
  const scale = 1 / Math.sqrt(width)
  const queries = config.num_attention_heads * width
  const scaledParts: Record<string, number> = attentionParts(config).headNorms
    ? { queryNorm: width }
    : { qkv: queries * config.hidden_size, qkvBias: queries }
  const folded = views
    .filter(({ name }) => !foldedAway.has(name.split('.').at(-1)!))
    .map((source): FoldedView => {
      const [layer, part] = source.name.split('.')
      const gain = part === undefined ? undefined : gainOf[part]
      const scaled = part === undefined ? 0 : (scaledParts[part] ?? 0)
      const view = { name: source.name, source, scaled, scale }
      return gain === undefined ? view : { ...view, gain: find(`${layer}.${gain}`) }
    })
  return [...folded, { name: 'head', source: head, gain: find('norm'), scaled: 0, scale }]
}

/** Program inputs for the folded weights. */
export function foldedInputs(config: TransformerConfig): Record<string, { shape: Dim[] }> {
  return Object.fromEntries(
    foldedViews(config).map(({ name, source }) => [name, { shape: [...source.shape] }]),
  )
}

/**
 * Returns a function that folds the weights again at each call, into the same arrays, so earlier results change too. They are
 * allocated at the first call.
 * Weights that need no folding are views of the parameters.
 */
export function createFolding({ data }: Parameters, config: TransformerConfig): () => FoldedWeights {
  const views = foldedViews(config)
  let weights: FoldedWeights | undefined
  const allocate = (): FoldedWeights =>
    Object.fromEntries(
      views.map((view) => {
        const { offset, size, shape } = view.source
        const array = isChanged(view) ? new Float32Array(size) : data.subarray(offset, offset + size)
        return [view.name, { data: array, shape }]
      }),
    ) as unknown as FoldedWeights
  return () => {
    const into = (weights ??= allocate())
    for (const view of views.filter(isChanged)) fold(data, view, into[view.name].data as Float32Array)
    return into
  }
}

function isChanged({ gain, scaled }: FoldedView): boolean {
  return gain !== undefined || scaled > 0
}

function fold(data: Float32Array, view: FoldedView, target: Float32Array): void {
  for (const { from, to, row } of segments(data, view))
    foldInChunks(target.subarray(from, to), part(data, view.source, from, to), row)
}

const part = (array: Float32Array, { offset }: WeightView, from: number, to: number): Float32Array =>
  array.subarray(offset + from, offset + to)

/** Parts of a view, each with the row that multiplies all its rows: the gain times a factor. */
function segments(data: Float32Array, { source: { size }, gain, scaled, scale }: FoldedView) {
  const row = gain === undefined ? Float32Array.of(1, 1, 1, 1) : part(data, gain, 0, gain.size)
  return [
    { from: 0, to: scaled, factor: scale, row: row.map((value) => value * scale) },
    { from: scaled, to: size, factor: 1, row },
  ].filter(({ from, to }) => to > from)
}

/** The weights whose whole gradient programs return: all but the embedding, whose gradient consists of rows. */
export function denseGradients(config: TransformerConfig): { name: string; shape: number[] }[] {
  return foldedViews(config)
    .filter(isDense)
    .map(({ name, source: { shape } }) => ({ name, shape: [...shape] }))
}

const isDense = ({ name }: FoldedView): boolean => name !== 'embedding'

/** Allocates its arrays at first use. */
export function createFoldedGradient(config: TransformerConfig): FoldedGradient {
  const views = foldedViews(config)
  const width = config.hidden_size
  function allocateTurn() {
    const sums: Record<string, HostTensor> = {}
    const into: Record<string, HostTensor> = {}
    for (const { name, source } of views.filter(isDense)) {
      const tensor = { data: new Float32Array(source.size), shape: source.shape }
      sums[`sum.${name}`] = tensor
      into[`gradient.${name}`] = tensor
    }
    return { sums, into }
  }
  // Two arrays used alternately, since a program cannot write to its input.
  const allocate = () => ({
    now: allocateTurn(),
    next: allocateTurn(),
    embedding: new Float32Array(config.vocab_size * width),
  })
  let arrays: ReturnType<typeof allocate> | undefined
  const used = () => (arrays ??= allocate())
  const sumOf = (name: string): Float32Array =>
    name === 'embedding' ? used().embedding : (used().now.sums[`sum.${name}`].data as Float32Array)
  return {
    rowWidths: { embedding: width, head: width },
    feeds: () => ({ sums: used().now.sums, into: used().next.into }),
    advance() {
      const { now, next, embedding } = used()
      arrays = { now: next, next: now, embedding }
    },
    addRows(name, ids, rows) {
      const target = sumOf(name)
      for (let r = 0; r < ids.length; r++) {
        const to = ids[r] * width
        const from = r * width
        for (let i = 0; i < width; i++) target[to + i] += rows[from + i]
      }
    },
    unfold({ data }, gradient) {
      for (const view of views) {
        const { source, gain } = view
        const sum = sumOf(view.name)
        if (!isChanged(view)) addInChunks(part(gradient, source, 0, source.size), sum)
        else
          for (const { from, to, factor, row } of segments(data, view)) {
            const [derivative, weights] = [gradient, data].map((array) => part(array, source, from, to))
            const ofRow = new Float32Array(row.length)
            unfoldInChunks(derivative, sum.subarray(from, to), weights, row, ofRow)
            if (gain !== undefined) ofRow.forEach((value, i) => (gradient[gain.offset + i] += value * factor))
          }
      }
    },
    clear() {
      arrays?.embedding.fill(0)
      for (const { data } of Object.values(arrays?.now.sums ?? {})) (data as Float32Array).fill(0)
    },
  }
}
