import type { Random } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { gae, type GaeSettings } from '../../../returns/gae.ts'
import { standardise } from '../../../returns/whiten.ts'
import { type AnyVector, requireSameStep, rowSize } from '../../environment/index.ts'
import { clipActionRows } from '../../policy/index.ts'

/** The steps between two updates of an on-policy learner; row `environment * steps + t` of each array. */
export interface Rollout {
  /** Where the actor writes for the coming step: rows by environment. */
  next(): { actions: Float32Array; logprobs: Float32Array; values: Float32Array }
  /** Keeps what the actor saw and chose, and hands the actions to the environment. */
  acted(): void
  /** Keeps what the step gave. True when the rollout is full. */
  stepped(): boolean
  /** Advantages and value targets, with values for observations that no step acted on; begins anew. */
  finish(
    settings: GaeSettings,
    evaluate: (observations: Float32Array, rows: number, values: Float32Array, mask?: Uint8Array) => void,
  ): void
  /**
   * All steps once, shuffled, in `count` parts; advantages have mean 0 and deviation 1 in each, unless `normalise` is
   * false. Where steps stay together in sequences, `keep` [sequences, steps of one] is 0 at the first step of an
   * episode that is not the first of its sequence.
   */
  minibatches(count: number, random: Random, normalise?: boolean): Generator<Record<string, HostTensor>>
  state(): unknown
  restore(state: unknown): void
}

export interface RolloutOptions {
  /** A divisor of the steps: as many successive steps of an environment stay together when steps are shuffled. Default 1. */
  sequence?: number
  /** Whether the masks of last observations are stored, for learners that take a maximum over actions there. Default false. */
  finalMasks?: boolean
  /** The precision that rewards are stored in. Default double. */
  rewards?: Float32ArrayConstructor | Float64ArrayConstructor
}

/**
 * For `steps` steps of every environment of the vector, with autoreset in the same step. Actions outside the bounds of a box are stored
 * as they were drawn, and clipped for the environment.
 */
export function createRollout(
  environment: AnyVector,
  steps: number,
  actionSize: number,
  { sequence, finalMasks = false, rewards: Rewards = Float64Array }: RolloutOptions = {},
): Rollout {
  const { definition } = environment
  requireSameStep(environment, 'a rollout')
  const numEnvs = environment.numEnvs.count
  const rows = numEnvs * steps
  const width = rowSize(definition.observation)
  const choices = environment.actionMask.length / numEnvs
  const storage = {
    observations: new Float32Array(rows * width),
    actions: new Float32Array(rows * actionSize),
    logprobs: new Float32Array(rows),
    values: new Float32Array(rows),
    nextValues: new Float32Array(rows),
    rewards: new Rewards(rows),
    terminated: new Uint8Array(rows),
    truncated: new Uint8Array(rows),
    advantages: new Float32Array(rows),
    returns: new Float32Array(rows),
    maskPenalty: new Float32Array(rows * choices),
    /** Last observations of truncated episodes; the rows of others are not read. */
    final: new Float32Array(rows * width),
    ...(finalMasks ? { finalMask: new Uint8Array(rows * choices) } : {}),
  }
  const now = {
    actions: new Float32Array(numEnvs * actionSize),
    logprobs: new Float32Array(numEnvs),
    values: new Float32Array(numEnvs),
  }
  const batched = sequence ?? 1
  const order = Int32Array.from({ length: rows / batched }, (_, i) => i)
  let t = 0

  function bootstrap(evaluate: Parameters<Rollout['finish']>[1]): void {
    const last = new Float32Array(numEnvs)
    evaluate(environment.observations, numEnvs, last, environment.actionMask)
    const cut: number[] = []
    for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
      for (let k = 0; k < steps; k++) {
        const row = envIndex * steps + k
        storage.nextValues[row] = k + 1 < steps ? storage.values[row + 1] : last[envIndex]
        if (storage.truncated[row] === 1 && storage.terminated[row] === 0) cut.push(row)
      }
    }
    if (cut.length === 0) return
    const finals = new Float32Array(cut.length * width)
    const values = new Float32Array(cut.length)
    cut.forEach((row, i) => finals.set(storage.final.subarray(row * width, (row + 1) * width), i * width))
    const masks = new Uint8Array(finalMasks ? cut.length * choices : 0)
    if (finalMasks)
      cut.forEach((row, i) =>
        masks.set(storage.finalMask!.subarray(row * choices, (row + 1) * choices), i * choices),
      )
    evaluate(finals, cut.length, values, masks)
    cut.forEach((row, i) => (storage.nextValues[row] = values[i]))
  }

  function keepOf(chosen: Int32Array, sequence: number): HostTensor {
    const data = new Float32Array(chosen.length).fill(1)
    chosen.forEach((row, i) => {
      if (i % sequence > 0 && storage.terminated[row - 1] + storage.truncated[row - 1] > 0) data[i] = 0
    })
    return { data, shape: [chosen.length / sequence, sequence] }
  }

  return {
    next: () => now,
    acted() {
      // What was drawn is what is learned from; what is out of bounds is not for the environment.
      environment.actions.set(now.actions)
      clipActionRows(definition.action, environment.actions, numEnvs)
      const { observations, actionMask } = environment
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const row = envIndex * steps + t
        for (let k = 0; k < width; k++)
          storage.observations[row * width + k] = observations[envIndex * width + k]
        for (let k = 0; k < actionSize; k++)
          storage.actions[row * actionSize + k] = now.actions[envIndex * actionSize + k]
        for (let k = 0; k < choices; k++)
          storage.maskPenalty[row * choices + k] = actionMask[envIndex * choices + k] === 1 ? 0 : -1e9
        storage.logprobs[row] = now.logprobs[envIndex]
        storage.values[row] = now.values[envIndex]
      }
    },
    stepped() {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const row = envIndex * steps + t
        storage.rewards[row] = environment.rewards[envIndex]
        storage.terminated[row] = environment.terminated[envIndex]
        storage.truncated[row] = environment.truncated[envIndex]
        if (environment.truncated[envIndex] === 0) continue
        for (let k = 0; k < width; k++)
          storage.final[row * width + k] = environment.finalObservations[envIndex * width + k]
        const mask = environment.finalActionMask.subarray(envIndex * choices, (envIndex + 1) * choices)
        storage.finalMask?.set(mask, row * choices)
      }
      return ++t === steps
    },
    finish(settings, evaluate) {
      bootstrap(evaluate)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const part = <A extends Float32Array | Float64Array | Uint8Array>(array: A): A =>
          array.subarray(envIndex * steps, (envIndex + 1) * steps) as A
        const { advantages, returns } = gae(
          {
            rewards: part(storage.rewards),
            values: part(storage.values),
            nextValues: part(storage.nextValues),
            terminated: part(storage.terminated),
            truncated: part(storage.truncated),
          },
          settings,
        )
        storage.advantages.set(advantages, envIndex * steps)
        storage.returns.set(returns, envIndex * steps)
      }
      t = 0
    },
    *minibatches(count, random, normalise = true) {
      for (let i = order.length - 1; i > 0; i--) {
        const j = random.int(i + 1)
        const swapped = order[i]
        order[i] = order[j]
        order[j] = swapped
      }
      const size = Math.ceil(order.length / count)
      for (let start = 0; start < order.length; start += size) {
        const blocks = order.subarray(start, Math.min(order.length, start + size))
        const chosen =
          batched === 1
            ? blocks
            : Int32Array.from(
                { length: blocks.length * batched },
                (_, i) => blocks[Math.floor(i / batched)] * batched + (i % batched),
              )
        const take = (from: Float32Array, columns: number): Float32Array => {
          const to = new Float32Array(chosen.length * columns)
          for (let i = 0; i < chosen.length; i++)
            for (let k = 0; k < columns; k++) to[i * columns + k] = from[chosen[i] * columns + k]
          return to
        }
        const flat = (from: Float32Array): HostTensor => ({ data: take(from, 1), shape: [chosen.length] })
        yield {
          observations: { data: take(storage.observations, width), shape: [chosen.length, width] },
          actions: { data: take(storage.actions, actionSize), shape: [chosen.length, actionSize] },
          logprobs: flat(storage.logprobs),
          values: flat(storage.values),
          advantages: {
            data: normalise ? standardise(take(storage.advantages, 1)) : take(storage.advantages, 1),
            shape: [chosen.length],
          },
          returns: flat(storage.returns),
          ...(sequence === undefined ? {} : { keep: keepOf(chosen, sequence) }),
          ...(choices > 0
            ? { maskPenalty: { data: take(storage.maskPenalty, choices), shape: [chosen.length, choices] } }
            : {}),
        }
      }
    },
    state: () => ({
      t,
      order: order.slice(),
      storage: Object.fromEntries(Object.entries(storage).map(([k, v]) => [k, v.slice()])),
    }),
    restore(saved) {
      // Of a run of version 0.1 whose rollout had another form.
      if (saved === null) return void (t = 0)
      const state = saved as { t: number; order: Int32Array; storage: Record<string, Float32Array> }
      for (const [name, array] of Object.entries(storage)) (array as Float32Array).set(state.storage[name])
      order.set(state.order)
      t = state.t
    },
  }
}
