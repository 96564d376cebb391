import { AgogeError } from '../../error.ts'
import { createRandom } from '../../engine/random/random.ts'
import { anytimeInterval, type AnytimeInterval } from '../../statistics/anytime.ts'
import { successPairs } from '../evaluation/episode-statistics.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { areCertain, baselinePairs, type SequentialComparison } from './evaluation.ts'
import type { TrialRecord } from './journal.ts'

/** Comparisons that are updated task by task. */
export interface Sequential {
  /** Takes a finished trial. */
  add: (record: TrialRecord) => void
  /** True once each comparison has an interval clear of zero. */
  isCertain: () => boolean
  comparisons: () => SequentialComparison[]
}

/** Two sides of a comparison: the trials of a task on each. */
interface SequentialPair {
  a: string
  b: string
  baseline: boolean
  /** Trials of the earlier evaluation; absent if `b` is a model of this one. */
  earlier?: readonly TrialRecord[]
}

/**
 * The tasks in an order drawn by chance, always the same for the same tasks. Tasks in a file are often sorted by kind, and the first
 * ones must speak for all.
 */
export function shuffledTasks(tasks: readonly FileTask[]): FileTask[] {
  const random = createRandom('evaluation-order', tasks.length)
  const order = [...tasks]
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = random.int(at + 1)
    ;[order[at], order[other]] = [order[other], order[at]]
  }
  return order
}

/**
 * Follows comparisons while trials finish in any order. A task counts when all its trials are finished and all tasks before it are,
 * so which trials finish first cannot sway the result.
 *
 * @param each trials of a task with all models.
 */
function followComparisons(
  tasks: readonly FileTask[],
  each: number,
  pairs: readonly SequentialPair[],
): Sequential {
  const records = new Map<string, TrialRecord[]>(tasks.map(({ id }) => [id, []]))
  const followed = pairs.map((pair) => ({
    pair,
    sequence: anytimeInterval({ values: tasks.length }),
    last: start,
  }))
  let next = 0

  function take(task: FileTask): void {
    const own = records.get(task.id) ?? []
    for (const one of followed) {
      const { a, b, earlier } = one.pair
      const ofB =
        earlier?.filter((record) => record.task === task.id) ?? own.filter(({ model }) => model === b)
      const [found] = successPairs(
        own.filter(({ model }) => model === a),
        ofB,
      )
      // Without a judged trial on both sides there is nothing to compare.
      if (found !== undefined) one.last = one.sequence.add(found.gain)
    }
  }

  const comparisons = (): SequentialComparison[] =>
    followed.map(({ pair: { a, b, baseline }, last }) => ({ a, b, baseline, ...last }))
  return {
    add(record) {
      records.get(record.task)?.push(record)
      while (next < tasks.length && records.get(tasks[next].id)?.length === each) take(tasks[next++])
    },
    isCertain: () => areCertain(comparisons()),
    comparisons,
  }
}

const start: AnytimeInterval = { mean: 0, low: -1, high: 1, n: 0 }

/**
 * Follows all comparisons of an evaluation: of its models with each other, and with those of an earlier one.
 *
 * @throws AgogeError `bad-argument` if there is none.
 */
export function followAll(
  tasks: readonly FileTask[],
  names: readonly string[],
  trials: number,
  baseline: Parameters<typeof baselinePairs>[1],
): Sequential {
  const pairs = names.flatMap((b, at) => names.slice(at + 1).map((a) => ({ a, b, baseline: false })))
  const earlier = baselinePairs(names, baseline).map((pair) => ({ ...pair, baseline: true }))
  if (pairs.length + earlier.length === 0)
    throw new AgogeError('there is nothing to be certain of', {
      code: 'bad-argument',
      given: 'untilCertain with one model and no baseline',
      expected: 'two models, or an earlier evaluation of the same model to compare with',
    })
  return followComparisons(tasks, names.length * trials, [...pairs, ...earlier])
}
