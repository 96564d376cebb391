import { html, trusted } from './html.ts'
import type { Markup } from './html.ts'
import { lineChart } from './line-chart.ts'
import type { Point } from './line-chart.ts'
import { style } from './style.ts'
import type { MetricsRecord } from '../run-folder.ts'

/** A report as one HTML page that needs nothing besides itself: no script, font or image is fetched. Texts of a run are escaped. */
export function reportPage(headline: string, content: Markup): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>Agoge: ${headline}</title>
        <style>
          ${trusted(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>Agoge training report</h1>
          <p class="headline">${headline}</p>
          ${content}
        </main>
      </body>
    </html> `.markup
}

/** A chart of every metric of a phase, with what was measured in validations as dots. */
export function metricCharts(records: readonly MetricsRecord[], phase: string): Markup {
  const training = records.filter((record) => record.phase === phase)
  const validations = records.filter((record) => record.phase === `${phase}-validation`)
  const names = new Set([...training, ...validations].flatMap(({ metrics }) => Object.keys(metrics)))
  return html`<div class="charts">
    ${[...names].map((title) =>
      lineChart({
        title,
        points: pointsOf(training, title),
        marks: { name: 'validation', points: pointsOf(validations, title) },
        unit: 'number',
      }),
    )}
  </div>`
}

/** One metric over the steps; steps without it are left out. */
export function pointsOf(records: readonly MetricsRecord[], name: string): Point[] {
  return records.flatMap(({ step, metrics }) =>
    typeof metrics[name] === 'number' ? [{ x: step, y: metrics[name] }] : [],
  )
}

/** The settings of a run, folded. */
export const settingsSection = (config: Readonly<Record<string, unknown>>): Markup =>
  html`<h2>Settings</h2>
    <details>
      <summary>Configuration of the run</summary>
      <pre>${JSON.stringify(config, null, 2)}</pre>
    </details>`
