import type { Estimate, IntervalSettings, MeanEstimate } from '../../statistics/statistics.ts'
import {
  groupedWilsonInterval,
  studentInterval,
  studentQuantile,
  tooFew,
  wilsonBounds,
  average,
} from '../../statistics/statistics.ts'
import type { Episode } from '../episode/types.ts'

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
export function isJudged(episode: Attempt): boolean {
  return episode.status !== 'masked' && episode.success !== null
}

/** What comparisons read of an episode. */
export type Attempt = Pick<Episode, 'task' | 'status' | 'success'>

/** Successes and judged episodes of each task that has any. */
export function successByTask(
  episodes: readonly Attempt[],
): Map<string, { successes: number; trials: number }> {
  const tasks = new Map<string, { successes: number; trials: number }>()
  for (const episode of episodes.filter(isJudged)) {
    const { successes, trials } = tasks.get(episode.task) ?? { successes: 0, trials: 0 }
    tasks.set(episode.task, { successes: successes + Number(episode.success), trials: trials + 1 })
  }
  return tasks
}

/** The success rate with an interval over tasks. */
export function successOf(episodes: readonly Attempt[]): Estimate {
  return groupedWilsonInterval([...successByTask(episodes).values()])
}

const longestReason = 160
/** Messages may contain details of one episode; the number of distinct reasons in a record must stay bounded. */
const mostReasons = 20
const otherReasons = 'for other reasons'

/** Number of masked episodes for each reason. */
export function maskedReasons(
  episodes: readonly (Attempt & Pick<Episode, 'error' | 'ending'>)[],
): Record<string, number> {
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

/**
 * The difference in success rate between `a` and `b`: the mean over tasks, with an interval over tasks. Averages several
 * attempts at a task first, since they are not independent. `n` is the number of tasks with a judged episode on both sides;
 * other tasks are left out. Fewer than five tasks have no interval.
 *
 * The interval is Student's after adding two tasks: one where `a` succeeds in one more attempt than `b`, and one
 * where `b` does. Without them, an interval over few tasks with equal results would have zero width.
 *
 * Source: Bonett & Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data, J.
 * Educational and Behavioral Statistics 37 (2012). For one attempt per task this is their interval, with Student's quantile.
 */
export function compareSuccess(
  a: readonly Attempt[],
  b: readonly Attempt[],
  settings: IntervalSettings = {},
): MeanEstimate {
  const pairs = successPairs(a, b)
  const gains = pairs.map(({ gain }) => gain)
  const [n, centre] = [gains.length, average(gains)]
  const few = tooFew(centre, n)
  if (few !== null) return few
  const one = 1 / average(pairs.map(({ attempts }) => attempts))
  const { low, high } = studentInterval([...gains, one, -one], settings)
  return { mean: centre, low: Math.max(-1, low), high: Math.min(1, high), n }
}

/** For each task with a judged episode on both sides: the success rate of `a` less that of `b`, and attempts per side. */
export function successPairs(
  a: readonly Attempt[],
  b: readonly Attempt[],
): { task: string; gain: number; attempts: number }[] {
  const others = successByTask(b)
  return [...successByTask(a)].flatMap(([task, ofA]) => {
    const ofB = others.get(task)
    return ofB === undefined
      ? []
      : [{ task, gain: share(ofA) - share(ofB), attempts: (ofA.trials + ofB.trials) / 2 }]
  })
}

const share = ({ successes, trials }: { successes: number; trials: number }): number => successes / trials

/**
 * Probability that a run of `a` scores higher than a run of `b`; ties count half (Mann & Whitney 1947). The interval is
 * Wilson's. Its number of trials follows from Brunner and Munzel's variance and is at least the smaller number of runs; the
 * quantile is Student's. So the interval has a width even if every run of `a` wins. No interval if a side has fewer than five
 * runs. `n` is the number of runs of both sides.
 *
 * Sources: Agarwal et al. (arXiv 2108.13264), "probability of improvement"; Brunner & Munzel, Biometrical Journal 42 (2000),
 * variance and degrees of freedom.
 */
export function probabilityOfImprovement(
  a: readonly number[],
  b: readonly number[],
  { level = 0.95 }: IntervalSettings = {},
): MeanEstimate {
  const ofA = a.map((x) => average(b.map((y) => win(x, y))))
  const ofB = b.map((y) => average(a.map((x) => win(x, y))))
  const share = average(ofA)
  const least = Math.min(a.length, b.length)
  const n = a.length + b.length
  const few = tooFew(share, least)
  if (few !== null) return few
  const [varianceA, varianceB] = [varianceOfMean(ofA), varianceOfMean(ofB)]
  const variance = varianceA + varianceB
  const trials = variance === 0 ? least : (share * (1 - share)) / variance
  const df =
    variance === 0
      ? least - 1
      : variance ** 2 / (varianceA ** 2 / (a.length - 1) + varianceB ** 2 / (b.length - 1))
  const effective = Math.min(a.length * b.length, Math.max(least, trials))
  return { ...wilsonBounds(share, effective, studentQuantile((1 + level) / 2, df)), n }
}

const win = (x: number, y: number): number => (x > y ? 1 : x === y ? 0.5 : 0)

function varianceOfMean(values: readonly number[]): number {
  const centre = average(values)
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  return squares / (values.length - 1) / values.length
}
