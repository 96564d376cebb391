import type { Episode } from '../episode/types.ts'
import type { BootstrapSettings } from './bootstrap.ts'
import { pairedDifference } from './bootstrap.ts'
import type { Estimate } from './interval.ts'
import { successByTask } from './summarise.ts'

/**
 * How much more often `a` succeeds than `b`: the mean over tasks of the difference, with an interval over tasks. Several
 * attempts at a task are averaged first, since they are not independent of each other. `n` is the number of tasks with a
 * judged episode on both sides; others are left out.
 */
export function compareSuccess(
  a: readonly Episode[],
  b: readonly Episode[],
  settings: BootstrapSettings = {},
): Estimate {
  const others = successByTask(b)
  const pairs = [...successByTask(a)].flatMap(([task, counts]) => {
    const other = others.get(task)
    return other === undefined ? [] : [{ a: share(counts), b: share(other) }]
  })
  return pairedDifference(
    pairs.map((pair) => pair.a),
    pairs.map((pair) => pair.b),
    settings,
  )
}

const share = ({ successes, trials }: { successes: number; trials: number }): number => successes / trials
