import { add, cast, concat, equal, iota, reshape, slice, type Tensor } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import {
  type ArraySpace,
  describeSpace,
  type DiscreteSpace,
  type MultiDiscreteSpace,
  rowSize,
} from '../environment/index.ts'
import { cnnNetwork, type ConvLayer } from './cnn.ts'
import { gruNetwork } from './gru.ts'
import { chain, type Network } from './mlp.ts'
import { transformerNetwork } from './transformer.ts'

/** Convolutions over the last two axes of image observations. */
export interface CnnEncoder {
  kind: 'cnn'
  /** Default: 16 kernels of 3x3, then 32 of 3x3 with stride 2. */
  layers?: readonly ConvLayer[]
}

/** A GRU that rereads the last `window` observations of the episode at every step. */
export interface WindowGruEncoder {
  kind: 'gru'
  window: number
  /** Size of its state. Default: 64. */
  size?: number
}

/** A causal transformer over the last `window` observations of the episode. */
export interface TransformerEncoder {
  kind: 'transformer'
  window: number
  /** Width of a token, a multiple of `heads`. Default: 32. */
  size?: number
  /** Default: 2. */
  heads?: number
  /** Default: 1. */
  layers?: number
}

/**
 * The feature extractor between the observations and the hidden layers. Actor and critic each have their own.
 * `mlp` means no encoder: the hidden layers read the observations.
 */
export type Encoder = { kind: 'mlp' } | CnnEncoder | WindowGruEncoder | TransformerEncoder

/** Number of recent observations that the encoder reads, or undefined if it reads only the newest one. */
export const windowOf = (encoder: Encoder | undefined): number | undefined =>
  encoder?.kind === 'gru' || encoder?.kind === 'transformer' ? encoder.window : undefined

/** Configurations may come from outside, without type checks. */
function checkWindow({ kind, window }: WindowGruEncoder | TransformerEncoder): void {
  if (Number.isSafeInteger(window) && window >= 1) return
  throw new AgogeError(`the encoder ${kind} needs to know how many observations it sees`, {
    code: 'bad-argument',
    given: `window: ${window}`,
    expected: 'a positive integer',
    hint: 'only ppo carries the state of a gru from step to step, and needs no window',
  })
}

/**
 * The network of an encoder. It reads rows of `inputs` numbers: `window` encoded observations of the space,
 * concatenated, newest last. Undefined for `mlp`.
 */
export function encoderNetwork(
  encoder: Encoder,
  space: ArraySpace,
  { inputs, prefix }: { inputs: number; prefix: string },
): Network | undefined {
  switch (encoder.kind) {
    case 'mlp':
      return undefined
    case 'cnn':
      return cnnNetwork(space, { layers: encoder.layers, prefix })
    case 'gru':
      checkWindow(encoder)
      return gruNetwork({
        inputs: inputs / encoder.window,
        window: encoder.window,
        size: encoder.size ?? 64,
        prefix,
      })
    case 'transformer':
      checkWindow(encoder)
      return transformerNetwork({
        inputs: inputs / encoder.window,
        window: encoder.window,
        size: encoder.size ?? 32,
        heads: encoder.heads ?? 2,
        layers: encoder.layers ?? 1,
        prefix,
      })
  }
}

/**
 * Checks that observations have the width that the policy expects.
 *
 * @throws AgogeError `shape-mismatch`
 */
export function checkRows(observations: ArrayLike<number>, rows: number, width: number): void {
  if (observations.length === rows * width) return
  throw new AgogeError('These observations are not those that the agent was made for', {
    code: 'shape-mismatch',
    given: `${observations.length / rows} numbers a row`,
    expected: `${width} numbers a row`,
    hint: 'Play in the environment of its training; behind the same wrappers by evaluateAgent(agent, environment, { wrap })',
  })
}

/**
 * The index of an observed choice in the one-hot row of the `k`-th number. An index outside would belong to
 * another number.
 *
 * @throws AgogeError `not-in-space`
 */
export function placeOf(space: DiscreteSpace | MultiDiscreteSpace, choice: number, k = 0): number {
  const place = space.type === 'discrete' ? choice - space.start : choice
  const count = space.type === 'discrete' ? space.n : space.counts[k]
  if (place >= 0 && place < count) return place
  throw new AgogeError(`The agent was made for other observations: it was shown ${choice}`, {
    code: 'not-in-space',
    given: choice,
    expected: `a member of ${describeSpace(space)}`,
    hint: 'Play in the environment of its training',
  })
}

/**
 * A network over the observations of a space. Choices become one-hot rows; boxes and bits stay as they are.
 * `make` gets the resulting number of inputs, or the number of outputs of the encoder if there is one.
 * Parameters of the encoder have the prefix `PREFIXbody.`.
 *
 * @throws AgogeError from `forward`: `shape-mismatch` for observations of another width, `not-in-space` for an
 * invalid choice
 */
export function overObservations(
  space: ArraySpace,
  make: (inputs: number) => Network,
  { encoder, prefix = '' }: { encoder?: Encoder | undefined; prefix?: string } = {},
): Network {
  const network = encoded(space, (inputs) => {
    const front = encoder && encoderNetwork(encoder, space, { inputs, prefix: `${prefix}body.` })
    return front === undefined ? make(inputs) : chain(front, make(front.outputs))
  })
  return {
    ...network,
    forward(parameters, x, rows, out) {
      checkRows(x, rows, network.inputs)
      network.forward(parameters, x, rows, out)
    },
  }
}

function encoded(space: ArraySpace, make: (inputs: number) => Network): Network {
  if (space.type === 'box' || space.type === 'multi-binary') return make(rowSize(space))
  const counts = space.type === 'discrete' ? [space.n] : space.counts
  const start = space.type === 'discrete' ? space.start : 0
  const total = counts.reduce((sum, n) => sum + n, 0)
  const inner = make(total)
  let scratch = new Float32Array(0)
  return {
    inputs: counts.length,
    outputs: inner.outputs,
    specs: inner.specs,
    trace: (parameters, x) =>
      inner.trace(
        parameters,
        concat(
          counts.map((n, i) => oneHot(slice(x, { axis: 1, start: i, end: i + 1 }), n, start)),
          1,
        ),
      ),
    forward(parameters, x, rows, out) {
      if (scratch.length < rows * total) scratch = new Float32Array(rows * total)
      scratch.fill(0, 0, rows * total)
      for (let r = 0; r < rows; r++) {
        let offset = r * total
        for (let i = 0; i < counts.length; i++) {
          scratch[offset + placeOf(space, x[r * counts.length + i], i)] = 1
          offset += counts[i]
        }
      }
      inner.forward(parameters, scratch, rows, out)
    },
  }
}

/** One-hot encodes x [B, 1], choices from `start` on, to [B, n]. */
const oneHot = (x: Tensor, n: number, start: number): Tensor =>
  cast(equal(x, add(reshape(cast(iota(n), 'float32'), [1, n]), start)), 'float32')
