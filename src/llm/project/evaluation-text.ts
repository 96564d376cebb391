import { count, percent, percentInterval, pointsInterval } from '../../runs/report/format.ts'
import type { MeanEstimate } from '../../statistics/statistics.ts'
import { reasonsText } from '../evaluation/episode-statistics.ts'
import type { Spending } from './budget.ts'
import {
  areCertain,
  type EvaluationResult,
  isClear,
  type JudgeReport,
  type ModelComparison,
  type ModelEvaluation,
  type SequentialComparison,
} from './evaluation.ts'

/** The measures of an evaluation as a table: a row for each measure, a column for each model. */
export function evaluationTable({ models, tasks, trials }: EvaluationResult): {
  header: string[]
  rows: string[][]
} {
  const row = (label: string, show: (model: ModelEvaluation) => string): string[] => [
    label,
    ...models.map((model) => (model.success.n === 0 ? '-' : show(model))),
  ]
  const names = (of: (model: ModelEvaluation) => object): string[] => [
    ...new Set(models.flatMap((model) => Object.keys(of(model)))),
  ]
  const kinds = names(({ kinds: own }) => own)
  const scorers = names(({ scores }) => scores)
  return {
    header: [`${tasks} tasks x ${trials}`, ...models.map(({ name }) => name)],
    rows: [
      row('success', ({ success }) => percentInterval(success)),
      ...(kinds.length < 2
        ? []
        : kinds.map((kind) =>
            row(`  ${kind}`, ({ kinds: own }) => (own[kind] === undefined ? '-' : percent(own[kind].mean))),
          )),
      ...(trials < 2
        ? []
        : [
            row(`pass@${trials}`, ({ passAt }) => shareAt(passAt, trials)),
            row(`pass^${trials}`, ({ passAll }) => shareAt(passAll, trials)),
          ]),
      ...(scorers.length < 2
        ? []
        : scorers.map((name) =>
            row(`score ${name}`, ({ scores }) =>
              scores[name] === undefined ? '-' : scores[name].mean.toFixed(2),
            ),
          )),
      row('dollars a trial', ({ dollars }) => (dollars === null ? '-' : dollarsText(dollars))),
      row('tokens a trial', ({ tokens }) => count(Math.round(tokens))),
      row('seconds (p95)', ({ seconds }) => `${seconds.mean.toFixed(1)} (${seconds.p95.toFixed(1)})`),
      row('model calls', ({ modelCalls }) => modelCalls.toFixed(1)),
      row('tool calls', ({ toolCalls }) => toolCalls.toFixed(1)),
      row('valid tool calls', ({ validCalls }) => (validCalls === null ? '-' : percent(validCalls))),
      ['masked trials', ...models.map(({ masked }) => String(masked))],
    ],
  }
}

/** Only trials that all tasks have. A masked one leaves less. */
const shareAt = (rates: readonly number[], k: number): string => {
  const rate = rates[k - 1]
  return rate === undefined ? '-' : percent(rate)
}

/** The comparisons, the noise, the faults and the cost, one sentence each. */
export function evaluationNotes(result: EvaluationResult): string[] {
  const { models, comparisons, sequential, spent, warnings, isComplete, records, tasks, trials } = result
  const noisy = models.flatMap(({ name, noiseFloor }) =>
    noiseFloor === null ? [] : [`${name} ${points(noiseFloor)}`],
  )
  return [
    ...(sequential?.map(sequentialText) ?? comparisons.map(comparisonText)),
    ...(noisy.length === 0
      ? []
      : [`by chance alone, two evaluations of the same model differ by up to: ${noisy.join(', ')}`]),
    ...models
      .filter(({ masked }) => masked > 0)
      .map(
        ({ name, masked, trials: all, maskedReasons }) =>
          `${name}: ${masked} of ${all} trials were masked and count nowhere: ${reasonsText(maskedReasons)}`,
      ),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...(isComplete || areCertain(sequential)
      ? []
      : [`not complete: ${records.length} of ${models.length * tasks * trials} trials were finished`]),
    ...result.judges.map(judgeText),
    `spent: ${spendingText(spent)}`,
  ]
}

function judgeText({ scorer, model, calls, spent, agreement }: JudgeReport): string {
  const checked =
    agreement === null
      ? ''
      : `; kappa with labels ${kappaText(agreement.kappa)} of ${agreement.labels} trials`
  return `judge ${scorer} (${model}): ${count(calls)} calls, ${spendingText(spent)}${checked}`
}

/** `0.71 (0.58–0.82)`, or why there is no interval. */
export function kappaText(kappa: MeanEstimate): string {
  const [mean, low, high] = [kappa.mean, kappa.low, kappa.high].map((value) => value?.toFixed(2))
  return kappa.low === null ? `${mean} (${kappa.noInterval})` : `${mean} (${low}–${high})`
}

/** `$0.012, 1,440 tokens`. */
export const spendingText = ({ dollars, tokens }: Spending): string =>
  `${dollars > 0 ? `${dollarsText(dollars)}, ` : ''}${count(tokens)} tokens`

function sequentialText(comparison: SequentialComparison): string {
  const { a, b, n, baseline } = comparison
  const of = baseline ? `${a} less ${b} of the earlier evaluation` : `${a} less ${b}`
  return `${of}, after ${n} tasks in an order drawn by chance: ${pointsInterval(comparison)}, an interval for any stop: ${isClear(comparison) ? 'shown' : 'not shown'}`
}

function comparisonText(comparison: ModelComparison): string {
  const { a, b, n, smallest, tasksNeeded, baseline } = comparison
  const of = baseline ? `${a} less ${b} of the earlier evaluation` : `${a} less ${b}`
  const difference = `${of}, paired over ${n} tasks: ${pointsInterval(comparison)}`
  if (smallest === null) return `${difference}; fewer than five tasks show nothing`
  if (tasksNeeded === 0) return `${difference}: shown`
  const more =
    tasksNeeded === null ? '' : `; about ${count(tasksNeeded)} tasks more would show one of this size`
  return `${difference}: not shown; ${n} tasks can show ${points(smallest)}${more}`
}

const points = (share: number): string => `${(100 * share).toFixed(1)} points`

const dollarsText = (dollars: number): string =>
  `$${dollars >= 1 || dollars === 0 ? dollars.toFixed(2) : dollars.toPrecision(2)}`

/** Comparisons with an earlier evaluation whose whole interval is below zero. */
export function regressions({
  comparisons,
  sequential,
}: EvaluationResult): (ModelComparison | SequentialComparison)[] {
  return (sequential ?? comparisons).filter(({ baseline, high }) => baseline && high !== null && high < 0)
}

/** The result as a comment for a pull request. */
export function evaluationMarkdown(result: EvaluationResult): string {
  const { header, rows } = evaluationTable(result)
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.trim().replaceAll('|', '\\|')).join(' | ')} |`
  const outcome = regressions(result).length > 0 ? 'regression' : 'no regression shown'
  const isCompared = result.comparisons.some(({ baseline }) => baseline)
  return [
    `### Agent evaluation${isCompared ? `: ${outcome}` : ''}`,
    '',
    line(header),
    line(header.map((_, at) => (at === 0 ? ':--' : '--:'))),
    ...rows.map(line),
    '',
    ...evaluationNotes(result).map((note) => `- ${note}`),
    '',
  ].join('\n')
}

/** The trials as JUnit XML: a suite for each model, a case for each trial. Masked trials are errors, not failures. */
export function evaluationJunit({ models, records }: EvaluationResult): string {
  const suites = models.map(({ name, trials, masked }) => {
    const own = records.filter(({ model }) => model === name)
    const failures = own.filter(({ success }) => success === false).length
    const cases = own.map(({ task, trial, seconds, status, success, error, scores }) => {
      const open = `    <testcase classname="${xml(name)}" name="${xml(`${task} #${trial + 1}`)}" time="${seconds.toFixed(3)}"`
      if (status === 'masked') return `${open}><error message="${xml(error ?? 'masked')}"/></testcase>`
      if (success === true) return `${open}/>`
      return `${open}><failure message="${xml(JSON.stringify(scores))}"/></testcase>`
    })
    return [
      `  <testsuite name="${xml(name)}" tests="${trials}" failures="${failures}" errors="${masked}">`,
      ...cases,
      '  </testsuite>',
    ].join('\n')
  })
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suites, '</testsuites>', ''].join('\n')
}

/** A text as an attribute. XML has no control characters. */
function xml(text: string): string {
  const escapes: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '\n': '&#10;',
  }
  return text.replaceAll(/[^\P{Cc}\n]/gu, ' ').replaceAll(/[&<>"\n]/g, (found) => escapes[found] ?? found)
}
