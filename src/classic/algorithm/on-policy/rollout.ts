import type { Random } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { gae, type GaeSettings, standardise } from '../../../returns/advantages.ts'
import { type AnyVector, requireSameStep, rowSize } from '../../environment/index.ts'
import { clipActionRows } from '../../policy/index.ts'

/** The steps between two updates of an on-policy learner. Row `environment * steps + t` of each array. */
export interface Rollout {
  /** Where the policy writes for the coming step. Rows are environments. */
  next(): { actions: Float32Array; logprobs: Float32Array; values: Float32Array }
  /** Stores the observations and the policy's choices, and passes the actions to the environment. */
  acted(): void
  /** Stores the result of the step. Returns true when the rollout is full. */
  stepped(): boolean
  /** Computes advantages and value targets, with values for observations that no step acted on. Starts over. */
  finish(
    settings: GaeSettings,
    evaluate: (observations: Float32Array, rows: number, values: Float32Array, mask?: Uint8Array) => void,
  ): void
  /**
   * All steps once, shuffled, in `count` minibatches. Advantages have mean 0 and standard deviation 1 in each,
   * except if `normalise` is false. With sequences, `keep` [sequences, steps of one] is 0 at the first step of an
   * episode, except at the start of its sequence.
   */
  minibatches(count: number, random: Random, normalise?: boolean): Generator<Record<string, HostTensor>>
  state(): unknown
  restore(state: unknown): void
}

export interface RolloutOptions {
  /**
   * Number of successive steps of an environment that stay together when steps are shuffled. Divides the steps.
   * Default: 1.
   */
  sequence?: number
  /** Stores the masks of last observations, for learners that maximise over actions there. Default: false. */
  finalMasks?: boolean
  /** The precision of stored rewards. Default: double. */
  rewards?: Float32ArrayConstructor | Float64ArrayConstructor
}

/**
 * A rollout of `steps` steps of every environment, with autoreset in the same step. Stores actions as they were
 * sampled, and clips them to the bounds of a box for the environment.
 */
export function createRollout(
  environment: AnyVector,
  steps: number,
  actionSize: number,
  options: RolloutOptions = {},
): Rollout {
  requireSameStep(environment, 'a rollout')
  const store = createStore(environment, steps, actionSize, options)
  const { order, arrays, now } = store
  return {
    next: () => now,
    acted() {
      // The learner uses the sampled action. The environment gets it clipped.
      environment.actions.set(now.actions)
      clipActionRows(environment.definition.action, environment.actions, store.numEnvs)
      storeActions(store)
    },
    stepped() {
      storeStep(store)
      return ++store.t === steps
    },
    finish(settings, evaluate) {
      bootstrap(store, evaluate)
      writeAdvantages(store, settings)
      store.t = 0
    },
    *minibatches(count, random, normalise = true) {
      shuffle(order, random)
      const size = Math.ceil(order.length / count)
      for (let start = 0; start < order.length; start += size)
        yield minibatch(store, order.subarray(start, Math.min(order.length, start + size)), normalise)
    },
    state: () => ({
      t: store.t,
      order: order.slice(),
      storage: Object.fromEntries(Object.entries(arrays).map(([k, v]) => [k, v.slice()])),
    }),
    restore(saved) {
      store.t = 0
      // A run of version 0.1 stored its rollout in another form.
      if (saved === null) return
      const state = saved as { t: number; order: Int32Array; storage: Record<string, Float32Array> }
      for (const [name, array] of Object.entries(arrays)) (array as Float32Array).set(state.storage[name])
      order.set(state.order)
      store.t = state.t
    },
  }
}

type Store = ReturnType<typeof createStore>

function createStore(
  environment: AnyVector,
  steps: number,
  actionSize: number,
  { sequence, finalMasks = false, rewards: Rewards = Float64Array }: RolloutOptions,
) {
  const numEnvs = environment.envs.count
  const rows = numEnvs * steps
  const width = rowSize(environment.definition.observation)
  const choices = environment.actionMask.length / numEnvs
  return {
    environment,
    numEnvs,
    steps,
    /** Lengths of an observation, of an action and of a mask. */
    width,
    actionSize,
    choices,
    sequence,
    /** The next step of the rollout. */
    t: 0,
    /** Order of the steps, or of the sequences of steps. */
    order: Int32Array.from({ length: rows / (sequence ?? 1) }, (_, i) => i),
    now: {
      actions: new Float32Array(numEnvs * actionSize),
      logprobs: new Float32Array(numEnvs),
      values: new Float32Array(numEnvs),
    },
    arrays: {
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
      /** Last observations of truncated episodes. Other rows are not read. */
      final: new Float32Array(rows * width),
      ...(finalMasks ? { finalMask: new Uint8Array(rows * choices) } : {}),
    },
  }
}

function storeActions({
  environment,
  arrays,
  now,
  t,
  numEnvs,
  steps,
  width,
  actionSize,
  choices,
}: Store): void {
  const { observations, actionMask } = environment
  for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
    const row = envIndex * steps + t
    for (let k = 0; k < width; k++) arrays.observations[row * width + k] = observations[envIndex * width + k]
    for (let k = 0; k < actionSize; k++)
      arrays.actions[row * actionSize + k] = now.actions[envIndex * actionSize + k]
    for (let k = 0; k < choices; k++)
      arrays.maskPenalty[row * choices + k] = actionMask[envIndex * choices + k] === 1 ? 0 : -1e9
    arrays.logprobs[row] = now.logprobs[envIndex]
    arrays.values[row] = now.values[envIndex]
  }
}

function storeStep({ environment, arrays, t, numEnvs, steps, width, choices }: Store): void {
  for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
    const row = envIndex * steps + t
    arrays.rewards[row] = environment.rewards[envIndex]
    arrays.terminated[row] = environment.terminated[envIndex]
    arrays.truncated[row] = environment.truncated[envIndex]
    if (environment.truncated[envIndex] === 0) continue
    for (let k = 0; k < width; k++)
      arrays.final[row * width + k] = environment.finalObservations[envIndex * width + k]
    if (arrays.finalMask === undefined) continue
    const mask = environment.finalActionMask.subarray(envIndex * choices, (envIndex + 1) * choices)
    arrays.finalMask.set(mask, row * choices)
  }
}

/**
 * Values of the observation after each step: of the next step, or at the end of an episode of its last
 * observation.
 */
function bootstrap(
  { environment, arrays, numEnvs, steps, width, choices }: Store,
  evaluate: Parameters<Rollout['finish']>[1],
): void {
  const last = new Float32Array(numEnvs)
  evaluate(environment.observations, numEnvs, last, environment.actionMask)
  const cut: number[] = []
  for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
    for (let k = 0; k < steps; k++) {
      const row = envIndex * steps + k
      arrays.nextValues[row] = k + 1 < steps ? arrays.values[row + 1] : last[envIndex]
      if (arrays.truncated[row] === 1 && arrays.terminated[row] === 0) cut.push(row)
    }
  }
  if (cut.length === 0) return
  const values = new Float32Array(cut.length)
  const masks = arrays.finalMask === undefined ? undefined : rowsOf(arrays.finalMask, cut, choices)
  evaluate(rowsOf(arrays.final, cut, width), cut.length, values, masks)
  cut.forEach((row, i) => (arrays.nextValues[row] = values[i]))
}

function rowsOf<A extends Float32Array | Uint8Array>(from: A, rows: readonly number[], columns: number): A {
  const to = from.slice(0, rows.length * columns) as A
  rows.forEach((row, i) => to.set(from.subarray(row * columns, (row + 1) * columns), i * columns))
  return to
}

function writeAdvantages({ arrays, numEnvs, steps }: Store, settings: GaeSettings): void {
  for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
    const part = <A extends Float32Array | Float64Array | Uint8Array>(array: A): A =>
      array.subarray(envIndex * steps, (envIndex + 1) * steps) as A
    const { advantages, returns } = gae(
      {
        rewards: part(arrays.rewards),
        values: part(arrays.values),
        nextValues: part(arrays.nextValues),
        terminated: part(arrays.terminated),
        truncated: part(arrays.truncated),
      },
      settings,
    )
    arrays.advantages.set(advantages, envIndex * steps)
    arrays.returns.set(returns, envIndex * steps)
  }
}

/** Shuffles in place (Fisher and Yates). */
function shuffle(order: Int32Array, random: Random): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.int(i + 1)
    const swapped = order[i]
    order[i] = order[j]
    order[j] = swapped
  }
}

function minibatch(
  { arrays, sequence, width, actionSize, choices }: Store,
  blocks: Int32Array,
  normalise: boolean,
): Record<string, HostTensor> {
  const chosen = sequence === undefined ? blocks : stepsOf(blocks, sequence)
  const take = (from: Float32Array, columns: number): Float32Array => {
    const to = new Float32Array(chosen.length * columns)
    for (let i = 0; i < chosen.length; i++)
      for (let k = 0; k < columns; k++) to[i * columns + k] = from[chosen[i] * columns + k]
    return to
  }
  const column = (from: Float32Array): HostTensor => ({ data: take(from, 1), shape: [chosen.length] })
  const matrix = (from: Float32Array, columns: number): HostTensor => ({
    data: take(from, columns),
    shape: [chosen.length, columns],
  })
  const advantages = take(arrays.advantages, 1)
  return {
    observations: matrix(arrays.observations, width),
    actions: matrix(arrays.actions, actionSize),
    logprobs: column(arrays.logprobs),
    values: column(arrays.values),
    advantages: { data: normalise ? standardise(advantages) : advantages, shape: [chosen.length] },
    returns: column(arrays.returns),
    ...(sequence === undefined ? {} : { keep: keepOf(arrays, chosen, sequence) }),
    ...(choices > 0 ? { maskPenalty: matrix(arrays.maskPenalty, choices) } : {}),
  }
}

/** The steps of sequences, one sequence after another. */
const stepsOf = (sequences: Int32Array, length: number): Int32Array =>
  Int32Array.from(
    { length: sequences.length * length },
    (_, i) => sequences[Math.floor(i / length)] * length + (i % length),
  )

/** [sequences, steps of one]: 0 at the first step of an episode, except at the start of its sequence. */
function keepOf(
  { terminated, truncated }: Store['arrays'],
  chosen: Int32Array,
  sequence: number,
): HostTensor {
  const data = new Float32Array(chosen.length).fill(1)
  chosen.forEach((row, i) => {
    if (i % sequence > 0 && terminated[row - 1] + truncated[row - 1] > 0) data[i] = 0
  })
  return { data, shape: [chosen.length / sequence, sequence] }
}
