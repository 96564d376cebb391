import { AgogeError } from '../error.ts'
import { maskSize } from './action-masks.ts'
import { contextRow } from './context.ts'
import type { Context } from './context.ts'
import { rowSize } from './space.ts'
import { restoreArrays, saveArrays } from './stored-arrays.ts'
import { together } from './together.ts'
import { fastStream } from './world-random.ts'
import type { WorldStream } from './world-random.ts'
import type { Slots, World } from './world.ts'

/**
 * When a finished slot begins again. `same-step`: in the step that ended it, whose last observation is in
 * `finalObservations`. `next-step`: the step after ignores the action, gives the first observation, reward 0 and no end
 * (Gymnasium's default). `disabled`: when `reset` says so.
 */
export type Autoreset = 'same-step' | 'next-step' | 'disabled'

export interface VectorOptions {
  slots: number
  /** Default 0. Streams are keyed by (seed, slot), so that slot i plays alike whatever the number of slots. */
  seed?: number
  /** Default `same-step`. */
  autoreset?: Autoreset
  /** The context of a slot's next episode. Default: the defaults of the space. */
  contextFor?: (slot: number, episode: number) => Context
  /** Instead of the world's own limit; Infinity for none. */
  maxSteps?: number
  /** Where chance comes from. Default: the fast stream. */
  stream?: (seed: number, slot: number) => WorldStream
}

/**
 * Many copies of a world, stepped together. The arrays belong to the environment and are overwritten by each call;
 * nothing is allocated. Row i of each is slot i's.
 */
export interface VectorEnvironment {
  readonly world: World
  readonly autoreset: Autoreset
  /** [slots, rowSize(action)]: write here, then `step()`. */
  readonly actions: Float32Array
  /** [slots, rowSize(observation)]. */
  readonly observations: Float32Array
  /** Where a slot has just ended: its last observation, before any reset. */
  readonly finalObservations: Float32Array
  readonly rewards: Float64Array
  readonly terminated: Uint8Array
  readonly truncated: Uint8Array
  /** [slots, n], 1 = allowed; empty where the world has no masks. The choices of several numbers stand one after another. */
  readonly actionMask: Uint8Array
  /** Where a slot has just ended: the mask of its last state, before any reset. */
  readonly finalActionMask: Uint8Array
  /** Of the episode that a slot is in; where it has just ended, of that one. */
  readonly returns: Float64Array
  readonly lengths: Int32Array
  /** The slots, for worlds' own functions such as `draw`. */
  readonly slots: Slots
  /** Begins new episodes: everywhere, or where `mask` is 1. With a seed all streams start anew first. */
  reset(options?: { seed?: number; mask?: Uint8Array }): void
  step(): void
  /**
   * Cuts the slot's episode short, as a time limit does: after a step, before the next. The slot then begins again as
   * after any end. Where the step has just terminated the episode, it is truncated as well.
   */
  truncate(slot: number): void
  /** Everything needed to go on exactly here, as structured-cloneable data. */
  state(): VectorState
  restore(state: VectorState): void
}

export interface VectorState {
  arrays: Record<string, ArrayBuffer>
  streams: unknown[]
  episodes: number[]
  /** Of a wrapper: the state of what it wraps. */
  inner?: VectorState
}

interface Kind<T> {
  new (buffer: ArrayBuffer): T
  readonly BYTES_PER_ELEMENT: number
}

/** An array outside of the heap, however short: V8 reads it in half the time of one within, which it may move. */
const zeros = <T>(Kind: Kind<T>, length: number): T =>
  new Kind(new ArrayBuffer(length * Kind.BYTES_PER_ELEMENT))

/** Makes `slots` copies of a world. Call `reset` first. */
export function createVectorEnvironment(world: World, options: VectorOptions): VectorEnvironment {
  const { slots: count, autoreset = 'same-step', contextFor, maxSteps = world.maxSteps ?? Infinity } = options
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new AgogeError('a vector environment needs slots', {
      code: 'bad-argument',
      given: count,
      expected: 'a positive integer',
    })
  }
  const width = rowSize(world.observation)
  const choices = world.mask === undefined ? 0 : maskSize(world.name, world.action)
  const features = Object.keys(world.context).length
  const quick =
    autoreset === 'same-step' && world.mask === undefined ? together(world, count, maxSteps) : undefined
  const slots: Slots = {
    count,
    ...(quick?.arrays ?? {
      state: zeros(Float64Array, count * world.stateSize),
      context: zeros(Float64Array, count * features),
      actions: zeros(Float32Array, count * rowSize(world.action)),
      observations: zeros(Float32Array, count * width),
      rewards: zeros(Float64Array, count),
      terminated: zeros(Uint8Array, count),
    }),
    actionMask: zeros(Uint8Array, count * choices),
  }
  const finalObservations = zeros(Float32Array, count * width)
  const finalActionMask = zeros(Uint8Array, count * choices)
  const { truncated, returns, lengths, ended } = quick?.counts ?? {
    truncated: zeros(Uint8Array, count),
    returns: zeros(Float64Array, count),
    lengths: zeros(Int32Array, count),
    /** 1 where the slot has ended and not begun again. */
    ended: zeros(Uint8Array, count),
  }
  const makeStream = options.stream ?? ((seed, slot) => fastStream('world', world.name, seed, slot))
  let streams = Array.from({ length: count }, (_, i) => makeStream(options.seed ?? 0, i))
  let episodes = Array.from({ length: count }, () => 0)
  let begun = false
  const { step, observe, mask } = world
  const { rewards, terminated, observations } = slots

  function begin(i: number): void {
    if (contextFor !== undefined || episodes[i] === 0)
      slots.context.set(contextRow(world.context, contextFor?.(i, episodes[i]), world.name), i * features)
    episodes[i]++
    world.reset(slots, i, streams[i])
    observe(slots, i)
    mask?.(slots, i)
  }

  /** A new count starts when the next step is counted, so that the figures of an ended episode can be read. */
  function startCount(i: number): void {
    returns[i] = 0
    lengths[i] = 0
    ended[i] = 0
  }

  function end(i: number): void {
    ended[i] = 1
    for (let k = i * width; k < (i + 1) * width; k++) finalObservations[k] = observations[k]
    for (let k = i * choices; k < (i + 1) * choices; k++) finalActionMask[k] = slots.actionMask[k]
    if (autoreset === 'same-step') begin(i)
  }

  function stepOne(i: number): void {
    step(slots, i, streams[i])
    observe(slots, i)
  }

  const { count: _, ...written } = slots
  const stored = { ...written, finalObservations, finalActionMask, truncated, returns, lengths, ended }

  return {
    world,
    autoreset,
    actions: slots.actions,
    observations,
    finalObservations,
    rewards,
    terminated,
    truncated,
    actionMask: slots.actionMask,
    finalActionMask,
    returns,
    lengths,
    slots,
    reset({ seed, mask: which } = {}) {
      if (seed !== undefined) {
        streams = streams.map((_, i) => makeStream(seed, i))
        episodes = episodes.map(() => 0)
      }
      for (let i = 0; i < count; i++) {
        if (which !== undefined && which[i] !== 1) continue
        begin(i)
        startCount(i)
        rewards[i] = 0
        terminated[i] = 0
        truncated[i] = 0
      }
      begun = true
    },
    step() {
      if (!begun) {
        throw new AgogeError(`${world.name} was stepped before it was reset`, {
          code: 'reset-needed',
          hint: 'call reset() first',
        })
      }
      if (quick !== undefined) {
        quick.step(stepOne, end)
        return
      }
      for (let i = 0; i < count; i++) {
        if (ended[i] === 1) {
          if (autoreset === 'disabled') throw notReset(world.name, i)
          startCount(i)
          if (autoreset === 'next-step') {
            begin(i)
            rewards[i] = 0
            terminated[i] = 0
            truncated[i] = 0
            continue
          }
        }
        stepOne(i)
        returns[i] += rewards[i]
        const over = ++lengths[i] >= maxSteps
        truncated[i] = over ? 1 : 0
        mask?.(slots, i)
        if (over || terminated[i] === 1) end(i)
      }
    },
    truncate(i) {
      truncated[i] = 1
      if (ended[i] === 0) end(i)
    },
    state: () => ({
      arrays: saveArrays(stored),
      streams: streams.map((stream) => stream.state()),
      episodes: [...episodes],
    }),
    restore(state) {
      restoreArrays(world.name, stored, state.arrays)
      streams.forEach((stream, i) => stream.restore(state.streams[i]))
      episodes = [...state.episodes]
      begun = true
    },
  }
}

function notReset(world: string, slot: number): AgogeError {
  return new AgogeError(`slot ${slot} of ${world} has ended and was not reset`, {
    code: 'reset-needed',
    given: 'a step of an ended slot, with autoreset disabled',
    expected: 'reset({ mask }) with 1 for that slot',
  })
}
