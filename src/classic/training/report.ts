import type { Machine, MetricsRecord } from '../../runs/run-folder.ts'
import { count, decimal, duration } from '../../runs/report/format.ts'
import {
  html,
  type Markup,
  nothing,
  lineChart,
  pointsOf,
  reportPage,
  settingsSection,
} from '../../runs/report/page.ts'
import { intervalText, type MeanEstimate } from '../../statistics/statistics.ts'
import type { ClassicSummary, SeedsSummary } from './types.ts'

/** One sentence about one run. */
export function resultLine({ environment, settings, steps, return: found }: ClassicSummary): string {
  return `${environment}${byAlgorithm(settings)}: mean return ${estimateText(found)} over ${found.n} episodes, after ${count(steps)} steps.`
}

/** One sentence about several seeds. */
export function seedsLine({ environment, settings, runs, return: found }: SeedsSummary): string {
  return `${environment}${byAlgorithm(settings)}: interquartile mean return ${estimateText(found)} over ${runs.length} seeds, after ${count(runs[0]?.steps ?? 0)} steps.`
}

/** `, ppo (cleanrl)`: the algorithm and its preset, if the settings of the run name them. */
function byAlgorithm({ algorithm, preset }: Readonly<Record<string, unknown>>): string {
  if (typeof algorithm !== 'string') return ''
  return typeof preset === 'string' ? `, ${algorithm} (${preset})` : `, ${algorithm}`
}

/** `487.2 (480.1 to 493.0)`: the mean with its 95% interval, or the reason why there is no interval. */
export function estimateText(estimate: MeanEstimate): string {
  return `${returnText(estimate.mean)} (${intervalText(estimate, returnText)})`
}

/** A return with the digits that matter. */
export function returnText(value: number): string {
  return value.toFixed(Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 3)
}

interface ArrayReportInput {
  summary: ClassicSummary
  metrics: readonly MetricsRecord[]
  config: Readonly<Record<string, unknown>>
}

/**
 * The HTML report of one run: result, curve of returns and metrics of the learner. The page loads nothing from the
 * network.
 */
export function renderArrayReport({ summary, metrics, config }: ArrayReportInput): string {
  const { evaluations, episodes, steps, seconds, evaluationSeconds } = summary
  return reportPage(
    resultLine(summary),
    html`${origin(summary, `seed ${summary.seed}`)}
      <p class="soft">
        ${count(steps)} steps in ${count(episodes)} episodes: ${duration(seconds)} of training
        (${count(steps / seconds)} steps/s), ${duration(evaluationSeconds)} of evaluation.
      </p>
      <h2>Evaluations of the greedy policy</h2>
      ${bestEvaluation(summary)}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>after steps</th>
              <th>mean return</th>
              <th>95% interval</th>
              <th>episodes</th>
              <th>mean length</th>
            </tr>
          </thead>
          <tbody>
            ${evaluations.map(
              ({ step, return: found, length }) =>
                html`<tr>
                  <td>${step}</td>
                  <td><b>${decimal(found.mean)}</b></td>
                  <td>${intervalText(found, decimal)}</td>
                  <td>${found.n}</td>
                  <td>${decimal(length)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${setsTable((summary.sets ?? []).map((found) => ({ ...found, of: `${found.return.n} episodes` })))}
      <h2>Curves</h2>
      ${curves(metrics)} ${settingsSection(config)}`,
  )
}

/** The HTML report of several seeds: the interquartile mean, and the result and curve of every seed. */
export function renderSeedsReport(
  summary: SeedsSummary,
  runs: readonly { seed: number; metrics: readonly MetricsRecord[] }[],
): string {
  return reportPage(
    seedsLine(summary),
    html`${origin(summary, `${summary.runs.length} seeds`)}
      <p class="soft">
        The interquartile mean leaves out the best and the worst quarter of the seeds; its interval is a
        stratified bootstrap (Agarwal et al. 2021).
      </p>
      <h2>Seeds</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>seed</th>
              <th>mean return</th>
              <th>95% interval over episodes</th>
              <th>training</th>
              <th>steps/s</th>
            </tr>
          </thead>
          <tbody>
            ${summary.runs.map(
              ({ seed, return: found, seconds, steps }) =>
                html`<tr>
                  <td>${seed}</td>
                  <td><b>${decimal(found.mean)}</b></td>
                  <td>${intervalText(found, decimal)}</td>
                  <td>${duration(seconds)}</td>
                  <td>${count(steps / seconds)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${setsTable((summary.sets ?? []).map((found) => ({ ...found, of: `${summary.runs.length} seeds` })))}
      <h2>Return of each seed</h2>
      <div class="charts">
        ${runs.map(({ seed, metrics }) => returnChart(`Return, seed ${seed}`, metrics))}
      </div>
      ${settingsSection(summary.settings)}`,
  )
}

/** Which evaluation was best, how that is decided, and where its checkpoint is. */
function bestEvaluation({ best }: ClassicSummary): Markup {
  if (best === undefined) return nothing
  return html`<p class="soft">
    The best evaluation (highest mean return, of equals the earliest) was after ${count(best.step)} steps:
    ${returnText(best.return)}.
    ${best.checkpoint === undefined ? nothing : html`Its checkpoint is <code>checkpoints/${best.checkpoint}</code>.`}
  </p>`
}

/** Contexts inside, between and outside the ranges of training. */
function setsTable(sets: readonly { set: string; return: MeanEstimate; of: string }[]): Markup {
  if (sets.length === 0) return nothing
  return html`<h2>Contexts</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>contexts</th>
            <th>mean return</th>
            <th>95% interval</th>
            <th>of</th>
          </tr>
        </thead>
        <tbody>
          ${sets.map(
            ({ set, return: found, of }) =>
              html`<tr>
                <td>${set}</td>
                <td><b>${decimal(found.mean)}</b></td>
                <td>${intervalText(found, decimal)}</td>
                <td>${of}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

function origin({ command, machine }: { command: string; machine: Machine }, which: string): Markup {
  return html`<p class="soft">
    <code>${command}</code>, ${which}, on ${machine.cpu} (${machine.cores} cores, ${machine.memoryGiB} GiB),
    Node ${machine.node}, ${machine.platform}
  </p>`
}

/** The return first, then all other recorded metrics. */
function curves(metrics: readonly MetricsRecord[]): Markup {
  const names = [...new Set(metrics.filter(isTraining).flatMap(({ metrics }) => Object.keys(metrics)))]
  const others = names.filter((name) => name !== 'return')
  return html`<div class="charts">
    ${returnChart('Return', metrics)}
    ${others.map((title) =>
      lineChart({ title, points: pointsOf(metrics.filter(isTraining), title), unit: 'number' }),
    )}
  </div>`
}

function returnChart(title: string, metrics: readonly MetricsRecord[]): Markup {
  const points = pointsOf(metrics.filter(isTraining), 'return')
  const marks = pointsOf(
    metrics.filter(({ phase }) => phase === 'evaluation'),
    'return',
  )
  if (points.length + marks.length === 0) return nothing
  return lineChart({ title, points, marks: { name: 'greedy', points: marks }, unit: 'number' })
}

function isTraining({ phase }: MetricsRecord): boolean {
  return phase === 'train'
}
