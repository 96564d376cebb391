import type { MetricsRecord } from '../../../runs/run-folder.ts'
import { decimal, duration } from '../../../runs/report/format.ts'
import { html } from '../../../runs/report/html.ts'
import { metricCharts, reportPage, settingsSection } from '../../../runs/report/page.ts'
import type { RunSummary } from '../run.ts'

/** The report of a single trainer: which weights were kept and by which rule, every metric over the steps, the settings. */
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
