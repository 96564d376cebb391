import { add, compile } from '../../engine/tensor/index.ts'
import type { Dim, Feeds, HostTensor, Program, Tensor } from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'
import { block, blockWeightNames, blockWeights } from './block.ts'
import type { TransformerConfig } from './config.ts'
import { foldedInputs } from './folded-weights.ts'
import { lossHead, lossInputs } from './head.ts'
import { factorInputs } from './low-rank.ts'
import {
  createOutputBuffers,
  type InputSpecs,
  type ProgramKind,
  programOptions,
  rowShape,
  sequenceInputs,
  trainedOf,
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
    const named = Object.fromEntries(Object.entries(inputs).map(([key, input]) => [`0.${key}`, input]))
    return block(x, blockWeights(named, 0, config), { positions, cosine, sine }, limits, shape, config)
  }
  const factors = factorInputs(kind.lowRank)
  const factorsOf = (part: string): string[] =>
    Object.keys(factors).filter((name) => name.split('.')[0] === part)
  const compileBackward = (layer: number): Promise<Program> => {
    const trained = trainedOf(`${layer}`, config, kind)
    return compile(
      {
        ...blockInputs,
        ...Object.fromEntries(factorsOf(`${layer}`).map((name) => [withoutLayer(name), factors[name]])),
        gy: { shape: [shape.tokens, width] },
        ...Object.fromEntries(trained.map(({ key, shape }) => [`sum.${key}`, { shape }])),
      },
      (inputs) => {
        const { x, weights } = make(inputs).pullback(inputs['gy'])
        const gradients: Record<string, Tensor> = { ...weights }
        const summed = trained.map(({ key }) => [
          `gradient.${key}`,
          add(gradients[key], inputs[`sum.${key}`]),
        ])
        return { gx: x, ...(Object.fromEntries(summed) as Record<string, Tensor>) }
      },
      options('block-gradient'),
    )
  }
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer)
  /** Blocks below this one have no trained weights, and no gradient. */
  const lowest = layers.find((layer) => trainedOf(`${layer}`, config, kind).length > 0) ?? layers.length
  // Blocks may have different factors. Those with the same ones share a program.
  const backwards = new Map<string, Promise<Program>>()
  const backward = (layer: number): Promise<Program> => {
    const key = trainedOf(`${layer}`, config, kind)
      .map((each) => each.key)
      .join()
    let found = backwards.get(key)
    if (found === undefined) backwards.set(key, (found = compileBackward(layer)))
    return found
  }
  const ofHead = trainedOf('head', config, kind)
  const [forward, head] = await Promise.all([
    compile(blockInputs, (inputs) => ({ y: make(inputs).y }), options('block')),
    compile(
      {
        hidden: { shape: ['N', width] },
        head: whole['head'],
        ...Object.fromEntries(factorsOf('head').map((name) => [name, factors[name]])),
        ...Object.fromEntries(ofHead.map(({ name, shape }) => [`sum.${name}`, { shape }])),
        ...ofLoss,
      },
      ({ hidden, ...inputs }) => {
        const made = lossHead(name, hidden, inputs, config, entropyBonus)
        const { loss, logprobs, entropy, targetRows } = made
        const gradients: Record<string, Tensor> = { ...made }
        const summed = ofHead.map(({ name }) => [
          `gradient.${name}`,
          add(gradients[name], inputs[`sum.${name}`]),
        ])
        return {
          ...{ loss, logprobs, entropy, gHidden: made.hidden },
          ...(ofHead.length > 0 && { targetRows }),
          ...(Object.fromEntries(summed) as Record<string, Tensor>),
        }
      },
      options(`head-${name}`),
    ),
  ])
  const buffers = createOutputBuffers()
  const spare: Record<string, HostTensor> = {}

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
    const targetRows = into['targetRows']
    const targets = Object.fromEntries(ofHead.map(({ name }) => [name, into[`gradient.${name}`]]))
    if (parts > 1)
      for (const [name, { data, shape }] of Object.entries(targets))
        spare[name] ??= { data: new Float32Array(data.length), shape }
    const matrix = Object.fromEntries(['head', ...factorsOf('head')].map((name) => [name, feeds[name]]))
    let before = Object.fromEntries(ofHead.map(({ name }) => [name, feeds[`sum.${name}`]]))
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
      const after = (parts - 1 - part) % 2 === 0 ? targets : spare
      const out = await head.run(
        { hidden, ...matrix, ...prefixed('sum', before), ...Object.fromEntries(cut) },
        {
          ...prefixed('gradient', after),
          gHidden: buffers('gHidden', [to - from, width]),
          ...(targetRows && { targetRows: rowsOf(targetRows, from, to) }),
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
        ...(targetRows && { targetRows }),
        ...prefixed('gradient', targets),
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
      for (let layer = config.num_hidden_layers - 1; layer >= lowest; layer--) {
        const trained = trainedOf(`${layer}`, config, kind)
        const named = (prefix: string, from: Feeds): Feeds =>
          Object.fromEntries(trained.map(({ name, key }) => [`${prefix}.${key}`, from[`${prefix}.${name}`]]))
        const ofAdapter = factorsOf(`${layer}`).map((name) => [withoutLayer(name), feeds[name]])
        const program = await backward(layer)
        const gx = layer === 0 && into['inputRows'] ? into['inputRows'] : buffers(`g${layer % 2}`, shape)
        await program.run(
          {
            ...{ x: kept[layer], gy, ...common, ...weights(layer), ...named('sum', feeds) },
            ...(Object.fromEntries(ofAdapter) as Feeds),
          },
          { gx, ...named('gradient', into) },
        )
        gy = gx
      }
      return { ...outputs, ...(kind.lowRank === undefined && { inputRows: gy }) }
    },
    async release() {
      const made = [forward, head, ...(await Promise.all(backwards.values()))]
      await Promise.all(made.map((program) => program.release()))
    },
  }
}

/** `0.q.a` as `q.a`. */
const withoutLayer = (name: string): string => name.slice(name.indexOf('.') + 1)

const prefixed = (prefix: string, tensors: Record<string, HostTensor>): Record<string, HostTensor> =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [`${prefix}.${name}`, tensor]))

/** A part of the rows of a matrix. */
function rowsOf({ data, shape }: HostTensor, from: number, to: number): HostTensor {
  const width = shape[1]
  return { data: (data as Float32Array).subarray(from * width, to * width), shape: [to - from, width] }
}
