import { defined } from '../../defined.ts'
import {
  add,
  compile,
  type CompileOptions,
  concat,
  constant,
  type Dim,
  gather,
  type HostTensor,
  type Program,
  reshape,
  type Tensor,
} from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'
import { block, blockWeights, type RowShape } from './block.ts'
import { headWidth, type TransformerConfig } from './config.ts'
import { denseGradients, foldedInputs } from './folded-weights.ts'
import { logits, lossHead, lossInputs, tokenLogprobs } from './head.ts'
import { factorGradients, factorInputs } from './low-rank.ts'
import type { LowRank } from './low-rank.ts'

/**
 * Output arrays of one program, reused by its next run, so outputs must be read before that. Without reuse every run
 * leaves megabytes to the garbage collector.
 */
export function createOutputBuffers(): (name: string, shape: readonly number[]) => HostTensor {
  const memory = new Map<string, Float32Array>()
  const views = new Map<string, HostTensor>()
  return (name, shape) => {
    const size = shape.reduce((product, length) => product * length, 1)
    const view = views.get(name)
    if (view !== undefined && view.shape.every((length, axis) => length === shape[axis])) return view
    let array = memory.get(name)
    if (array === undefined || array.length < size) memory.set(name, (array = new Float32Array(size)))
    const fresh = { data: array.subarray(0, size), shape }
    views.set(name, fresh)
    return fresh
  }
}

export type InputSpecs = Record<string, { shape: Dim[]; dtype?: 'float32' | 'int32' | 'bool' }>

/** What a program is compiled for, apart from the architecture. */
export interface ProgramKind {
  /** Rows hold several sequences: `limits` are [B, T, T], one matrix per row, instead of [T, T]. */
  packed?: boolean
  /** Number of attention blocks per row; the row length is a multiple of it. `limits` are as for `attendBlockwise`. */
  blocks?: number
  /** The loss has an entropy bonus. */
  entropyBonus?: boolean
  /** Computes the gradients of this adapter's factors instead of those of the weights. */
  lowRank?: LowRank | undefined
  threads?: number | undefined
  /** As in `compile`. */
  keepMemory?: boolean
}

/** The symbolic shape of a program's rows. */
export function rowShape({ blocks = 1 }: ProgramKind): RowShape & { tokens: Dim } {
  if (blocks === 1) return { batch: 'B', time: 'T', tokens: 'B*T' }
  const time = `${blocks}*S`
  return { batch: 'B', time, tokens: `B*${time}`, blocks: { blocks, size: 'S' } }
}

function limitsShape({ packed = false, blocks = 1 }: ProgramKind): Dim[] {
  if (blocks === 1) return packed ? ['B', 'T', 'T'] : ['T', 'T']
  return packed ? ['B', blocks, 'S', `${blocks}*S`] : ['S', 'S']
}

export function sequenceInputs(config: TransformerConfig, kind: ProgramKind = {}): InputSpecs {
  const half = headWidth(config) / 2
  const { time } = rowShape(kind)
  return {
    ...foldedInputs(config),
    tokens: { shape: ['B', time], dtype: 'int32' },
    positions: { shape: ['B', time], dtype: 'int32' },
    cosineTable: { shape: ['M', half] },
    sineTable: { shape: ['M', half] },
    limits: { shape: limitsShape(kind) },
    rows: { shape: ['N'], dtype: 'int32' },
  }
}

/**
 * All blocks over right-padded sequences, whose padding no real token can see, or over packed ones. Returns hidden
 * states [B*T, width].
 */
export function trunk(inputs: Record<string, Tensor>, config: TransformerConfig, kind: ProgramKind = {}) {
  const { embedding, tokens, positions, cosineTable: cosine, sineTable: sine, limits } = inputs
  const rotary = { positions, cosine, sine }
  const shape = rowShape(kind)
  let x = reshape(gather(embedding, tokens, 0), [shape.tokens, config.hidden_size])
  const blocks = Array.from({ length: config.num_hidden_layers }, (_, layer) => {
    const made = block(x, blockWeights(inputs, layer, config), rotary, limits, shape, config)
    x = made.y
    return made
  })
  return { y: x, blocks }
}

/** tokens [B, T], rows [N] (flat positions b * T + t) -> logits [N, vocabulary] of the token after each. */
export function compileLogits(config: TransformerConfig, threads?: number): Promise<Program> {
  return compile(
    sequenceInputs(config),
    (inputs) => {
      const hidden = gather(trunk(inputs, config).y, inputs['rows'], 0)
      return { logits: logits(hidden, inputs['head'], config) }
    },
    programOptions('logits', { threads }),
  )
}

/**
 * Like `compileLogits`, but returns the log-probabilities [N] of the tokens `targets` [N], with logits multiplied by
 * `inverseTemperatures` [N].
 */
export function compileForward(
  config: TransformerConfig,
  kind: ProgramKind & { entropies?: boolean } = {},
): Promise<Program> {
  return compile(
    {
      ...sequenceInputs(config, kind),
      targets: { shape: ['N'], dtype: 'int32' },
      inverseTemperatures: { shape: ['N'] },
    },
    (inputs) => {
      const hidden = gather(trunk(inputs, config, kind).y, inputs['rows'], 0)
      const inverse = reshape(inputs['inverseTemperatures'], ['N', 1])
      const head = tokenLogprobs(hidden, inputs['head'], inputs['targets'], inverse, config)
      return { logprobs: head.logprobs, ...(kind.entropies === true && { entropies: head.entropies() }) }
    },
    programOptions(kind.entropies === true ? 'entropies' : 'forward', kind),
  )
}

/**
 * Loss and gradients in one pass. Inputs besides those of `compileForward`: per predicted token [N] sampled,
 * advantages, rl, ce and kl; the clips [1]; with an entropy bonus its coefficient [1]; `inverse` [B*T], the index in
 * `rows` of each position, or N if it has none (a gather in both directions, since indices never collide); and
 * `sum.NAME` for every folded weight but the embedding, the gradient of the batches before.
 *
 * Outputs: the loss (scalar), logprobs [N], entropy [N], `gradient.NAME` with this batch added, `inputRows` [B*T,
 * width] to add to the embedding rows of `tokens`, and `targetRows` [N, width] to add to the head's rows of `targets`.
 *
 * With `lowRank`, inputs and gradients are those of `factorInputs` and `factorGradients`, without `inputRows`, and with
 * `targetRows` [N, rank] only if the head is adapted.
 */
export function compileTraining(
  config: TransformerConfig,
  name: LossName,
  kind: ProgramKind = {},
): Promise<Program> {
  const { entropyBonus = false } = kind
  const specs: InputSpecs = {
    ...sequenceInputs(config, kind),
    ...lossInputs(entropyBonus),
    inverse: { shape: [rowShape(kind).tokens], dtype: 'int32' },
    ...factorInputs(kind.lowRank),
    ...Object.fromEntries(
      trainedGradients(config, kind).map(({ name, shape }) => [`sum.${name}`, { shape }]),
    ),
  }
  return compile(
    specs,
    (inputs) => {
      const take = (key: string): Tensor => inputs[key]
      const body = trunk(inputs, config, kind)
      const hidden = gather(body.y, take('rows'), 0)
      const { hidden: gHidden, ...head } = lossHead(name, hidden, inputs, config, entropyBonus)
      const { loss, logprobs, entropy, targetRows } = head
      const zeros = constant(new Float32Array(config.hidden_size), [1, config.hidden_size])
      let gx = gather(concat([gHidden, zeros], 0), take('inverse'), 0)
      // In the order of the computation, so that the runtime can free activations early.
      const outputs: Record<string, Tensor> = { loss, logprobs, entropy }
      const addTrained = (of: string, gradients: Record<string, Tensor>): void => {
        for (const { name, key } of trainedOf(of, config, kind))
          outputs[`gradient.${name}`] = add(gradients[key], take(`sum.${name}`))
      }
      if (trainedOf('head', config, kind).length > 0) outputs['targetRows'] = targetRows
      addTrained('head', head)
      for (let layer = config.num_hidden_layers - 1; layer >= 0; layer--) {
        const g = body.blocks[layer].pullback(gx)
        addTrained(`${layer}`, { ...g.weights })
        gx = g.x
      }
      return { ...outputs, ...(kind.lowRank === undefined && { inputRows: gx }) }
    },
    programOptions(`train-${name}`, kind),
  )
}

type Training = Pick<ProgramKind, 'lowRank'>

/** The gradients that a program returns and sums. */
export function trainedGradients(config: TransformerConfig, { lowRank }: Training) {
  return lowRank === undefined ? denseGradients(config) : factorGradients(lowRank)
}

/**
 * The gradients of one block, by its index, or of the head, with their names within the block. Those of the head keep
 * their names.
 */
export function trainedOf(part: string, config: TransformerConfig, kind: Training) {
  return trainedGradients(config, kind)
    .filter(({ name }) => name.split('.')[0] === part)
    .map(({ name, shape }) => ({ name, shape, key: part === 'head' ? name : name.slice(part.length + 1) }))
}

export function programOptions(
  name: string,
  { threads, keepMemory = true }: Pick<ProgramKind, 'threads' | 'keepMemory'>,
): CompileOptions {
  return { name, keepMemory, ...defined({ threads }) }
}
