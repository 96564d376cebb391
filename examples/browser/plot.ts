import { budget, goal } from './goal.ts'
import type { Evaluation } from './messages.ts'

export interface Point {
  x: number
  y: number
}

const size = { width: 720, height: 450, left: 44, right: 16, top: 14, bottom: 30 }
const top = 500

/** Draws returns over steps as SVG: training episodes, their running mean, and evaluations with intervals. */
export function plot(episodes: readonly Point[], evaluations: readonly Evaluation[]): string {
  const last = Math.max(0, ...episodes.map(({ x }) => x), ...evaluations.map(({ step }) => step))
  const end = [10_000, 20_000, 50_000].find((x) => x >= last) ?? budget
  const toX = (x: number): string =>
    (size.left + (x / end) * (size.width - size.left - size.right)).toFixed(1)
  const toY = (y: number): string =>
    (size.height - size.bottom - (y / top) * (size.height - size.top - size.bottom)).toFixed(1)
  const path = (points: readonly Point[]): string =>
    points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${toX(x)} ${toY(y)}`).join('')
  const [left, right] = [toX(0), toX(end)]

  const rows = [0, 100, 200, 300, 400, 500].map(
    (y) =>
      `<line class="grid" x1="${left}" x2="${right}" y1="${toY(y)}" y2="${toY(y)}"/>` +
      `<text x="${size.left - 8}" y="${Number(toY(y)) + 4}" text-anchor="end">${y}</text>`,
  )
  const columns = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle'
    const text = (share * end).toLocaleString('en') + (share === 1 ? ' steps' : '')
    return `<text x="${toX(share * end)}" y="${size.height - 8}" text-anchor="${anchor}">${text}</text>`
  })
  const marks = evaluations.map(({ step, mean, low, high, episodes: n }) => {
    const title = `${n} episodes after ${step} steps: ${mean.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`
    return (
      `<g class="${n >= 100 ? 'mark final' : 'mark'}"><title>${title}</title>` +
      `<line x1="${toX(step)}" x2="${toX(step)}" y1="${toY(low)}" y2="${toY(high)}"/>` +
      `<circle cx="${toX(step)}" cy="${toY(mean)}" r="${n >= 100 ? 6 : 4}"/></g>`
    )
  })
  return (
    `<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="Returns over environment steps">` +
    rows.join('') +
    columns.join('') +
    `<line class="goal" x1="${left}" x2="${right}" y1="${toY(goal)}" y2="${toY(goal)}"/>` +
    `<text class="goal-name" x="${size.left + 6}" y="${Number(toY(goal)) + 15}">${goal}</text>` +
    `<path class="raw" d="${path(episodes)}"/><path class="mean" d="${path(runningMean(episodes))}"/>` +
    `${marks.join('')}</svg>`
  )
}

/** Exponential mean over about ten points, without bias towards the first value (corrected as in Adam). */
function runningMean(points: readonly Point[]): Point[] {
  const keep = Math.exp(-1 / 10)
  let sum = 0
  let weight = 0
  return points.map(({ x, y }) => {
    sum = keep * sum + y
    weight = keep * weight + 1
    return { x, y: sum / weight }
  })
}
