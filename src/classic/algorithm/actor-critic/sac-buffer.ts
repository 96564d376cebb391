import { countParameters, zeroParameters } from '../../../engine/nn/index.ts'
import { type HostTensor, sharedArray } from '../../../engine/tensor/index.ts'
import type { ArraySpace } from '../../environment/index.ts'
import type { SacConfig } from './sac.ts'

/** Plain data from which every thread builds the same networks. */
export interface SacSizes {
  config: SacConfig
  observation: ArraySpace
  /** Lengths of an observation and of an action. */
  width: number
  action: number
  /** Number of parameters of the actor. */
  actor: number
}

/**
 * The arrays that the threads of a gradient step share, by name: the batch, the noise (first for the next actions,
 * then for each update of the actor), and the results for each row. [2, ...] has one part for each critic, or for
 * each thread.
 */
export type SacBuffer = Readonly<Record<keyof ReturnType<typeof shapesOf>, Float32Array>>

function shapesOf({ config, width, action, actor }: SacSizes) {
  const rows = config.batchSize
  return {
    observations: [rows, width],
    nextObservations: [rows, width],
    /** In [-1, 1]. */
    actions: [rows, action],
    rewards: [rows],
    discounts: [rows],
    noise: [1 + config.actorEvery, rows, action],
    /** The temperature at each update of the actor. The critics use the first. */
    temperatures: [1 + config.actorEvery],
    nextActions: [rows, action],
    nextLogprobs: [rows],
    nextValues: [2, rows],
    played: [rows, action],
    logprobs: [rows],
    values: [2, rows],
    /** Gradient of the values with respect to the actions. */
    actionGradients: [2, rows, action],
    losses: [2],
    estimates: [2],
    gradients: [2, actor],
  }
}

/** Creates the arrays. Returns null if they should be shared and threads cannot share memory here. */
export function sacBuffer(sizes: SacSizes, isShared: boolean): SacBuffer | null {
  const shapes = shapesOf(sizes)
  const length = countParameters(
    Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }])),
  )
  const memory = isShared ? sharedArray(length) : new Float32Array(length)
  return memory === null ? null : zeroParameters(shapes, memory).views
}

/** A part of the buffer that a program reads or writes. The runtime cannot use shared memory directly. */
export interface BufferPart {
  readonly tensor: HostTensor
  /** Copies from the buffer, before a program reads. */
  read(): void
  /** Copies to the buffer, after a program has written. */
  write(): void
}

export function bufferPart(part: Float32Array, shape: readonly number[]): BufferPart {
  const isShared = typeof SharedArrayBuffer !== 'undefined' && part.buffer instanceof SharedArrayBuffer
  const data = isShared ? new Float32Array(part.length) : part
  return {
    tensor: { data, shape },
    read: () => void (isShared && data.set(part)),
    write: () => void (isShared && part.set(data)),
  }
}
