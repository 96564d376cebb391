import { defined } from '../../defined.ts'
import type { AnytimeInterval } from '../../statistics/anytime.ts'
import {
  average,
  type Estimate,
  intervalText,
  type MeanEstimate,
  quantile,
} from '../../statistics/statistics.ts'
import {
  compareSuccess,
  isJudged,
  maskedReasons,
  successByTask,
  successOf,
  successPairs,
} from '../evaluation/episode-statistics.ts'
import {
  fisherExact,
  meanOverTasks,
  noiseFloor,
  passRates,
  powerOfComparison,
  type PowerOfComparison,
} from '../evaluation/trial-statistics.ts'
import type { Spending } from './budget.ts'
import type { TrialRecord } from './journal.ts'
import type { KeptCheck } from './judging/check-judges.ts'
import type { Judge } from './judging/judges.ts'

/** The results of one model. Rates and means are over judged trials. */
export interface ModelEvaluation {
  name: string
  trials: number
  /** Trials that count nowhere, because a model, a tool or a scorer failed. */
  masked: number
  maskedReasons: Record<string, number>
  /** 95% interval over tasks. */
  success: Estimate
  kinds: Record<string, Estimate>
  /** For k = 1, 2, ...: the probability that at least one of k trials succeeds, and that all do. */
  passAt: number[]
  passAll: number[]
  /** In 19 of 20 pairs of evaluations of the same model, the success rates differ by at most this. Null with one trial a task. */
  noiseFloor: number | null
  /** Mean of each scorer over tasks. */
  scores: Record<string, MeanEstimate>
  /** Mean of a trial; null if the model has no price. */
  dollars: number | null
  tokens: number
  seconds: { mean: number; p95: number }
  modelCalls: number
  toolCalls: number
  /** Share of tool calls whose tool exists and whose arguments fit it; null without calls. */
  validCalls: number | null
}

/** The success rate of `a` minus that of `b`, paired by task, with a 95% interval. `n` is the number of tasks. */
export type ModelComparison = MeanEstimate &
  PowerOfComparison & {
    a: string
    b: string
    /** Whether `b` is of an earlier evaluation. */
    baseline: boolean
  }

/** A comparison that was looked at after each task. Its interval holds wherever one stops. */
export interface SequentialComparison extends AnytimeInterval {
  a: string
  b: string
  /** Whether `b` is of an earlier evaluation. */
  baseline: boolean
}

/** Whether an interval is clear of zero. */
export const isClear = ({ low, high }: { low: number; high: number }): boolean => low > 0 || high < 0

/** Whether there are comparisons, all of them clear of zero, so that nothing is left to be found out. */
export const areCertain = (comparisons: readonly SequentialComparison[] = []): boolean =>
  comparisons.length > 0 && comparisons.every(isClear)

/** A judge of an evaluation, and what it cost there. */
export interface JudgeReport extends Judge {
  /** Calls that were answered. Questions that are known from other evaluations are none. */
  calls: number
  spent: Spending
  /** How it agrees with labels; null if it was not compared with any. */
  agreement: Omit<KeptCheck, 'id'> | null
}

/** Below this lower end of the interval of kappa, a judge is not trusted. */
export const trustedKappa = 0.6

/** The result of an evaluation. `records` are all finished trials, so that a later evaluation can be compared with it. */
export interface EvaluationResult {
  schema: 1
  /** False if it was stopped before all trials were finished. */
  isComplete: boolean
  tasks: number
  trials: number
  models: ModelEvaluation[]
  comparisons: ModelComparison[]
  /**
   * With `untilCertain`: the comparisons whose intervals hold wherever the evaluation stopped. Those of `comparisons` do not then: they
   * are for a number of tasks that was fixed before.
   */
  sequential?: SequentialComparison[]
  /** The models that judge. What they cost is no part of the cost of a trial. */
  judges: JudgeReport[]
  /** Of this evaluation in all, failed calls and judges included. */
  spent: Spending
  warnings: string[]
  records: TrialRecord[]
}

/** What `summarise` needs besides the trials. */
export interface SummarySettings {
  models: readonly { name: string; hasPrice: boolean }[]
  tasks: number
  trials: number
  spent: Spending
  /** An earlier evaluation; see `baselinePairs`. */
  baseline?: Pick<EvaluationResult, 'models' | 'records'> | undefined
  sequential?: SequentialComparison[] | undefined
  /** Default: none. */
  judges?: readonly JudgeReport[]
}

/** A model and the one of an earlier evaluation that it is compared with, whose trials are `earlier`. */
interface BaselinePair {
  a: string
  b: string
  earlier: readonly TrialRecord[]
}

/** Models with the same name belong together; a single model and the single one of the earlier evaluation do whatever their names. */
export function baselinePairs(
  names: readonly string[],
  baseline: Pick<EvaluationResult, 'models' | 'records'> | undefined,
): BaselinePair[] {
  if (baseline === undefined) return []
  return names.flatMap((a) => {
    const b = names.length === 1 && baseline.models.length === 1 ? baseline.models[0].name : a
    const earlier = baseline.records.filter(({ model }) => model === b)
    return earlier.length === 0 ? [] : [{ a, b, earlier }]
  })
}

/**
 * Summarises finished trials. Models are compared on the tasks that both have a judged trial of. Depends on the set of the trials
 * alone, not on their order.
 */
export function summarise(finished: readonly TrialRecord[], settings: SummarySettings): EvaluationResult {
  const { models, tasks, trials, spent, baseline, sequential, judges = [] } = settings
  const records = [...finished].sort(byPlace)
  const of = (name: string): TrialRecord[] => records.filter(({ model }) => model === name)
  const results = models.map(({ name, hasPrice }) => summariseModel(name, of(name), hasPrice))
  const comparisons = models.flatMap(({ name: b }, at) =>
    models.slice(at + 1).map(({ name: a }) => compare(a, b, of(a), of(b))),
  )
  const names = models.map(({ name }) => name)
  comparisons.push(...compareWithBaseline(names, records, baseline))
  return {
    schema: 1,
    isComplete: records.length === models.length * tasks * trials,
    tasks,
    trials,
    models: results,
    comparisons,
    ...defined({ sequential }),
    judges: judges.map((judge) => ({ ...judge, spent: roundedCost(judge.spent) })),
    spent: roundedCost(spent),
    warnings: [...warningsOf(results), ...judges.flatMap(warningOfJudge)],
    records,
  }
}

/** The comparisons of models with those of an earlier evaluation. */
export function compareWithBaseline(
  names: readonly string[],
  records: readonly TrialRecord[],
  baseline: Parameters<typeof baselinePairs>[1],
): ModelComparison[] {
  return baselinePairs(names, baseline).map(({ a, b, earlier }) => ({
    ...compare(
      a,
      b,
      records.filter(({ model }) => model === a),
      earlier,
    ),
    baseline: true,
  }))
}

/** The last digits of a sum depend on its order. */
const rounded = (dollars: number): number => Number(dollars.toPrecision(12))

const roundedCost = ({ tokens, dollars }: Spending): Spending => ({ tokens, dollars: rounded(dollars) })

const byPlace = (a: TrialRecord, b: TrialRecord): number => {
  const [x, y] = [a, b].map(
    ({ model, task, trial }) => `${model}\n${task}\n${String(trial).padStart(9, '0')}`,
  )
  return x < y ? -1 : 1
}

function compare(
  a: string,
  b: string,
  ofA: readonly TrialRecord[],
  ofB: readonly TrialRecord[],
): ModelComparison {
  const interval = compareSuccess(ofA, ofB)
  const gains = successPairs(ofA, ofB).map(({ gain }) => gain)
  return { a, b, ...interval, ...powerOfComparison(gains, interval), baseline: false }
}

function summariseModel(name: string, all: readonly TrialRecord[], hasPrice: boolean): ModelEvaluation {
  const judged = all.filter(isJudged)
  const outcomes = [...successByTask(judged)].map(([task, outcome]) => ({ task, ...outcome }))
  const { atLeastOne, all: everyOne } = passRates(outcomes)
  const kinds = [...new Set(judged.map(({ kind }) => kind))].sort()
  const scorers = [...new Set(judged.flatMap(({ scores }) => Object.keys(scores)))]
  const mean = (of: (record: TrialRecord) => number): number => average(judged.map(of))
  const calls = mean(({ usage }) => usage.calls)
  const seconds = Float64Array.from(judged.map((record) => record.seconds)).sort()
  return {
    name,
    trials: all.length,
    masked: all.length - judged.length,
    maskedReasons: maskedReasons(all),
    success: successOf(judged),
    kinds: Object.fromEntries(
      kinds.map((kind) => [kind, successOf(judged.filter((record) => record.kind === kind))]),
    ),
    passAt: atLeastOne,
    passAll: everyOne,
    noiseFloor: noiseFloor(outcomes),
    scores: Object.fromEntries(
      scorers.map((scorer) => [scorer, meanOverTasks(scoresByTask(judged, scorer))]),
    ),
    dollars: hasPrice ? rounded(mean(({ cost }) => cost.dollars)) : null,
    tokens: mean(({ cost }) => cost.tokens),
    seconds: {
      mean: mean((record) => record.seconds),
      p95: seconds.length === 0 ? 0 : quantile(seconds, 0.95),
    },
    modelCalls: mean(({ modelCalls }) => modelCalls),
    toolCalls: calls,
    validCalls: calls === 0 ? null : 1 - mean(({ usage }) => usage.invalidCalls) / calls,
  }
}

function scoresByTask(judged: readonly TrialRecord[], scorer: string): Map<string, number[]> {
  const byTask = new Map<string, number[]>()
  for (const { task, scores } of judged) {
    const value = scores[scorer]
    if (typeof value === 'number') byTask.set(task, [...(byTask.get(task) ?? []), value])
  }
  return byTask
}

function warningOfJudge({ scorer, agreement }: JudgeReport): string[] {
  if (agreement === null) return [`the judge ${scorer} was not compared with labels: agoge judge check`]
  const { kappa } = agreement
  return kappa.low !== null && kappa.low >= trustedKappa
    ? []
    : [
        `the judge ${scorer} is not shown to agree with labels: kappa ${kappa.mean.toFixed(2)} (${intervalText(kappa, (value) => value.toFixed(2))})`,
      ]
}

/** The chance at which shares of masked trials as different as those are reported. */
const rareChance = 0.01

/** Faults that strike one model more than another bias a comparison: the trials that are left are not alike. */
function warningsOf(models: readonly ModelEvaluation[]): string[] {
  return models.flatMap((a, at) =>
    models.slice(at + 1).flatMap((b) => {
      const chance = fisherExact({ hits: a.masked, of: a.trials }, { hits: b.masked, of: b.trials })
      if (chance >= rareChance) return []
      return [
        `${a.masked} of ${a.trials} trials of ${a.name} are masked, and ${b.masked} of ${b.trials} of ${b.name}: more than chance explains (p = ${chance.toPrecision(2)}), so their comparison may be biased`,
      ]
    }),
  )
}
