import { decimal, percent } from './format.ts'
import type { MetricsRecord } from '../run-folder.ts'

/** Text that is already markup. `html` escapes everything else. */
export interface Markup {
  readonly markup: string
}

type Piece = string | number | Markup | readonly Markup[]

/** Markup from a template. Interpolated strings and numbers are escaped; markup and lists of it are inserted unchanged. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return { markup: strings.map((text, i) => (i === 0 ? text : toMarkup(pieces[i - 1]) + text)).join('') }
}

export const nothing: Markup = { markup: '' }

/** Styles of this repository. Never pass text of a run. */
function trusted(markup: string): Markup {
  return { markup }
}

function toMarkup(piece: Piece): string {
  if (typeof piece === 'number') return String(piece)
  if (typeof piece === 'string') return escapeHtml(piece)
  if ('markup' in piece) return piece.markup
  return piece.map(({ markup }) => markup).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character])
}

/**
 * A name as lines of at most `width` characters, broken after `-`, `_`, `+`, `>`, `/` or a space if possible. Nothing is cut
 * off.
 */
export function breakName(name: string, width: number): string[] {
  const lines: string[] = []
  let rest = name
  while (rest.length > width) {
    const at = lastBreak(rest.slice(0, width))
    lines.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at)
  }
  return [...lines, rest]
}

/** Breaks after the last separator, unless that would make too many lines. */
function lastBreak(line: string): number {
  const at = Math.max(...['-', '_', '+', '>', '/', ' '].map((separator) => line.lastIndexOf(separator))) + 1
  return at * 3 >= line.length ? at : line.length
}

export interface Point {
  x: number
  y: number
}

export interface LineChart {
  title: string
  /** One value per step, drawn faintly under its running mean. */
  points: readonly Point[]
  /** Occasional measurements on tasks outside training, drawn as dots. */
  marks?: { name: string; points: readonly Point[] }
  unit: 'share' | 'number'
}

const size = { width: 420, height: 190, left: 46, right: 12, top: 30, bottom: 26 }

/** A curve over steps as SVG: raw values, their running mean, and marks. Empty if no value is finite. */
export function lineChart({ title, points, marks, unit }: LineChart): Markup {
  const finite = points.filter(({ y }) => Number.isFinite(y))
  const dots = (marks?.points ?? []).filter(({ y }) => Number.isFinite(y))
  const all = [...finite, ...dots]
  if (all.length === 0) return nothing
  const show = unit === 'share' ? percent : decimal
  const ticks = yTicks(
    all.map(({ y }) => y),
    unit,
  )
  const [low, high] = [ticks[0], ticks[ticks.length - 1]]
  const lastX = Math.max(1, ...all.map(({ x }) => x))
  const toX = (x: number) => round(size.left + (x / lastX) * (size.width - size.left - size.right))
  const toY = (y: number) =>
    round(size.height - size.bottom - ((y - low) / (high - low)) * (size.height - size.top - size.bottom))
  const path = (line: readonly Point[]) =>
    line.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${toX(x)} ${toY(y)}`).join('')
  const last = finite.at(-1)
  const label =
    last === undefined ? title : `${title}: ${show(finite[0].y)} at first, ${show(last.y)} at last`
  return html`<figure class="chart">
    <svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${label}">
      <text class="name" x="0" y="15">${title}</text>
      ${
        marks === undefined || dots.length === 0
          ? nothing
          : html`<circle class="mark" cx="${size.width - 116}" cy="11" r="3.5" /><text
                class="tick"
                x="${size.width - 108}"
                y="15"
                >${marks.name}</text
              >`
      }
      ${ticks.map(
        (tick) =>
          html`<line
              class="grid"
              x1="${size.left}"
              x2="${size.width - size.right}"
              y1="${toY(tick)}"
              y2="${toY(tick)}"
            /><text class="tick end" x="${size.left - 6}" y="${toY(tick) + 4}">${show(tick)}</text>`,
      )}
      <text class="tick" x="${size.left}" y="${size.height - 8}">0</text>
      <text class="tick end" x="${size.width - size.right}" y="${size.height - 8}">step ${lastX}</text>
      <path class="raw" d="${path(finite)}" />
      <path class="mean" d="${path(runningMean(finite))}" />
      ${dots.map(({ x, y }) => html`<circle class="mark" cx="${toX(x)}" cy="${toY(y)}" r="3.5"><title>step ${x}: ${show(y)}</title></circle>`)}
    </svg>
  </figure>`
}

/** Exponential mean over a twentieth of the run, with Adam's correction of the initial bias. */
function runningMean(points: readonly Point[]): Point[] {
  const keep = Math.exp(-1 / Math.max(1, points.length / 20))
  let sum = 0
  let weight = 0
  return points.map(({ x, y }) => {
    sum = keep * sum + y
    weight = keep * weight + 1
    return { x, y: sum / weight }
  })
}

function yTicks(values: readonly number[], unit: 'share' | 'number'): number[] {
  const low = Math.min(...values, 0)
  const high = Math.max(...values)
  if (unit === 'share' && low === 0 && high > 0.4) return [0, 0.25, 0.5, 0.75, 1]
  const span = high - low || 1
  const power = 10 ** Math.floor(Math.log10(span / 3))
  const step = power * ([1, 2, 5, 10].find((factor) => span / (factor * power) <= 4) ?? 10)
  const first = Math.floor(low / step + 1e-9)
  const count = Math.max(1, Math.ceil(high / step - 1e-9) - first)
  return Array.from({ length: count + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** The style of the report: follows the reader's light or dark mode, uses system fonts, loads nothing. */
const style = `
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
