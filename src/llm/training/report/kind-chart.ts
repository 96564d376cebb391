import type { Estimate } from '../../../statistics/intervals.ts'
import type { StageName, StageSummary } from '../types.ts'
import { percent, percentInterval } from '../../../runs/report/format.ts'
import { html, nothing } from '../../../runs/report/html.ts'
import type { Markup } from '../../../runs/report/html.ts'
import { breakName } from '../../../runs/report/break-name.ts'

export const stageTitles: Record<StageName, string> = {
  base: 'base model',
  'warm-start': 'after the warm start',
  supervised: 'continued supervision',
  rl: 'after RL',
}

const width = 880
const right = 52
const barHeight = 14
const gap = 14
const lineHeight = 15
// System fonts are some 7 px a character at 13 px; wider ones still end within the margin.
const characterWidth = 7.4
const longestLine = 36

/** Success by family as bars, one a stage, each with its value and its 95% interval. */
export function kindChart(stages: readonly StageSummary[]): Markup {
  const kinds = [...new Set(stages.flatMap((stage) => Object.keys(stage.kinds)))]
  const names = kinds.map((kind) => breakName(kind, longestLine))
  const longest = Math.max(0, ...names.flat().map((line) => line.length))
  const left = Math.max(120, Math.ceil(longest * characterWidth) + 16)
  const toX = (share: number): number => round(left + share * (width - left - right))
  const heights = names.map((lines) => Math.max(stages.length * barHeight, lines.length * lineHeight) + gap)
  const tops = heights.map((_, row) => gap / 2 + heights.slice(0, row).reduce((sum, each) => sum + each, 0))
  const bottom = heights.reduce((sum, each) => sum + each, 0) + 4
  return html`<figure class="wide">
    <p class="legend">
      ${stages.map(({ name }) => html`<span><i class="stage-${name}"></i>${stageTitles[name]}</span> `)}
    </p>
    <svg viewBox="0 0 ${width} ${bottom + 20}" role="img" aria-label="Success by family and stage">
      ${[0, 0.25, 0.5, 0.75, 1].map(
        (share) =>
          html`<line class="grid" x1="${toX(share)}" x2="${toX(share)}" y1="0" y2="${bottom}" /><text
              class="tick middle"
              x="${toX(share)}"
              y="${bottom + 15}"
              >${percent(share)}</text
            >`,
      )}
      ${kinds.map((kind, row) => {
        const middle = tops[row] + (heights[row] - gap) / 2
        const first = middle - (stages.length * barHeight) / 2
        return html`${label(names[row], left - 10, middle)}
        ${stages.map((stage, i) => bar(stage, kind, first + i * barHeight, toX))}`
      })}
    </svg>
  </figure>`
}

function label(lines: readonly string[], x: number, middle: number): Markup {
  const first = middle - ((lines.length - 1) * lineHeight) / 2 + 4
  return html`${lines.map(
    (line, i) => html`<text class="label end" x="${x}" y="${round(first + i * lineHeight)}">${line}</text>`,
  )}`
}

/** A stage that judged no task of the family has no bar, only a dash. */
function bar(stage: StageSummary, kind: string, y: number, toX: (share: number) => number): Markup {
  const mean: number | undefined = stage.kinds[kind]
  const estimate: Estimate | undefined = stage.kindEstimates[kind]
  const middle = round(y + barHeight / 2 - 1)
  const told =
    estimate !== undefined
      ? `${percentInterval(estimate)}, ${estimate.n} tasks`
      : mean === undefined
        ? 'no task judged'
        : percent(mean)
  const share = mean ?? 0
  return html`<g
    ><title>${kind}, ${stageTitles[stage.name]}: ${told}</title>${
      mean === undefined
        ? nothing
        : html`<rect
            class="stage-${stage.name}"
            x="${toX(0)}"
            y="${round(y)}"
            width="${Math.max(1, round(toX(mean) - toX(0)))}"
            height="${barHeight - 2}"
            rx="1.5"
          />`
    }${
      estimate === undefined
        ? nothing
        : html`<line
            class="whisker"
            x1="${toX(estimate.low)}"
            x2="${toX(estimate.high)}"
            y1="${middle}"
            y2="${middle}"
          />`
    }<text class="value" x="${toX(Math.max(share, estimate?.high ?? 0)) + 6}" y="${middle + 4}"
      >${mean === undefined ? '–' : percent(mean)}</text
    ></g
  >`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
