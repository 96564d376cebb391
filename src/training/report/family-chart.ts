import type { Estimate } from '../../evaluation/index.ts'
import type { StageName, StageSummary } from '../types.ts'
import { percent, percentInterval } from './format.ts'
import { html } from './html.ts'
import type { Markup } from './html.ts'

export const stageTitles: Record<StageName, string> = {
  base: 'base model',
  'warm-start': 'after the warm start',
  supervised: 'continued supervision',
  rl: 'after RL',
}

const width = 880
const left = 190
const right = 60
const barHeight = 11
const gap = 14

/** Success by family as bars, one a stage, each with its 95% interval. */
export function familyChart(stages: readonly StageSummary[]): Markup {
  const families = Object.keys(stages[0]?.families ?? {})
  const rowHeight = stages.length * barHeight + gap
  const height = families.length * rowHeight + 24
  const toX = (share: number) => Math.round((left + share * (width - left - right)) * 10) / 10
  const bottom = height - 20
  return html`<figure class="wide">
    <p class="legend">
      ${stages.map(({ name }) => html`<span><i class="stage-${name}"></i>${stageTitles[name]}</span> `)}
    </p>
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Success by family and stage">
      ${[0, 0.25, 0.5, 0.75, 1].map(
        (share) =>
          html`<line class="grid" x1="${toX(share)}" x2="${toX(share)}" y1="0" y2="${bottom}" /><text
              class="tick middle"
              x="${toX(share)}"
              y="${height - 5}"
              >${percent(share)}</text
            >`,
      )}
      ${families.map((family, row) => {
        const top = row * rowHeight + gap / 2
        return html`<text class="label end" x="${left - 10}" y="${top + (stages.length * barHeight) / 2 + 4}"
            >${family}</text
          >
          ${stages.map((stage, i) => bar(stage, family, top + i * barHeight, toX, i === stages.length - 1))}`
      })}
    </svg>
  </figure>`
}

function bar(
  stage: StageSummary,
  family: string,
  y: number,
  toX: (share: number) => number,
  labelled: boolean,
): Markup {
  const mean = stage.families[family] ?? 0
  const estimate: Estimate | undefined = stage.familyEstimates[family]
  const middle = y + barHeight / 2 - 1
  const text = estimate === undefined ? percent(mean) : `${percentInterval(estimate)}, ${estimate.n} tasks`
  const whisker =
    estimate === undefined
      ? html``
      : html`<line
          class="whisker"
          x1="${toX(estimate.low)}"
          x2="${toX(estimate.high)}"
          y1="${middle}"
          y2="${middle}"
        />`
  const value = html`<text class="tick" x="${toX(Math.max(mean, estimate?.high ?? 0)) + 6}" y="${y + 9}"
    >${percent(mean)}</text
  >`
  return html`<g
    ><title>${family}, ${stageTitles[stage.name]}: ${text}</title
    ><rect
      class="stage-${stage.name}"
      x="${toX(0)}"
      y="${y}"
      width="${Math.max(1, Math.round((toX(mean) - toX(0)) * 10) / 10)}"
      height="${barHeight - 2}"
      rx="1.5"
    />${whisker}${labelled ? value : html``}</g
  >`
}
