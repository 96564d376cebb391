import { decimal, percent } from './format.ts'
import { html, nothing } from './html.ts'
import type { Markup } from './html.ts'

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
