import type { ReportInput } from '../types.ts'
import { kindChart } from './kind-chart.ts'
import { duration } from '../../../runs/report/format.ts'
import { headline } from './headline.ts'
import { html, nothing, trusted } from '../../../runs/report/html.ts'
import { comparisons, cost, curves, sample, stageTable } from './sections.ts'
import { style } from '../../../runs/report/style.ts'

/**
 * The report of a finished run as one HTML page that needs nothing besides itself: no script, no font, no image is fetched, and every text
 * of the run (prompts, results of tools) is escaped.
 */
export function renderReport({ summary, metrics, config }: ReportInput): string {
  const { machine, stages, samples, remarks = [] } = summary
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>Agoge: ${headline(summary)}</title>
        <style>
          ${trusted(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>Agoge training report</h1>
          <p class="headline">${headline(summary)}</p>
          ${remarks.map((remark) => html`<p class="remark">${remark}</p>`)}
          <p class="soft">
            <code>${summary.command}</code>, seed ${summary.seed}, ${duration(summary.seconds)} on
            ${machine.cpu} (${machine.cores} cores, ${machine.memoryGiB.toFixed(0)} GiB), Node
            ${machine.node}, ${machine.platform}
          </p>
          <h2>Before and after</h2>
          <p class="soft">
            Every stage answers the same held-out tasks, greedily. An interval holds the true rate in 95 of
            100 such measurements.
          </p>
          ${stageTable(stages)} ${comparisons(summary)}
          <h2>By family</h2>
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
          <h2>Settings</h2>
          <details>
            <summary>Configuration of the run</summary>
            <pre>${JSON.stringify(config, null, 2)}</pre>
          </details>
        </main>
      </body>
    </html> `
  return page.markup
}
