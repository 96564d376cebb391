import type { Episode } from '../episode/types.ts'
import { type Estimate, groupedWilsonInterval } from '../../statistics/intervals.ts'

/** Statistics of a set of episodes. Masked episodes are counted in `masked` and left out of everything else. */
export interface EpisodeSummary {
  /** Success rate of judged episodes with Wilson's 95% interval. Attempts at the same task do not count as independent. */
  success: Estimate
  /** Success rate by kind of task. */
  kinds: Record<string, number>
  /** Success by kind of task, with intervals and counts. */
  kindEstimates: Record<string, Estimate>
  /** Mean number of calls per episode, including refused ones. */
  calls: number
  /** Share of calls that could not be parsed or do not fit the schema; 0 without calls. */
  invalidCalls: number
  /** Episodes left out because the environment failed or could not judge them. */
  masked: number
  /** Number of masked episodes for each reason. */
  maskedReasons: Record<string, number>
  /** Mean number of sampled tokens per episode. */
  tokens: number
}

/** Summarises episodes of an evaluation, in any order. */
export function summariseEpisodes(episodes: readonly Episode[]): EpisodeSummary {
  const judged = episodes.filter(isJudged)
  const kinds = new Map<string, Episode[]>()
  for (const episode of judged) kinds.set(episode.kind, [...(kinds.get(episode.kind) ?? []), episode])
  const names = [...kinds.keys()].sort()
  const estimates = names.map((name) => [name, successOf(kinds.get(name) ?? [])] as const)
  const total = (field: 'calls' | 'invalidCalls' | 'sampledTokens'): number =>
    judged.reduce((sum, episode) => sum + episode.usage[field], 0)
  const calls = total('calls')
  return {
    success: successOf(judged),
    kinds: Object.fromEntries(estimates.map(([name, { mean }]) => [name, mean])),
    kindEstimates: Object.fromEntries(estimates),
    calls: calls / Math.max(1, judged.length),
    invalidCalls: total('invalidCalls') / Math.max(1, calls),
    masked: episodes.length - judged.length,
    maskedReasons: maskedReasons(episodes),
    tokens: total('sampledTokens') / Math.max(1, judged.length),
  }
}

/** True if the episode is neither masked nor unjudged. */
export function isJudged(episode: Episode): boolean {
  return episode.status !== 'masked' && episode.success !== null
}

/** Successes and judged episodes of each task that has any. */
export function successByTask(
  episodes: readonly Episode[],
): Map<string, { successes: number; trials: number }> {
  const tasks = new Map<string, { successes: number; trials: number }>()
  for (const episode of episodes.filter(isJudged)) {
    const { successes, trials } = tasks.get(episode.task) ?? { successes: 0, trials: 0 }
    tasks.set(episode.task, { successes: successes + Number(episode.success), trials: trials + 1 })
  }
  return tasks
}

function successOf(episodes: readonly Episode[]): Estimate {
  return groupedWilsonInterval([...successByTask(episodes).values()])
}

const longestReason = 160
/** Messages may contain details of one episode; the number of distinct reasons in a record must stay bounded. */
const mostReasons = 20
export const otherReasons = 'for other reasons'

/** Number of masked episodes for each reason. */
function maskedReasons(episodes: readonly Episode[]): Record<string, number> {
  return countReasons(
    episodes
      .filter((episode) => !isJudged(episode))
      .map(({ error, ending }) => error ?? `it could not be judged (${ending})`),
  )
}

/** Counts each reason, as one line of at most 160 characters. */
export function countReasons(reasons: readonly string[]): Record<string, number> {
  return reasons.reduce<Record<string, number>>((counts, reason) => {
    const line = reason.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
    const short = line.length > longestReason ? `${line.slice(0, longestReason)} …` : line
    return addReasons(counts, { [short]: 1 })
  }, {})
}

/** The sum of two counts of reasons. Keeps 20 different reasons; the rest is counted as `otherReasons`. */
export function addReasons(
  counts: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = new Map(Object.entries(counts))
  for (const [reason, count] of Object.entries(more)) {
    const name = sum.has(reason) || sum.size < mostReasons ? reason : otherReasons
    sum.set(name, (sum.get(name) ?? 0) + count)
  }
  return Object.fromEntries(sum)
}

/** Most frequent first: `12 × the server broke off; 3 × no answer in time`. */
export function reasonsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} × ${reason}`)
    .join('; ')
}
