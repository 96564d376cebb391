import { defined } from '../../defined.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { scoreGroups } from '../reward/reward.ts'
import type { Reward } from '../reward/reward.ts'
import type { Actor, Task, ToolEnvironment } from '../agent/types.ts'
import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import { compareSuccess, isJudged, summariseEpisodes } from '../evaluation/episode-statistics.ts'
import {
  type Estimate,
  meanInterval,
  type MeanEstimate,
  wilsonInterval,
} from '../../statistics/statistics.ts'
import type { EpisodeSummary } from '../evaluation/episode-statistics.ts'
import { evaluatePolicy } from '../rollout/collect.ts'

export interface ModelUnderTest {
  /** Name in reports; unique among the models. */
  name: string
  actor: Actor
  /** Default: those of the evaluation. */
  limits?: EpisodeLimits
}

export interface EvaluateModelsOptions<T extends Task> {
  models: readonly ModelUnderTest[]
  environment: ToolEnvironment<T>
  /** Every model plays each task once. Comparisons pair episodes by id, so ids must be unique. */
  tasks: readonly T[]
  limits: EpisodeLimits
  /**
   * Rewards as metrics, by name. A `GroupReward` receives the episodes of all models on one task, so that a judge can compare
   * them. Default: none.
   */
  scorers?: Readonly<Record<string, Reward>>
  /** Concurrent episodes. Default: 128. */
  wave?: number
  signal?: AbortSignal
  onProgress?: (progress: { model: string; done: number; total: number }) => void
}

/** The results of one model. `masked` counts infrastructure faults, which no rate includes. */
export interface ModelResult extends EpisodeSummary {
  name: string
  episodes: number
  /** Success rate on the tasks whose reference solution uses the tool. */
  tools: Record<string, Estimate>
  /** Mean over tasks of each reward, with a 95% interval. `n` is the number of tasks that could be judged. */
  scores?: Record<string, MeanEstimate>
  seconds: number
}

/** The success rate of `a` minus that of `b`, paired by task, with a 95% interval. `n` is the number of tasks. */
export type ModelDifference = MeanEstimate & { a: string; b: string }

/** The result of `agoge eval`, as its JSON output has it. */
export interface ModelsReport {
  schema: 1
  environment: string
  tasks: number
  models: ModelResult[]
  differences: ModelDifference[]
}

/**
 * Runs the same tasks with each model in turn. Reports success by kind of task and by tool with 95% intervals, masked episodes,
 * and all paired differences between models.
 *
 * @throws AgogeError if there is no task, or two models or two tasks have the same name.
 */
export async function evaluateModels<T extends Task>(
  options: EvaluateModelsOptions<T>,
): Promise<{ report: ModelsReport; episodes: Record<string, Episode[]> }> {
  const { models, environment, tasks, limits, signal, wave } = options
  refuseDuplicates(
    'model',
    models.map((model) => model.name),
  )
  refuseDuplicates(
    'task',
    tasks.map((task) => task.id),
  )
  const episodes: Record<string, Episode[]> = {}
  const results: ModelResult[] = []
  for (const { name, actor, limits: own = limits } of models) {
    const began = performance.now()
    const played = await evaluatePolicy({
      name: `eval/${name}`,
      tasks,
      actor,
      environment,
      limits: own,
      ...defined({ wave, signal }),
      onWave: (done) => options.onProgress?.({ model: name, done: done.length, total: tasks.length }),
    })
    episodes[name] = played
    results.push({
      name,
      episodes: played.length,
      ...summariseEpisodes(played),
      tools: successByTool(tasks, played),
      seconds: (performance.now() - began) / 1000,
    })
  }
  for (const [name, scorer] of Object.entries(options.scorers ?? {})) {
    const byTask = tasks.map((_, at) => models.map((model) => episodes[model.name][at]))
    const values = await scoreGroups(scorer, byTask, { name, ...defined({ signal }) })
    results.forEach((result, m) => {
      const judged = values.flatMap((row) => (row[m] === null ? [] : [row[m]]))
      result.scores = { ...result.scores, [name]: meanInterval(judged) }
    })
  }
  const differences = models.flatMap((b, at) =>
    models.slice(at + 1).map((a) => ({
      a: a.name,
      b: b.name,
      ...compareSuccess(episodes[a.name], episodes[b.name]),
    })),
  )
  return {
    report: { schema: 1, environment: environment.name, tasks: tasks.length, models: results, differences },
    episodes,
  }
}

/** The report as a table: one row per kind of task and tool, one column per model. */
export function modelsTable(report: ModelsReport): { header: string[]; rows: string[][] } {
  const percent = (share: number): string => `${(100 * share).toFixed(0)}%`
  const cell = (estimate: Estimate | undefined): string =>
    estimate === undefined || estimate.n === 0
      ? '-'
      : `${percent(estimate.mean)} [${percent(estimate.low)}, ${percent(estimate.high)}]`
  const names = (pick: (model: ModelResult) => Record<string, unknown>): string[] => [
    ...new Set(report.models.flatMap((model) => Object.keys(pick(model)))),
  ]
  const row = (label: string, show: (model: ModelResult) => string): string[] => [
    label,
    ...report.models.map(show),
  ]
  return {
    header: [report.environment, ...report.models.map((model) => model.name)],
    rows: [
      row('success', (model) => cell(model.success)),
      ...names((model) => model.kindEstimates).map((name) =>
        row(name, (model) => cell(model.kindEstimates[name])),
      ),
      ...names((model) => model.tools).map((name) => row(`tool ${name}`, (model) => cell(model.tools[name]))),
      ...names((model) => model.scores ?? {}).map((name) =>
        row(name, (model) => meanText(model.scores?.[name])),
      ),
      row('calls', (model) => model.calls.toFixed(2)),
      row('invalid calls', (model) => percent(model.invalidCalls)),
      row('judged', (model) => String(model.success.n)),
      row('masked', (model) => String(model.masked)),
    ],
  }
}

function meanText(estimate: MeanEstimate | undefined): string {
  if (estimate === undefined || estimate.n === 0) return '-'
  const { mean, low, high } = estimate
  const interval = low === null ? '' : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`
  return `${mean.toFixed(2)}${interval}`
}

/** The tools that a task needs come from its `context.tools`. Without it there is no table by tool. */
function successByTool(tasks: readonly Task[], episodes: readonly Episode[]): Record<string, Estimate> {
  const tools = new Map(tasks.map((task) => [task.id, task.context['tools']]))
  const counts = new Map<string, { successes: number; trials: number }>()
  for (const episode of episodes.filter(isJudged)) {
    const used = tools.get(episode.task)
    if (!Array.isArray(used)) continue
    for (const tool of new Set(used.map(String))) {
      const count = counts.get(tool) ?? { successes: 0, trials: 0 }
      counts.set(tool, { successes: count.successes + Number(episode.success), trials: count.trials + 1 })
    }
  }
  return Object.fromEntries(
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tool, count]) => [tool, wilsonInterval(count.successes, count.trials)]),
  )
}

function refuseDuplicates(what: 'model' | 'task', names: readonly string[]): void {
  if (names.length === 0) {
    throw new AgogeError(`there is no ${what} to evaluate`, {
      code: what === 'model' ? 'no-model' : 'no-tasks',
      expected: `at least one ${what}`,
    })
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw new AgogeError(`two ${what}s are called "${twice}"`, {
    code: `duplicate-${what}`,
    given: twice,
    expected: `${what}s with different names`,
  })
}
