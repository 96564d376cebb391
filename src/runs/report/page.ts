import type { MetricsRecord } from '../run-folder.ts'
import { html, type Markup, trusted } from './html.ts'
import { lineChart, type Point } from './line-chart.ts'

/** The style of the report: follows the reader's light or dark mode, uses system fonts, loads nothing. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5d6670; --line: #dfe3e8; --page: #fbfbfa; --card: #fff;
  --base: #a9b1ba; --warm-start: #d9a441; --supervised: #9a7fc7; --rl: #17808a; --bad: #b3423a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --soft: #9aa4ae; --line: #333a41; --page: #14171a; --card: #1b1f23;
  --base: #68727c; --warm-start: #c9973f; --supervised: #a58fd0; --rl: #3fb3bc; --bad: #e0796f; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
main { max-width: 1120px; margin: 0 auto; padding: 48px 24px 96px }
h1 { font-size: 15px; font-weight: 600; color: var(--soft); margin: 0 0 8px }
.remark { border-left: 3px solid currentColor; padding-left: 10px; margin: 0 0 12px }
.headline { font-size: 26px; line-height: 1.35; font-weight: 600; margin: 0 0 12px; text-wrap: balance }
h2 { font-size: 19px; margin: 48px 0 8px }
p { margin: 0 0 12px; max-width: 72ch }
.soft, figcaption { color: var(--soft) }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 15px }
th, td { text-align: right; padding: 7px 10px; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 500; font-size: 13.5px; vertical-align: bottom }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
td b { font-weight: 600 }
figure { margin: 12px 0 }
.wide { overflow-x: auto }
.wide svg { min-width: 640px }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 12px 28px }
.chart { margin: 0 }
svg { width: 100%; height: auto; display: block; overflow: visible }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--soft) }
svg .name { font-size: 14px; font-weight: 600; fill: var(--ink) }
svg .label { font-size: 13px; fill: var(--ink) }
svg .value { font-size: 11px; fill: var(--ink); font-variant-numeric: tabular-nums }
svg .end { text-anchor: end } svg .middle { text-anchor: middle }
.grid { stroke: var(--line); stroke-width: 1 }
.raw { fill: none; stroke: var(--rl); stroke-opacity: .28; stroke-width: 1 }
.mean { fill: none; stroke: var(--rl); stroke-width: 2; stroke-linejoin: round }
.mark { fill: var(--card); stroke: var(--ink); stroke-width: 1.5 }
.whisker { stroke: var(--ink); stroke-opacity: .55; stroke-width: 1 }
.stage-base { fill: var(--base); background: var(--base) } .stage-warm-start { fill: var(--warm-start); background: var(--warm-start) }
.stage-supervised { fill: var(--supervised); background: var(--supervised) } .stage-rl { fill: var(--rl); background: var(--rl) }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px; margin: 0 0 8px }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 7px }
.task { margin: 20px 0 36px }
.prompt { font-size: 17px; margin: 0 0 2px }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 16px; margin-top: 10px }
.side { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; min-width: 0 }
.side h3 { font-size: 13.5px; font-weight: 600; margin: 0 0 8px }
.wrong { color: var(--bad) } .right { color: var(--rl) }
.side div { margin: 0 0 8px }
.said { white-space: pre-line }
code, pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.side code, .side pre { overflow-wrap: anywhere; white-space: pre-wrap }
.side pre { margin: 3px 0 0; padding-left: 10px; border-left: 2px solid var(--line); color: var(--soft); max-height: 14em; overflow: auto }
.side pre.error { border-color: var(--bad) }
details pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px; overflow: auto; max-height: 32em }
summary { cursor: pointer }
@media print { body { background: none } details pre { max-height: none } }
`

/** A report as one self-contained HTML page: it loads no script, font or image. Text of a run is escaped. */
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

/** One chart per metric of a phase, with validation results as dots. */
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

/** One metric over the steps. Steps without it are left out. */
export function pointsOf(records: readonly MetricsRecord[], name: string): Point[] {
  return records.flatMap(({ step, metrics }) =>
    typeof metrics[name] === 'number' ? [{ x: step, y: metrics[name] }] : [],
  )
}

/** The settings of a run, collapsed. */
export const settingsSection = (config: Readonly<Record<string, unknown>>): Markup =>
  html`<h2>Settings</h2>
    <details>
      <summary>Configuration of the run</summary>
      <pre>${JSON.stringify(config, null, 2)}</pre>
    </details>`
