import type { Task, TaskSource } from '../agent/types.ts'
import type { Random } from '../../engine/random/index.ts'
import { createRandom } from '../../engine/random/index.ts'

export interface TaskSamplerSettings<T extends Task> {
  source: TaskSource<T>
  split: Task['split']
  seed: number | string
  /** Weight of a new observation in the running mean of a cell, 0 to 1. Default: 0.15. */
  rate?: number
  /** Initial success rate by kind of task, for instance from a validation. Default: 0.5. */
  prior?: Record<string, number>
  /** Draws the kinds by these weights, and the tasks of a kind as they come. Default: by the success that was observed. */
  kindWeights?: Readonly<Record<string, number>>
}

/** The state of the sampler as plain JSON. */
export interface TaskSamplerState {
  drawn: number
  /** Running mean of success by `KIND:DIFFICULTY`. */
  cells: Record<string, number>
  /** Running mean by kind of task, also for cells without an observation. */
  kinds: Record<string, number>
}

/** Draws training tasks where there is most to learn. */
export interface TaskSampler<T extends Task> {
  draw(count: number): T[]
  /** Records the share of a group that succeeded, without masked members. */
  observe(task: T, success: number): void
  /** Running success by kind of task. */
  readonly kinds: Readonly<Record<string, number>>
  state(): TaskSamplerState
  restore(state: TaskSamplerState): void
}

/** Number of candidate tasks of a kind from which one is chosen by its difficulty. */
const candidates = 4

/**
 * Learning potential of a cell with success rate `p`: the variance `p (1 - p)`, from which a group's advantages arise, plus a
 * floor. The floor keeps solved tasks from being forgotten and unsolved ones from never being drawn.
 */
export function learningWeight(p: number): number {
  return 4 * p * (1 - p) + 0.03 + 0.4 * (1 - p)
}

/**
 * Kinds of task are drawn by systematic sampling, so that a batch holds close to the expected number of each. Within a kind, the
 * difficulty is drawn the same way from a few candidate tasks. The n-th task depends only on the seed, on n and on the earlier
 * observations.
 */
export function createTaskSampler<T extends Task>(settings: TaskSamplerSettings<T>): TaskSampler<T> {
  const { source, split, seed, rate = 0.15, prior = {}, kindWeights } = settings
  let drawn = 0
  let cells: Record<string, number> = {}
  let kinds = Object.fromEntries(source.kinds.map((kind) => [kind, prior[kind] ?? 0.5]))
  const cellOf = (task: T): string => `${task.kind}:${task.difficulty}`
  const estimate = (task: T): number => cells[cellOf(task)] ?? kinds[task.kind] ?? 0.5

  function drawTask(kind: string, random: Random): T {
    if (kindWeights !== undefined) return source.task({ split, seed: random.int(2 ** 31), kind })
    const options = Array.from({ length: candidates }, () =>
      source.task({ split, seed: random.int(2 ** 31), kind }),
    )
    return options[random.weighted(options.map((task) => learningWeight(estimate(task))))]
  }

  return {
    draw(count) {
      const random = createRandom(seed, 'tasks', drawn)
      drawn += count
      const weightOf = (kind: string): number =>
        kindWeights === undefined ? learningWeight(kinds[kind]) : (kindWeights[kind] ?? 0)
      return drawKinds(source.kinds, weightOf, count, random).map((kind) => drawTask(kind, random))
    },
    observe(task, success) {
      const cell = cellOf(task)
      cells[cell] = estimate(task) + rate * (success - estimate(task))
      kinds[task.kind] += rate * (success - kinds[task.kind])
    },
    get kinds() {
      return kinds
    },
    state: () => ({ drawn, cells: { ...cells }, kinds: { ...kinds } }),
    restore(state) {
      drawn = state.drawn
      cells = { ...state.cells }
      kinds = { ...state.kinds }
    },
  }
}

/** Draws kinds of task by weight, evenly spread over a random order. */
export function drawKinds(
  kinds: readonly string[],
  weightOf: (kind: string) => number,
  count: number,
  random: Random,
): string[] {
  const order = random.shuffle(kinds)
  return systematic(order.map(weightOf), count, random.next()).map((at) => order[at])
}

/**
 * Draws `count` indices with probability proportional to the weights, evenly spread: a single offset in [0, 1) determines them
 * all.
 */
function systematic(weights: readonly number[], count: number, offset: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const drawn: number[] = []
  let index = 0
  let reached = weights[0]
  for (let i = 0; i < count; i++) {
    const at = ((i + offset) / count) * total
    while (reached <= at && index < weights.length - 1) reached += weights[++index]
    drawn.push(index)
  }
  return drawn
}
