import type { ArraySpace } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { cnnNetwork } from './cnn.ts'
import type { ConvLayer } from './cnn.ts'
import { gruNetwork } from './gru.ts'
import type { Network } from './network.ts'
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
 * What stands between the observations and the hidden layers of an actor or a critic, each of which has a body of its own.
 * `mlp` is nothing: the hidden layers themselves.
 */
export type Encoder = { kind: 'mlp' } | CnnEncoder | WindowGruEncoder | TransformerEncoder

/** How many of the last observations a body sees at once; undefined where it sees the newest alone. */
export const windowOf = (encoder: Encoder | undefined): number | undefined =>
  encoder?.kind === 'gru' || encoder?.kind === 'transformer' ? encoder.window : undefined

/** Configurations may come from outside, where no type has been checked. */
function checkWindow({ kind, window }: WindowGruEncoder | TransformerEncoder): void {
  if (Number.isSafeInteger(window) && window >= 1) return
  throw new AgogeError(`the body ${kind} needs to know how many observations it sees`, {
    code: 'bad-argument',
    given: `window: ${window}`,
    expected: 'a positive integer',
    hint: 'only ppo carries the state of a gru from step to step, and needs no window',
  })
}

/**
 * The body's network over rows of `inputs` numbers: encoded observations of the space, `window` of them side by side, the
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
