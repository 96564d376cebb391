import { intervalText } from 'agoge/statistics'
import { type Comparison, effectText, onScale, short } from '../runner/judge.ts'
import type { Effect } from '../runner/paper.ts'
import type { PaperResult } from '../runner/result.ts'

/** Text for HTML. */
export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The position of a value on a track, in per cent. Widths in per cent keep text legible on a narrow screen. */
type Place = (value: number) => string

/** A scale over the values, with some room at both ends. Values are on the scale of the effect. */
function placeIn(values: readonly number[]): Place {
  const low = Math.min(...values)
  const span = Math.max(...values) - low || 1
  return (value) => `${(3 + (94 * (value - low)) / span).toFixed(2)}%`
}

const row = (label: string, value: string, track: string): string =>
  `<div class="row"><span class="label">${label}</span><svg class="track" role="img" aria-label="${label}: ${value}">${track}</svg><span class="value">${value}</span></div>`

const line = (kind: string, from: string, to: string, y = '50%'): string =>
  `<line class="${kind}" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>`

const upright = (kind: string, at: string): string =>
  `<line class="${kind}" x1="${at}" x2="${at}" y1="0" y2="100%"/>`

/** A track for every rival: the effect, its interval, no effect, and the band of what is too small to count. */
export function effectTracks(comparisons: readonly Comparison[], effect: Effect): string {
  const margin = onScale(effect, effect.atLeast)
  const scaled = (value: number): number => onScale(effect, value)
  const all = comparisons.flatMap(({ low, high }) => [scaled(low), scaled(high)])
  const at = placeIn([-1.2 * margin, 1.2 * margin, ...all])
  return comparisons
    .map((comparison) => {
      const { than, low, high } = comparison
      const width = `${(Number.parseFloat(at(margin)) - Number.parseFloat(at(-margin))).toFixed(2)}%`
      const band = `<rect class="band" x="${at(-margin)}" width="${width}" y="0" height="100%"/>`
      const marks = [
        band,
        upright('zero', at(0)),
        line('interval', at(scaled(low)), at(scaled(high))),
        `<circle class="effect" cx="${at(scaled(comparison.effect))}" cy="50%" r="5"/>`,
      ]
      return row(
        `against ${escape(than)}`,
        `${effectText(comparison, effect)}, ${inWords(comparison)}`,
        marks.join(''),
      )
    })
    .join('\n')
}

function inWords({ better, than, outcome }: Comparison): string {
  if (outcome === 'better') return `${escape(better)} is better`
  if (outcome === 'worse') return `${escape(than)} is better`
  return outcome === 'equivalent' ? 'equivalent' : 'not decided'
}

/** More dots than this say no more. */
const mostDots = 100

/** A track for every arm: its runs, and the mean with its interval. */
export function armTracks({ runs, arms }: PaperResult, effect: Effect): string {
  const scaled = (value: number): number => onScale(effect, value)
  const at = placeIn(Object.values(runs.arms).flatMap(({ scores }) => scores.map(scaled)))
  return Object.entries(runs.arms)
    .map(([arm, { scores, unreached }]) => {
      const { score } = arms[arm]
      const dots = spread(scores).map(
        (value) => `<circle class="run" cx="${at(scaled(value))}" cy="50%" r="3"/>`,
      )
      const bar = score.low === null ? '' : line('interval', at(scaled(score.low)), at(scaled(score.high)))
      const cutOff = unreached === 0 ? '' : `, ${unreached} of ${scores.length} cut off at the budget`
      const value = `${short(score.mean)} (${intervalText(score, short)})${cutOff}`
      return row(escape(arm), value, [...dots, bar, upright('mean', at(scaled(score.mean)))].join(''))
    })
    .join('\n')
}

/** At most so many of the values, evenly over their order. */
function spread(values: readonly number[]): number[] {
  if (values.length <= mostDots) return [...values]
  const sorted = values.toSorted((a, b) => a - b)
  return Array.from(
    { length: mostDots },
    (_, i) => sorted[Math.round((i * (sorted.length - 1)) / (mostDots - 1))],
  )
}
