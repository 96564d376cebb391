import type { Random } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { gae, type GaeSettings } from '../../../returns/gae.ts'
import { type AnyVector, requireSameStep, rowSize } from '../../environment/index.ts'
import { clipActionRows } from '../../policy/index.ts'

/** The steps between two updates of an on-policy learner; row `slot * steps + t` of each array. */
export interface Rollout {
  /** Where the actor writes for the coming step: rows by slot. */
  next(): { actions: Float32Array; logprobs: Float32Array; values: Float32Array }
  /** Keeps what the actor saw and chose, and hands the actions to the environment. */
  acted(): void
  /** Keeps what the step gave. True when the rollout is full. */
  stepped(): boolean
  /** Advantages and value targets, with values for observations that no step acted on; begins anew. */
  finish(
    settings: GaeSettings,
    evaluate: (observations: Float32Array, rows: number, values: Float32Array) => void,
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

/**
 * For `steps` steps of every slot, with autoreset in the same step. Actions outside the bounds of a box are kept as they
 * were drawn, and clipped for the environment. Given `sequence`, a divisor of `steps`, as many
 * successive steps of a slot stay together when steps are shuffled.
 */
export function createRollout(
  environment: AnyVector,
  steps: number,
  actionSize: number,
  sequence?: number,
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
    rewards: new Float64Array(rows),
    terminated: new Uint8Array(rows),
    truncated: new Uint8Array(rows),
    advantages: new Float32Array(rows),
    returns: new Float32Array(rows),
    maskPenalty: new Float32Array(rows * choices),
    /** Last observations of truncated episodes; the rows of others are not read. */
    final: new Float32Array(rows * width),
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
    evaluate(environment.observations, numEnvs, last)
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
    evaluate(finals, cut.length, values)
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
        if (environment.truncated[envIndex] === 1)
          for (let k = 0; k < width; k++)
            storage.final[row * width + k] = environment.finalObservations[envIndex * width + k]
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
        const held = order[i]
        order[i] = order[j]
        order[j] = held
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
      const state = saved as { t: number; order: Int32Array; storage: Record<string, Float32Array> }
      for (const [name, array] of Object.entries(storage)) (array as Float32Array).set(state.storage[name])
      order.set(state.order)
      t = state.t
    },
  }
}

/** In place: less the mean, divided by the unbiased deviation (plus 1e-8), as PyTorch's `std` computes it. */
export function standardise(values: Float32Array): Float32Array {
  let mean = 0
  for (let i = 0; i < values.length; i++) mean += values[i]
  mean /= values.length
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] - mean) ** 2
  const deviation = Math.sqrt(sum / Math.max(1, values.length - 1)) + 1e-8
  for (let i = 0; i < values.length; i++) values[i] = (values[i] - mean) / deviation
  return values
}
