import { add, compile } from '../../engine/tensor/index.ts'
import type { Dim, Feeds, HostTensor, Program, Tensor } from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'
import { block, blockWeightNames } from './block.ts'
import type { BlockWeights } from './block.ts'
import type { TransformerConfig } from './config.ts'
import { foldedInputs } from './folded-weights.ts'
import { lossHead, lossInputs } from './head.ts'
import {
  createOutputBuffers,
  type InputSpecs,
  type ProgramKind,
  programOptions,
  rowShape,
  sequenceInputs,
} from './programs.ts'

/** Memory in bytes for the vocabulary probabilities that the head computes at once. */
const headBytes = 2 ** 26

/**
 * Like `compileTraining`, with the same feeds and outputs, but runs block by block. It keeps only the inputs of blocks,
 * and recomputes a block's inside for its gradient (Chen et al. 2016, arXiv:1604.06174). This takes a third more time,
 * and up to twice as much for long sequences, because the runtime then requests memory in each run. The activations of
 * many layers take the memory of one. All blocks have the same shapes, so two programs serve all of them.
 */
export async function compileRecomputing(
  config: TransformerConfig,
  name: LossName,
  kind: ProgramKind = {},
): Promise<Pick<Program, 'run' | 'release'>> {
  const { entropyBonus = false } = kind
  const ofLoss = lossInputs(entropyBonus)
  const width = config.hidden_size
  const names = blockWeightNames(config)
  const whole = foldedInputs(config)
  // If memory were kept for the next run, each program would keep its peak while another has its own.
  const options = (part: string) => programOptions(part, { ...kind, keepMemory: false })
  const shapes = names.map((key): [string, Dim[]] => [key, whole[`0.${key}`].shape])
  const { positions, cosineTable, sineTable, limits } = sequenceInputs(config, kind)
  const shape = rowShape(kind)
  const blockInputs: InputSpecs = {
    x: { shape: [shape.tokens, width] },
    positions,
    cosineTable,
    sineTable,
    limits,
    ...Object.fromEntries(shapes.map(([key, shape]) => [key, { shape }])),
  }
  const make = (inputs: Record<string, Tensor>) => {
    const { x, positions, cosineTable: cosine, sineTable: sine, limits } = inputs
    const weights = Object.fromEntries(names.map((key) => [key, inputs[key]])) as unknown as BlockWeights
    return block(x, weights, { positions, cosine, sine }, limits, shape, config)
  }
  const [forward, backward, head] = await Promise.all([
    compile(blockInputs, (inputs) => ({ y: make(inputs).y }), options('block')),
    compile(
      {
        ...blockInputs,
        gy: { shape: [shape.tokens, width] },
        ...Object.fromEntries(shapes.map(([key, shape]) => [`sum.${key}`, { shape }])),
      },
      (inputs) => {
        const { x, weights } = make(inputs).pullback(inputs['gy'])
        const summed = names.map((key) => [`gradient.${key}`, add(weights[key]!, inputs[`sum.${key}`])])
        return { gx: x, ...(Object.fromEntries(summed) as Record<string, Tensor>) }
      },
      options('block-gradient'),
    ),
    compile(
      {
        hidden: { shape: ['N', width] },
        head: whole['head'],
        'sum.head': whole['head'],
        ...ofLoss,
      },
      ({ hidden, ...inputs }) => {
        const made = lossHead(name, hidden, inputs, config, entropyBonus)
        const { loss, logprobs, entropy, targetRows } = made
        const matrix = add(made.matrix, inputs['sum.head'])
        return { loss, logprobs, entropy, targetRows, gHidden: made.hidden, 'gradient.head': matrix }
      },
      options(`head-${name}`),
    ),
  ])
  const buffers = createOutputBuffers()
  let spare: HostTensor | undefined

  /**
   * Runs the head over as many rows at a time as `headBytes` allows. Returns the gradient of the last states [B*T,
   * width].
   */
  async function runHead(feeds: Feeds, into: Feeds, states: Float32Array) {
    const rows = feeds['rows'].data as Int32Array
    const count = rows.length
    const atOnce = Math.max(1, Math.min(count, Math.floor(headBytes / (4 * config.vocab_size))))
    const parts = Math.ceil(count / atOnce)
    const gradient = buffers('gradient-of-states', [states.length / width, width])
    const gx = gradient.data as Float32Array
    gx.fill(0)
    const logprobs = new Float32Array(count)
    const entropy = new Float32Array(count)
    const targetRows = into['targetRows'] ?? buffers('targetRows', [count, width])
    const target = into['gradient.head']
    if (parts > 1) spare ??= { data: new Float32Array(target.data.length), shape: target.shape }
    let before = feeds['sum.head']
    let loss = 0
    for (let part = 0; part < parts; part++) {
      const [from, to] = [part * atOnce, Math.min(count, (part + 1) * atOnce)]
      const shape = [to - from]
      const hidden = buffers('hidden', [to - from, width])
      for (let i = from; i < to; i++)
        (hidden.data as Float32Array).set(
          states.subarray(rows[i] * width, (rows[i] + 1) * width),
          (i - from) * width,
        )
      const cut = Object.entries(ofLoss).map(([key, spec]): [string, HostTensor] => {
        const feed = feeds[key]
        return [key, spec.shape[0] === 'N' ? { data: feed.data.subarray(from, to), shape } : feed]
      })
      // Two arrays used alternately, chosen so that the last part writes to the result.
      const after = (parts - 1 - part) % 2 === 0 ? target : spare!
      const out = await head.run(
        { hidden, head: feeds['head'], 'sum.head': before, ...Object.fromEntries(cut) },
        {
          'gradient.head': after,
          gHidden: buffers('gHidden', [to - from, width]),
          targetRows: {
            data: (targetRows.data as Float32Array).subarray(from * width, to * width),
            shape: [to - from, width],
          },
        },
      )
      before = after
      loss += out['loss'].data[0]
      logprobs.set(out['logprobs'].data, from)
      entropy.set(out['entropy'].data, from)
      const g = out['gHidden'].data as Float32Array
      for (let i = from; i < to; i++)
        gx.set(g.subarray((i - from) * width, (i - from + 1) * width), rows[i] * width)
    }
    return {
      gradient,
      outputs: {
        loss: { data: Float32Array.of(loss), shape: [] },
        logprobs: { data: logprobs, shape: [count] },
        entropy: { data: entropy, shape: [count] },
        targetRows,
        'gradient.head': target,
      },
    }
  }

  return {
    async run(feeds, into = {}) {
      const tokens = feeds['tokens'].data as Int32Array
      const shape = [tokens.length, width]
      const { positions, cosineTable, sineTable, limits } = feeds
      const common = { positions, cosineTable, sineTable, limits }
      const weights = (layer: number): Feeds =>
        Object.fromEntries(names.map((key) => [key, feeds[`${layer}.${key}`]]))
      const table = feeds['embedding'].data as Float32Array
      const first = buffers('x0', shape)
      for (let i = 0; i < tokens.length; i++)
        (first.data as Float32Array).set(
          table.subarray(tokens[i] * width, (tokens[i] + 1) * width),
          i * width,
        )
      const kept = [first]
      for (let layer = 0; layer < config.num_hidden_layers; layer++) {
        const y = buffers(`x${layer + 1}`, shape)
        await forward.run({ x: kept[layer], ...common, ...weights(layer) }, { y })
        kept.push(y)
      }
      const { gradient, outputs } = await runHead(feeds, into, kept.at(-1)!.data as Float32Array)
      let gy = gradient
      for (let layer = config.num_hidden_layers - 1; layer >= 0; layer--) {
        const named = (prefix: string, from: Feeds): Feeds =>
          Object.fromEntries(names.map((key) => [`${prefix}.${key}`, from[`${prefix}.${layer}.${key}`]]))
        const gx = layer === 0 && into['inputRows'] ? into['inputRows'] : buffers(`g${layer % 2}`, shape)
        await backward.run(
          { x: kept[layer], gy, ...common, ...weights(layer), ...named('sum', feeds) },
          { gx, ...named('gradient', into) },
        )
        gy = gx
      }
      return { ...outputs, inputRows: gy }
    },
    async release() {
      await Promise.all([forward, backward, head].map((program) => program.release()))
    },
  }
}
