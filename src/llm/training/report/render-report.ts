import { decimal, duration, percent, percentInterval } from '../../../runs/report/format.ts'
import { html, nothing, metricCharts, reportPage, settingsSection } from '../../../runs/report/page.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import type { RunSummary } from '../run.ts'
import type { ReportInput, TrainingSummary } from '../types.ts'
import { comparisons, cost, curves, kindChart, sample, stageTable } from './sections.ts'

/**
 * One sentence on the held-out results. Says "rose" or "fell" only if the 95% intervals do not overlap. Starts with the name of
 * the algorithm, if it has one.
 */
export function headline({ stages, algorithm }: TrainingSummary): string {
  const sentence = stagesSentence(stages)
  return algorithm === undefined ? sentence : `${algorithm}: ${sentence}`
}

function stagesSentence(stages: TrainingSummary['stages']): string {
  const base = stages.find(({ name }) => name === 'base')
  const warm = stages.find(({ name }) => name === 'warm-start')
  const last = stages.find(({ name }) => name === 'rl') ?? warm ?? base
  if (base === undefined || last === undefined) return 'The run has no evaluation yet.'
  const tasks = `${last.success.n} held-out tasks`
  if (last === base) return `The base model solves ${percentInterval(base.success)} of ${tasks}.`
  const from = base.success
  const to = last.success
  const way =
    warm === undefined || warm === last
      ? ''
      : `, by way of ${percent(warm.success.mean)} after the warm start`
  if (to.low > from.high) {
    const still = warm !== undefined && warm !== last && to.low <= warm.success.high
    const caveat = still ? '; the part of RL in this is not clear of chance' : ''
    return `Success on ${tasks} rose from ${percentInterval(from)} to ${percentInterval(to)}${way}${caveat}.`
  }
  if (to.high < from.low)
    return `Success on ${tasks} fell from ${percentInterval(from)} to ${percentInterval(to)}${way}.`
  return `No clear change: ${percentInterval(from)} of ${tasks} before, ${percentInterval(to)} after${way}.`
}

/**
 * The report of a finished run as one self-contained HTML page: it loads no script, font or image. All text of the run (prompts,
 * tool results) is escaped.
 */
export function renderReport({ summary, metrics, config }: ReportInput): string {
  const { machine, stages, samples, remarks = [] } = summary
  return reportPage(
    headline(summary),
    html`${remarks.map((remark) => html`<p class="remark">${remark}</p>`)}
      <p class="soft">
        <code>${summary.command}</code>, seed ${summary.seed}, ${duration(summary.seconds)} on ${machine.cpu}
        (${machine.cores} cores, ${machine.memoryGiB.toFixed(0)} GiB), Node ${machine.node},
        ${machine.platform}
      </p>
      <h2>Before and after</h2>
      <p class="soft">
        Every stage answers the same held-out tasks, greedily. An interval holds the true rate in 95 of 100
        such measurements.
      </p>
      ${stageTable(stages)} ${comparisons(summary)}
      <h2>By kind of task</h2>
      ${kindChart(stages)}
      <h2>Cost</h2>
      ${cost(summary)}
      ${
        samples.length === 0
          ? nothing
          : html`<h2>Episodes that went from wrong to right</h2>
              ${samples.map(sample)}`
      }
      ${
        metrics.length === 0
          ? nothing
          : html`<h2>Curves</h2>
              ${curves(metrics)}`
      }
      ${settingsSection(config)}`,
  )
}

/** The report of a single trainer: the selected weights and the selection rule, every metric over the steps, the settings. */
export function renderRun({
  summary,
  records,
  config,
}: {
  summary: RunSummary
  records: readonly MetricsRecord[]
  config: Readonly<Record<string, unknown>>
}): string {
  const { trainer, command, kept, steps, seconds, machine } = summary
  const score = kept.score === undefined ? '' : ` (${decimal(kept.score)})`
  return reportPage(
    `${trainer}: ${steps} steps, the weights of step ${kept.step} kept`,
    html`<p class="soft">
        <code>${command}</code>, ${duration(seconds)} on ${machine.cpu} (${machine.cores} cores,
        ${machine.memoryGiB} GiB), Node ${machine.node}, ${machine.platform}
      </p>
      <p>The run ended with the weights of step ${kept.step}${score}. Rule: ${kept.rule}.</p>
      <h2>Curves</h2>
      ${metricCharts(records, trainer)} ${settingsSection(config)}`,
  )
}
