import type { Episode } from '../episode/types.ts'
import type { BootstrapSettings } from './bootstrap.ts'
import { pairedDifference } from './bootstrap.ts'
import type { Estimate } from './interval.ts'
import { isJudged } from './summarise.ts'

/**
 * How much more often `a` succeeds than `b` on the tasks that both were judged on, paired by task, with a bootstrap
 * interval. `n` is the number of pairs; a task with a masked episode on either side is left out.
 */
export function compareSuccess(
  a: readonly Episode[],
  b: readonly Episode[],
  settings: BootstrapSettings = {},
): Estimate {
  const others = new Map(b.filter(isJudged).map((episode) => [episode.task, episode]))
  const pairs = a.filter(isJudged).flatMap((episode) => {
    const other = others.get(episode.task)
    return other === undefined ? [] : [{ a: Number(episode.success), b: Number(other.success) }]
  })
  return pairedDifference(
    pairs.map((pair) => pair.a),
    pairs.map((pair) => pair.b),
    settings,
  )
}
