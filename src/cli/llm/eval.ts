import { defined } from '../../defined.ts'
import type { Episode } from '../../llm/episode/types.ts'
import { reasonsText, summariseEpisodes } from '../../llm/evaluation/episode-statistics.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import { modelsTable, evaluateModels } from '../../llm/training/evaluate-models.ts'
import type { ModelsReport } from '../../llm/training/evaluate-models.ts'
import { percent, pointsInterval } from '../../runs/report/format.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { type Console, table } from '../shared/console.ts'
import { findModel, isEndpoint, limitsFor, openModel } from './model-option.ts'
import type { ModelOptions, OpenedModel } from './model-option.ts'
import { openEnvironment, earlierCounts } from './open-environment.ts'
import type { OpenedNamed, EnvironmentOptions } from './open-environment.ts'
import { createProgress } from '../shared/progress.ts'
import { runOn } from '../shared/runs.ts'
import type { TrainedOn } from '../shared/runs.ts'

export interface EvalCommand extends EnvironmentOptions {
  model?: string[]
  tasks: number
  /** Seed of tasks and sampling. Default: the tasks of the model's run, or seed 0. */
  seed?: number
  temperature?: number
  constrained?: boolean
  samplingWeights?: SamplingWeights
  apiKeyEnv?: string
  timeout?: number
  threshold?: number
  json?: string
  yes?: boolean
}

/** Exit code if a model stays below `--threshold`. */
export const belowThresholdCode = 2

/** `agoge eval`: evaluates models on the same held-out tasks. Returns the exit code. */
export async function runEval(command: EvalCommand, terminal: Console): Promise<number> {
  const { seed, temperature, constrained, samplingWeights, apiKeyEnv, timeout } = command
  if (command.json !== undefined) checkFile(command.json)
  const runs = runsOn(command)
  const [run] = runs
  const wanted =
    run === undefined
      ? { train: 0, validation: 0, test: command.tasks, 'unseen-paraphrase': 0 }
      : // All that its training had: only so are the held-out tasks those that it never met.
        (run.taskCounts ?? earlierCounts)
  const taskSeed = command.seed ?? run?.seed ?? 0
  const opened = await openEnvironment(
    command,
    { seed: taskSeed, yes: command.yes === true, wanted },
    terminal,
  )
  for (const text of strangeTasks(runs, taskSeed, opened)) terminal.err(text)
  const models: OpenedModel[] = []
  const progress = createProgress(terminal.progress)
  try {
    const { limits, maxTokensPerTurn } = opened.plan
    const options: ModelOptions = {
      seed,
      temperature,
      onNotice: (text) => progress.line(text),
      maxTokensPerTurn,
      ...(samplingWeights && { samplingWeights }),
      ...defined({ constrained, apiKeyVariable: apiKeyEnv, timeoutSeconds: timeout }),
    }
    for (const name of command.model ?? [undefined]) models.push(await openModel(name, options, terminal))
    const { report, episodes } = await evaluateModels({
      models: distinct(models).map((model) => ({ ...model, limits: limitsFor(model, limits) })),
      environment: opened.environment,
      tasks: opened.heldOut('test', command.tasks),
      limits,
      signal: terminal.signal,
      onProgress: ({ model, done, total }) =>
        progress.event({ type: 'evaluation', stage: model, split: 'test', done, total }),
    })
    progress.close()
    // Shown before it is written, so that a full disk does not lose the result.
    terminal.out(evalText(report))
    if (command.json !== undefined) writeWhole(command.json, `${JSON.stringify(report, null, 2)}\n`)
    for (const { name } of report.models) reportMasked(name, episodes[name], terminal)
    return exitCode(report, command.threshold, terminal)
  } finally {
    progress.close()
    for (const model of models) await model.dispose()
    await opened.environment.close()
  }
}

/** The runs of the models on this very server. Other environments have the same tasks for every seed. */
function runsOn({ environment, model = [] }: EvalCommand): TrainedOn[] {
  if (!environment.startsWith('mcp:')) return []
  const names = model.length === 0 ? [findModel(undefined).named] : model
  return names.flatMap((name) => (isEndpoint(name) ? [] : (runOn(environment, name) ?? [])))
}

/** Warnings for runs whose held-out tasks differ from those of this evaluation. */
function strangeTasks(runs: readonly TrainedOn[], seed: number, { taskFingerprint }: OpenedNamed): string[] {
  const strange = runs.filter(
    (run) => run.seed !== seed || (run.taskFingerprint ?? taskFingerprint) !== taskFingerprint,
  )
  return strange.map(
    ({ folder, seed: own }) =>
      `these tasks are not those of ${folder} (seed ${own}${own === seed ? '; the server changed, or other tools are admitted' : ''}): it may have been trained on some of them`,
  )
}

/** Models with the same name at several addresses are shown as typed. */
function distinct(models: readonly OpenedModel[]): OpenedModel[] {
  const names = models.map(({ name }) => name)
  return models.map((model) =>
    names.filter((name) => name === model.name).length === 1 ? model : { ...model, name: model.given },
  )
}

function reportMasked(name: string, episodes: readonly Episode[], { err }: Console): void {
  const { masked, maskedReasons } = summariseEpisodes(episodes)
  if (masked === 0) return
  err(
    `${name}: ${masked} of ${episodes.length} episodes were masked and count nowhere: ${reasonsText(maskedReasons)}`,
  )
}

/** Formats the report: the table, then every paired difference. */
export function evalText(report: ModelsReport): string {
  const { header, rows } = modelsTable(report)
  const differences = report.differences.map(
    (difference) =>
      `${difference.a} less ${difference.b}, paired over ${difference.n} tasks: ${pointsInterval(difference)}`,
  )
  return [table(header, rows), ...differences].join('\n')
}

/** Exit code 1 if a model was not measured at all, 2 if one stays below the threshold. */
function exitCode({ models }: ModelsReport, threshold: number | undefined, { err }: Console): number {
  const unmeasured = models.filter(({ success }) => success.n === 0)
  for (const { name } of unmeasured) err(`${name}: no episode could be judged, so nothing was measured`)
  if (unmeasured.length > 0) return 1
  if (threshold === undefined) return 0
  const below = models.filter(({ success }) => success.mean < threshold)
  for (const { name, success } of below)
    err(`${name}: ${percent(success.mean)} is below the threshold of ${percent(threshold)}`)
  return below.length === 0 ? 0 : belowThresholdCode
}
