import { countParameters, zeroParameters } from '../../../engine/nn/index.ts'
import { type HostTensor, sharedArray } from '../../../engine/tensor/index.ts'
import type { ArraySpace } from '../../environment/index.ts'
import type { SacConfig } from './sac.ts'

/** Plain data of which every thread makes the same networks. */
export interface SacSizes {
  config: SacConfig
  observation: ArraySpace
  /** Numbers of an observation and of an action. */
  width: number
  action: number
  /** Parameters of the actor. */
  actor: number
}

/**
 * What the threads of a gradient step tell one another, by name: the batch, the noise (first that of the next actions, then that
 * of each update of the actor), and what they find for each row. [2, ...] are the two critics', or the two threads'.
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
    /** Of each update of the actor, the first also of the critics. */
    temperatures: [1 + config.actorEvery],
    nextActions: [rows, action],
    nextLogprobs: [rows],
    nextValues: [2, rows],
    played: [rows, action],
    logprobs: [rows],
    values: [2, rows],
    /** Of the values by the actions. */
    actionGradients: [2, rows, action],
    losses: [2],
    estimates: [2],
    gradients: [2, actor],
  }
}

/** Null where threads can share no memory and it is to be shared. */
export function sacBuffer(sizes: SacSizes, isShared: boolean): SacBuffer | null {
  const shapes = shapesOf(sizes)
  const length = countParameters(
    Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }])),
  )
  const memory = isShared ? sharedArray(length) : new Float32Array(length)
  return memory === null ? null : zeroParameters(shapes, memory).views
}

/** A part of the board as a program can read or write it, which the runtime cannot where threads share it. */
export interface BufferPart {
  readonly tensor: HostTensor
  /** From the board, before it is read. */
  read(): void
  /** To the board, after it was written. */
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
