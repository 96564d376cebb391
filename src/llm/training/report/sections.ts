import { count, duration, percent, percentInterval, pointsInterval } from '../../../runs/report/format.ts'
import {
  breakName,
  html,
  type Markup,
  nothing,
  lineChart,
  type LineChart,
  type Point,
} from '../../../runs/report/page.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import type { Estimate, MeanEstimate } from '../../../statistics/statistics.ts'
import type { SampleEpisode, SampleMessage, StageName, StageSummary, TrainingSummary } from '../types.ts'
import { faultLines } from '../dropped-tasks.ts'

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
// System fonts take about 7 px per character at 13 px; the margin leaves space for wider ones.
const characterWidth = 7.4
const longestLine = 36

/** Success by kind of task as bars, one per stage, each with its value and 95% interval. */
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
    <svg viewBox="0 0 ${width} ${bottom + 20}" role="img" aria-label="Success by kind of task and stage">
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

/** A stage that judged no task of this kind has a dash instead of a bar. */
function bar(stage: StageSummary, kind: string, y: number, toX: (share: number) => number): Markup {
  const mean: number | undefined = stage.kinds[kind]
  const estimate: Estimate | undefined = stage.kindEstimates[kind]
  const middle = round(y + barHeight / 2 - 1)
  const label =
    estimate !== undefined
      ? `${percentInterval(estimate)}, ${estimate.n} tasks`
      : mean === undefined
        ? 'no task judged'
        : percent(mean)
  const share = mean ?? 0
  return html`<g
    ><title>${kind}, ${stageTitles[stage.name]}: ${label}</title>${
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

export function stageTable(stages: readonly StageSummary[]): Markup {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>stage</th>
          <th>success, 95% interval</th>
          <th>calls per episode</th>
          <th>invalid calls</th>
          <th>tokens per episode</th>
          <th>masked</th>
          <th>training</th>
        </tr>
      </thead>
      <tbody>
        ${stages.map(
          (stage) =>
            html`<tr>
              <td>${stageTitles[stage.name]}</td>
              <td><b>${percentInterval(stage.success)}</b></td>
              <td>${stage.calls.toFixed(2)}</td>
              <td>${percent(stage.invalidCalls)}</td>
              <td>${count(stage.tokens)}</td>
              <td>${stage.masked}</td>
              <td>${stage.seconds === 0 ? '–' : duration(stage.seconds)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** The comparison with continued supervision and the results on unseen paraphrases, if they were measured. */
export function comparisons({ gain, unseenParaphrases }: TrainingSummary): Markup {
  const direction = ({ low, high }: MeanEstimate): string =>
    low !== null && low > 0
      ? 'RL did better'
      : high !== null && high < 0
        ? 'RL did worse'
        : 'the two cannot be distinguished'
  return html`${
    gain === undefined
      ? nothing
      : html`<p>
          RL less continued supervision on the same demonstrations, for the same time at most (it stops when
          validation no longer rises), paired by task:
          <b>${pointsInterval(gain)}</b>; ${direction(gain)}.
        </p>`
  }${
    unseenParaphrases === undefined
      ? nothing
      : html`<p>
          On requests worded as none of training:
          <b>${percentInterval(unseenParaphrases.success)}</b> of ${unseenParaphrases.success.n}
          tasks${unseenGroups(unseenParaphrases.groups)}.
        </p>`
  }`
}

/** "; new sentences 72%, new words 47%", by what is new in the paraphrases. Empty if their tasks do not say. */
export function unseenGroups(groups: Readonly<Record<string, Estimate>> = {}): string {
  const each = Object.entries(groups).map(([name, { mean }]) => `${name} ${percent(mean)}`)
  return each.length === 0 ? '' : `; ${each.join(', ')}`
}

/** The curves of RL and of the supervised phases before it. */
export function curves(metrics: readonly MetricsRecord[]): Markup {
  const of = (phase: string, name: string): Point[] =>
    metrics.flatMap(({ phase: its, step, metrics: values }) =>
      its === phase && typeof values[name] === 'number' ? [{ x: step, y: values[name] }] : [],
    )
  const charts: LineChart[] = [
    {
      title: 'Success while sampling',
      points: of('rl', 'success'),
      marks: { name: 'validation, greedy', points: of('rl-validation', 'success') },
      unit: 'share',
    },
    { title: 'Reward', points: of('rl', 'reward'), unit: 'number' },
    { title: 'Invalid calls', points: of('rl', 'invalidCalls'), unit: 'share' },
    { title: 'Response length (tokens)', points: of('rl', 'responseTokens'), unit: 'number' },
    { title: 'Entropy (nats per token)', points: of('rl', 'entropy'), unit: 'number' },
    { title: 'KL between sampler and trainer', points: of('rl', 'kl'), unit: 'number' },
    { title: 'Mismatch before the update (nats)', points: of('rl', 'mismatch'), unit: 'number' },
    { title: 'Divergence from the reference (loss)', points: of('rl', 'divergenceLoss'), unit: 'number' },
    { title: 'Gradient norm', points: of('rl', 'gradientNorm'), unit: 'number' },
    {
      title: 'Warm start: loss',
      points: of('warm-start', 'loss'),
      unit: 'number',
    },
    {
      title: 'Continued supervision: loss',
      points: of('supervised', 'loss'),
      unit: 'number',
    },
  ]
  return html`<div class="charts">${charts.map(lineChart)}</div>`
}

export function cost(summary: TrainingSummary): Markup {
  const { cost: spent, demonstrations } = summary
  const lines = faultLines(summary)
  const shown = Object.values(demonstrations).reduce((sum, n) => sum + n, 0)
  return html`<p>
      ${duration(spent.seconds)} in all, evaluations included: ${count(spent.episodes)} episodes,
      ${count(spent.calls)} tool calls, ${count(spent.sampledTokens)} sampled tokens.
      ${
        spent.masked === 0
          ? 'No episode was lost to a fault of the infrastructure.'
          : `${spent.masked} episodes were lost to faults of the infrastructure and count neither as success nor as failure.`
      }
      The warm start saw ${shown} demonstrations.
    </p>
    ${
      lines.length === 0
        ? nothing
        : html`<ul>
            ${lines.map((line) => html`<li>${line}</li>`)}
          </ul>`
    }`
}

export function sample(episode: SampleEpisode): Markup {
  return html`<section class="task">
    <p class="prompt">“${episode.prompt}”</p>
    <p class="soft">${episode.kind}</p>
    <div class="sides">
      <div class="side">
        <h3 class="wrong">Before: wrong</h3>
        ${messages(episode.before)}
      </div>
      <div class="side">
        <h3 class="right">After RL: right</h3>
        ${messages(episode.after)}
      </div>
    </div>
  </section>`
}

function messages(list: readonly SampleMessage[]): Markup[] {
  return list.filter(({ role }) => role === 'assistant' || role === 'tool').map(message)
}

function message({ role, text, calls, isError, invalid }: SampleMessage): Markup {
  if (role === 'tool')
    return html`<div>
      <pre class="${isError === true ? 'error' : 'result'}">${text === '' ? '(empty)' : text}</pre>
    </div>`
  const said = calls === undefined || calls.length === 0 || invalid !== undefined ? text : ''
  return html`${(calls ?? []).map(
    (call) => html`<div><code>${call.name}(${JSON.stringify(call.arguments)})</code></div>`,
  )}${said === '' ? nothing : html`<div class="said">${said}</div>`}${
    invalid === undefined ? nothing : html`<div class="wrong">invalid call: ${invalid}</div>`
  }`
}
