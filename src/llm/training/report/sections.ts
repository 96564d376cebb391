import type { MeanEstimate } from '../../../statistics/intervals.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import type { SampleEpisode, SampleMessage, StageSummary, TrainingSummary } from '../types.ts'
import { stageTitles } from './kind-chart.ts'
import { faultLines } from './faults.ts'
import { count, duration, percent, percentInterval, pointsInterval } from '../../../runs/report/format.ts'
import { html, nothing } from '../../../runs/report/html.ts'
import type { Markup } from '../../../runs/report/html.ts'
import { lineChart } from '../../../runs/report/line-chart.ts'
import type { LineChart, Point } from '../../../runs/report/line-chart.ts'

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

/** What the comparison with continued supervision and the unseen wordings say, where they were measured. */
export function comparisons({ gain, unseenParaphrases }: TrainingSummary): Markup {
  const verdict = ({ low, high }: MeanEstimate): string =>
    low !== null && low > 0
      ? 'RL did better'
      : high !== null && high < 0
        ? 'RL did worse'
        : 'the two cannot be told apart'
  return html`${
    gain === undefined
      ? nothing
      : html`<p>
          RL less continued supervision on the same demonstrations for the same time, paired by task:
          <b>${pointsInterval(gain)}</b>; ${verdict(gain)}.
        </p>`
  }${
    unseenParaphrases === undefined
      ? nothing
      : html`<p>
          On requests made of words that never occurred in training:
          <b>${percentInterval(unseenParaphrases.success)}</b> of ${unseenParaphrases.success.n} tasks.
        </p>`
  }`
}

/** The curves of RL, and of the supervised phases before it. */
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
