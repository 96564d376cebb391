import { requireSameStep, rowSize } from '../environment/index.ts'
import type { AnyVector } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import type { Random } from '../../engine/random/index.ts'

/** The steps of each environment whose n-step return is incomplete. Entry `environment * nSteps + k` of each array. */
interface StepQueue {
  readonly observations: Float32Array
  readonly actions: Float32Array
  /** Discounted sums of the rewards since the entry. */
  readonly returns: Float64Array
  /** Adds a step of every environment: observations [numEnvs, width] and actions [numEnvs, actionSize]. */
  push(observations: Float32Array, actions: Float32Array): void
  /**
   * Adds the reward of an environment to all its waiting entries and passes on those that are complete, oldest
   * first: one after nSteps, or all at the end of the episode. `discount` multiplies the value of the next
   * state: gamma to the number of steps, or 0 after a termination. After a truncation, the value of the last
   * state still counts.
   */
  settle(envIndex: number, reward: number, terminated: boolean, truncated: boolean, keep: Keep): void
  state(): unknown
  restore(state: unknown): void
}

type Keep = (envIndex: number, entry: number, discount: number, ended: boolean) => void

interface StepQueueOptions {
  numEnvs: number
  nSteps: number
  gamma: number
  width: number
  actionSize: number
}

function createStepQueue({ numEnvs, nSteps, gamma, width, actionSize }: StepQueueOptions): StepQueue {
  const arrays = {
    observations: new Float32Array(numEnvs * nSteps * width),
    actions: new Float32Array(numEnvs * nSteps * actionSize),
    returns: new Float64Array(numEnvs * nSteps),
    /** The oldest entry of each environment, and the number of its entries. */
    oldest: new Int32Array(numEnvs),
    waiting: new Int32Array(numEnvs),
  }
  const { observations, actions, returns, oldest, waiting } = arrays
  const powers = Float64Array.from({ length: nSteps + 1 }, (_, k) => gamma ** k)
  const entryAt = (envIndex: number, k: number): number =>
    envIndex * nSteps + ((oldest[envIndex] + k) % nSteps)
  return {
    observations,
    actions,
    returns,
    push(seen, done) {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const entry = entryAt(envIndex, waiting[envIndex]++)
        returns[entry] = 0
        for (let k = 0; k < width; k++) observations[entry * width + k] = seen[envIndex * width + k]
        for (let k = 0; k < actionSize; k++) actions[entry * actionSize + k] = done[envIndex * actionSize + k]
      }
    },
    settle(envIndex, reward, terminated, truncated, keep) {
      const count = waiting[envIndex]
      for (let k = 0; k < count; k++) returns[entryAt(envIndex, k)] += powers[count - 1 - k] * reward
      const ended = terminated || truncated
      if (ended) {
        for (let k = 0; k < count; k++)
          keep(envIndex, entryAt(envIndex, k), terminated ? 0 : powers[count - k], true)
        oldest[envIndex] = 0
        waiting[envIndex] = 0
      } else if (count === nSteps) {
        keep(envIndex, entryAt(envIndex, 0), powers[nSteps], false)
        oldest[envIndex] = (oldest[envIndex] + 1) % nSteps
        waiting[envIndex]--
      }
    },
    state: () => Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()])),
    restore(saved) {
      const state = saved as Record<string, Float32Array>
      for (const [name, array] of Object.entries(arrays)) array.set(state[name])
    },
  }
}

/**
 * Weights of a fixed number of entries. Samples an entry in proportion to its weight in O(log n) (Schaul et al.
 * 2016, appendix B.2.1). Every change recomputes sums from their two parts, so rounding errors do not
 * accumulate.
 */
interface SumTree {
  total(): number
  get(index: number): number
  set(index: number, weight: number): void
  /** The entry at position `mass`, in [0, total), of the cumulative weights. */
  find(mass: number): number
  /** Weights of the first `count` entries. */
  weights(count: number): Float64Array
}

export function createSumTree(entries: number): SumTree {
  let leaves = 1
  while (leaves < entries) leaves *= 2
  // Node i has the children 2i and 2i + 1; the root is 1, entries begin at `leaves`.
  const sums = new Float64Array(2 * leaves)
  return {
    total: () => sums[1],
    get: (index) => sums[leaves + index],
    set(index, weight) {
      let node = leaves + index
      sums[node] = weight
      for (node >>= 1; node >= 1; node >>= 1) sums[node] = sums[2 * node] + sums[2 * node + 1]
    },
    find(mass) {
      let node = 1
      let left = mass
      while (node < leaves) {
        node *= 2
        // Rounding may place a mass past the end. Never selects an entry of weight 0.
        if (left >= sums[node] && sums[node + 1] > 0) {
          left -= sums[node]
          node++
        }
      }
      return node - leaves
    },
    weights: (count) => sums.slice(leaves, leaves + count),
  }
}

/** Options of `createReplay`. */
export interface ReplayOptions {
  /** Number of stored transitions. A full buffer overwrites the oldest one. */
  capacity: number
  gamma: number
  /** Number of rewards summed before the bootstrap. Default: 1. */
  nSteps?: number
  /**
   * Samples in proportion to the absolute error to the power of `alpha` (Schaul et al. 2016, arXiv:1511.05952).
   * Default: uniform sampling.
   */
  alpha?: number
}

/**
 * A batch of transitions, one in each row. `returns` are n-step returns. Multiply the value of the next state
 * by `discounts`: gamma to the number of steps, or 0 after a termination.
 */
export interface ReplayBatch {
  readonly rows: number
  readonly indices: Int32Array
  /** [rows, observation]. */
  readonly observations: Float32Array
  /** [rows, action]. */
  readonly actions: Float32Array
  readonly returns: Float32Array
  readonly discounts: Float32Array
  readonly nextObservations: Float32Array
  /** [rows, n], 1 = allowed in the next state. Empty for environments without masks. */
  readonly nextMask: Uint8Array
  /** Importance weights, at most 1. All are 1 for uniform sampling. */
  readonly weights: Float32Array
}

/** The latest transitions of a vector environment, for off-policy learning. A step allocates nothing. */
export interface Replay {
  readonly size: number
  /** Stores observations and actions. Call it after writing the actions and before the environment steps. */
  acted(): void
  /** Stores the results of the step. */
  stepped(): void
  /** Allocates a batch of `rows` transitions for repeated use. */
  createBatch(rows: number): ReplayBatch
  /** Samples with replacement. `beta` (0 to 1) is how much of the bias of prioritised sampling the weights correct. */
  sample(batch: ReplayBatch, random: Random, beta?: number): void
  /** Updates the priorities of a batch with new absolute errors [rows]. */
  prioritise(batch: ReplayBatch, errors: ArrayLike<number>): void
  state(): unknown
  restore(state: unknown): void
}

/** The fields of a vector that a replay buffer reads. */
export type ReplaySource = Pick<
  AnyVector,
  | 'definition'
  | 'autoreset'
  | 'actions'
  | 'observations'
  | 'finalObservations'
  | 'rewards'
  | 'terminated'
  | 'truncated'
  | 'actionMask'
  | 'finalActionMask'
>

interface ReplayState {
  size: number
  at: number
  highest: number
  storage: Record<string, Float32Array | Uint8Array>
  priorities: Float64Array | undefined
  queue: unknown
}

/** Added to errors, so that a transition with error 0 is still sampled. */
const smallestError = 1e-6

/**
 * Makes an empty replay buffer for a vector environment.
 *
 * @throws AgogeError `bad-argument` if `autoreset` is not `same-step`
 */
export function createReplay(environment: ReplaySource, options: ReplayOptions): Replay {
  const { definition } = environment
  requireSameStep(environment, 'a replay')
  const { capacity, gamma, nSteps = 1, alpha } = options
  const width = rowSize(definition.observation)
  const actionSize = rowSize(definition.action)
  const numEnvs = environment.actions.length / actionSize
  const choices = environment.actionMask.length / numEnvs
  const storage = {
    observations: new Float32Array(capacity * width),
    actions: new Float32Array(capacity * actionSize),
    returns: new Float32Array(capacity),
    discounts: new Float32Array(capacity),
    nextObservations: new Float32Array(capacity * width),
    nextMask: new Uint8Array(capacity * choices),
  }
  const tree = alpha === undefined ? undefined : createSumTree(capacity)
  const queue = createStepQueue({ numEnvs, nSteps, gamma, width, actionSize })
  let size = 0
  let at = 0
  /** New transitions get the highest priority so far, so that each is sampled soon. */
  let highest = 1

  function keep(envIndex: number, entry: number, discount: number, ended: boolean): void {
    copyRow(queue.observations, entry, storage.observations, at, width)
    copyRow(queue.actions, entry, storage.actions, at, actionSize)
    storage.returns[at] = queue.returns[entry]
    storage.discounts[at] = discount
    const { observations, finalObservations, actionMask, finalActionMask } = environment
    copyRow(ended ? finalObservations : observations, envIndex, storage.nextObservations, at, width)
    copyRow(ended ? finalActionMask : actionMask, envIndex, storage.nextMask, at, choices)
    tree?.set(at, highest)
    at = (at + 1) % capacity
    if (size < capacity) size++
  }

  return {
    get size() {
      return size
    },
    acted: () => queue.push(environment.observations, environment.actions),
    stepped() {
      const { rewards, terminated, truncated } = environment
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        if (!Number.isFinite(rewards[envIndex])) throw badReward(definition.name, envIndex, rewards[envIndex])
        queue.settle(envIndex, rewards[envIndex], terminated[envIndex] === 1, truncated[envIndex] === 1, keep)
      }
    },
    createBatch: (rows) => ({
      rows,
      indices: new Int32Array(rows),
      observations: new Float32Array(rows * width),
      actions: new Float32Array(rows * actionSize),
      returns: new Float32Array(rows),
      discounts: new Float32Array(rows),
      nextObservations: new Float32Array(rows * width),
      nextMask: new Uint8Array(rows * choices),
      weights: new Float32Array(rows).fill(1),
    }),
    sample(batch, random, beta = 1) {
      if (size === 0) throw new AgogeError('nothing was stored to draw from', { code: 'empty-replay' })
      const { rows, indices, weights } = batch
      if (tree === undefined) for (let r = 0; r < rows; r++) indices[r] = random.int(size)
      else {
        // Stratified: one sample from each of `rows` equal parts of the mass, as in the paper.
        const part = tree.total() / rows
        let largest = 0
        for (let r = 0; r < rows; r++) {
          indices[r] = tree.find((r + random.next()) * part)
          weights[r] = ((size * tree.get(indices[r])) / tree.total()) ** -beta
          if (weights[r] > largest) largest = weights[r]
        }
        for (let r = 0; r < rows; r++) weights[r] /= largest
      }
      for (let r = 0; r < rows; r++) {
        const index = indices[r]
        copyRow(storage.observations, index, batch.observations, r, width)
        copyRow(storage.actions, index, batch.actions, r, actionSize)
        batch.returns[r] = storage.returns[index]
        batch.discounts[r] = storage.discounts[index]
        copyRow(storage.nextObservations, index, batch.nextObservations, r, width)
        copyRow(storage.nextMask, index, batch.nextMask, r, choices)
      }
    },
    prioritise({ rows, indices }, errors) {
      if (tree === undefined || alpha === undefined) return
      for (let r = 0; r < rows; r++) {
        const priority = (Math.abs(errors[r]) + smallestError) ** alpha
        if (priority > highest) highest = priority
        tree.set(indices[r], priority)
      }
    },
    state: (): ReplayState => ({
      size,
      at,
      highest,
      storage: Object.fromEntries(
        Object.entries(storage).map(([name, array]) => [
          name,
          array.slice(0, (array.length / capacity) * size),
        ]),
      ),
      priorities: tree?.weights(size),
      queue: queue.state(),
    }),
    restore(saved) {
      const state = saved as ReplayState
      for (const [name, array] of Object.entries(storage)) array.set(state.storage[name])
      state.priorities?.forEach((weight, index) => tree?.set(index, weight))
      for (let index = state.size; index < size; index++) tree?.set(index, 0)
      queue.restore(state.queue)
      size = state.size
      at = state.at
      highest = state.highest
    },
  }
}

/** Rows are short, so a loop is faster than `set` with a `subarray` and allocates nothing. */
function copyRow<A extends Float32Array | Uint8Array>(
  from: A,
  row: number,
  to: A,
  toRow: number,
  width: number,
): void {
  const start = row * width
  const toStart = toRow * width
  for (let k = 0; k < width; k++) to[toStart + k] = from[start + k]
}

function badReward(environment: string, envIndex: number, given: number): AgogeError {
  return new AgogeError(`${environment} returned a reward that is not a finite number`, {
    code: 'not-finite',
    given: `${given}, in environment ${envIndex}`,
    expected: 'finite rewards',
  })
}
