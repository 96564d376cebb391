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
import { chain, type Network } from './network.ts'
import { transformerNetwork } from './transformer.ts'

/** Convolutions over the last two axes of the observations, which are images. */
export interface CnnEncoder {
  kind: 'cnn'
  /** Default: 16 kernels of 3x3, then 32 of 3x3 at every other place. */
  layers?: readonly ConvLayer[]
}

/** A gated recurrent unit that reads the last `window` observations of the episode anew at every step. */
export interface WindowGruEncoder {
  kind: 'gru'
  window: number
  /** Numbers of its state. Default 64. */
  size?: number
}

/** A causal transformer over the last `window` observations of the episode. */
export interface TransformerEncoder {
  kind: 'transformer'
  window: number
  /** Width of a token; a multiple of `heads`. Default 32. */
  size?: number
  /** Default 2. */
  heads?: number
  /** Default 1. */
  layers?: number
}

/**
 * What stands between the observations and the hidden layers of an actor or a critic, each of which has an encoder of its own.
 * `mlp` is nothing: the hidden layers themselves.
 */
export type Encoder = { kind: 'mlp' } | CnnEncoder | WindowGruEncoder | TransformerEncoder

/** How many of the last observations an encoder sees at once; undefined where it sees the newest alone. */
export const windowOf = (encoder: Encoder | undefined): number | undefined =>
  encoder?.kind === 'gru' || encoder?.kind === 'transformer' ? encoder.window : undefined

/** Configurations may come from outside, where no type has been checked. */
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
 * The encoder's network over rows of `inputs` numbers: encoded observations of the space, `window` of them side by side, the
 * newest at the end. Undefined for `mlp`.
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
 * Whether observations are rows of the width that a policy was made for; others would be read across their borders.
 *
 * @throws AgogeError `shape-mismatch`.
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
 * Where an observed choice stands among those of its number, the `k`-th of the observation. Beyond them stand those of other
 * numbers and rows.
 *
 * @throws AgogeError `not-in-space`.
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
 * A network over the observations of a space. Choices enter as one-hot rows, for their numbers have no order; `make`
 * gets the number of inputs that this gives. Boxes and bits enter as they are. With an encoder, `make` gets the number of its outputs;
 * its parameters are called `PREFIXbody.`.
 *
 * `forward` throws an AgogeError for observations of another width (`shape-mismatch`) or choice (`not-in-space`).
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

/** x [B, 1] of choices from `start` on, to [B, n]. */
const oneHot = (x: Tensor, n: number, start: number): Tensor =>
  cast(equal(x, add(reshape(cast(iota(n), 'float32'), [1, n]), start)), 'float32')
