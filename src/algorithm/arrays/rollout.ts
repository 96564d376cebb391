import { requireSameStep, rowSize } from '../../environment/index.ts'
import type { AnyVector } from '../../environment/index.ts'
import { clipActionRows } from '../../policy/index.ts'
import type { Random } from '../../random/index.ts'
import type { HostTensor } from '../../tensor/index.ts'
import { gae } from '../advantages/index.ts'
import type { GaeSettings } from '../advantages/index.ts'

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
  const { world } = environment
  requireSameStep(environment, 'a rollout')
  const slots = environment.slots.count
  const rows = slots * steps
  const width = rowSize(world.observation)
  const choices = environment.actionMask.length / slots
  const kept = {
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
    actions: new Float32Array(slots * actionSize),
    logprobs: new Float32Array(slots),
    values: new Float32Array(slots),
  }
  const together = sequence ?? 1
  const order = Int32Array.from({ length: rows / together }, (_, i) => i)
  let t = 0

  function bootstrap(evaluate: Parameters<Rollout['finish']>[1]): void {
    const last = new Float32Array(slots)
    evaluate(environment.observations, slots, last)
    const cut: number[] = []
    for (let slot = 0; slot < slots; slot++) {
      for (let k = 0; k < steps; k++) {
        const row = slot * steps + k
        kept.nextValues[row] = k + 1 < steps ? kept.values[row + 1] : last[slot]
        if (kept.truncated[row] === 1 && kept.terminated[row] === 0) cut.push(row)
      }
    }
    if (cut.length === 0) return
    const finals = new Float32Array(cut.length * width)
    const values = new Float32Array(cut.length)
    cut.forEach((row, i) => finals.set(kept.final.subarray(row * width, (row + 1) * width), i * width))
    evaluate(finals, cut.length, values)
    cut.forEach((row, i) => (kept.nextValues[row] = values[i]))
  }

  function keepOf(chosen: Int32Array, sequence: number): HostTensor {
    const data = new Float32Array(chosen.length).fill(1)
    chosen.forEach((row, i) => {
      if (i % sequence > 0 && kept.terminated[row - 1] + kept.truncated[row - 1] > 0) data[i] = 0
    })
    return { data, shape: [chosen.length / sequence, sequence] }
  }

  return {
    next: () => now,
    acted() {
      // What was drawn is what is learned from; what is out of bounds is not for the world.
      environment.actions.set(now.actions)
      clipActionRows(world.action, environment.actions, slots)
      const { observations, actionMask } = environment
      for (let slot = 0; slot < slots; slot++) {
        const row = slot * steps + t
        for (let k = 0; k < width; k++) kept.observations[row * width + k] = observations[slot * width + k]
        for (let k = 0; k < actionSize; k++)
          kept.actions[row * actionSize + k] = now.actions[slot * actionSize + k]
        for (let k = 0; k < choices; k++)
          kept.maskPenalty[row * choices + k] = actionMask[slot * choices + k] === 1 ? 0 : -1e9
        kept.logprobs[row] = now.logprobs[slot]
        kept.values[row] = now.values[slot]
      }
    },
    stepped() {
      for (let slot = 0; slot < slots; slot++) {
        const row = slot * steps + t
        kept.rewards[row] = environment.rewards[slot]
        kept.terminated[row] = environment.terminated[slot]
        kept.truncated[row] = environment.truncated[slot]
        if (environment.truncated[slot] === 1)
          for (let k = 0; k < width; k++)
            kept.final[row * width + k] = environment.finalObservations[slot * width + k]
      }
      return ++t === steps
    },
    finish(settings, evaluate) {
      bootstrap(evaluate)
      for (let slot = 0; slot < slots; slot++) {
        const part = <A extends Float32Array | Float64Array | Uint8Array>(array: A): A =>
          array.subarray(slot * steps, (slot + 1) * steps) as A
        const { advantages, returns } = gae(
          {
            rewards: part(kept.rewards),
            values: part(kept.values),
            nextValues: part(kept.nextValues),
            terminated: part(kept.terminated),
            truncated: part(kept.truncated),
          },
          settings,
        )
        kept.advantages.set(advantages, slot * steps)
        kept.returns.set(returns, slot * steps)
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
          together === 1
            ? blocks
            : Int32Array.from(
                { length: blocks.length * together },
                (_, i) => blocks[Math.floor(i / together)] * together + (i % together),
              )
        const take = (from: Float32Array, columns: number): Float32Array => {
          const to = new Float32Array(chosen.length * columns)
          for (let i = 0; i < chosen.length; i++)
            for (let k = 0; k < columns; k++) to[i * columns + k] = from[chosen[i] * columns + k]
          return to
        }
        const flat = (from: Float32Array): HostTensor => ({ data: take(from, 1), shape: [chosen.length] })
        yield {
          observations: { data: take(kept.observations, width), shape: [chosen.length, width] },
          actions: { data: take(kept.actions, actionSize), shape: [chosen.length, actionSize] },
          logprobs: flat(kept.logprobs),
          values: flat(kept.values),
          advantages: {
            data: normalise ? standardise(take(kept.advantages, 1)) : take(kept.advantages, 1),
            shape: [chosen.length],
          },
          returns: flat(kept.returns),
          ...(sequence === undefined ? {} : { keep: keepOf(chosen, sequence) }),
          ...(choices > 0
            ? { maskPenalty: { data: take(kept.maskPenalty, choices), shape: [chosen.length, choices] } }
            : {}),
        }
      }
    },
    state: () => ({
      t,
      order: order.slice(),
      kept: Object.fromEntries(Object.entries(kept).map(([k, v]) => [k, v.slice()])),
    }),
    restore(saved) {
      const state = saved as { t: number; order: Int32Array; kept: Record<string, Float32Array> }
      for (const [name, array] of Object.entries(kept)) (array as Float32Array).set(state.kept[name])
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
