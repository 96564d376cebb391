import type { Episode } from '../episode/index.ts'
import { isJudged } from '../evaluation/index.ts'
import type { SamplingWeights } from '../language/index.ts'
import { modelsTable, evaluateModels } from '../training/evaluate-models.ts'
import type { ModelsReport } from '../training/evaluate-models.ts'
import { percent, pointsInterval } from '../training/report/index.ts'
import { checkFile, writeWhole } from '../training/whole-file.ts'
import type { Console } from './console.ts'
import { limitsFor, openModel } from './model-option.ts'
import type { ModelOptions, OpenedModel } from './model-option.ts'
import { openWorld } from './open-world.ts'
import type { WorldOptions } from './open-world.ts'
import { createProgress } from './progress.ts'
import { table } from './table.ts'

export interface EvalCommand extends WorldOptions {
  model?: string[]
  tasks: number
  seed: number
  temperature: number
  constrained?: boolean
  samplingWeights?: SamplingWeights
  apiKeyEnv?: string
  timeout?: number
  threshold?: number
  json?: string
  yes?: boolean
}

/** Exit code where a model stays below `--threshold`. */
export const belowThresholdCode = 2

/** `agoge eval`: the same held-out tasks for each model; returns the exit code. */
export async function runEval(command: EvalCommand, terminal: Console): Promise<number> {
  const { seed, temperature, constrained, samplingWeights, apiKeyEnv, timeout } = command
  if (command.json !== undefined) checkFile(command.json)
  const wanted = { train: 0, validation: 0, test: command.tasks, 'unseen-wording': 0 }
  const opened = await openWorld(command, { seed, yes: command.yes === true, wanted }, terminal)
  const models: OpenedModel[] = []
  const progress = createProgress(terminal.progress)
  try {
    const { limits, maxTokensPerTurn } = opened.plan
    const options: ModelOptions = {
      seed,
      temperature,
      maxTokensPerTurn,
      ...(samplingWeights && { samplingWeights }),
      ...(constrained === undefined ? {} : { constrained }),
      ...(apiKeyEnv === undefined ? {} : { apiKeyVariable: apiKeyEnv }),
      ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
    }
    for (const name of command.model ?? [undefined]) models.push(await openModel(name, options, terminal))
    const { report, episodes } = await evaluateModels({
      models: distinct(models).map((model) => ({ ...model, limits: limitsFor(model, limits) })),
      world: opened.world,
      tasks: opened.heldOut('test', command.tasks),
      limits,
      signal: terminal.signal,
      onProgress: ({ model, done, total }) =>
        progress.event({ type: 'evaluation', stage: model, split: 'test', done, total }),
    })
    progress.close()
    // Shown before it is written: what was measured must not be lost with the disk.
    terminal.out(evalText(report))
    if (command.json !== undefined) writeWhole(command.json, `${JSON.stringify(report, null, 2)}\n`)
    for (const { name } of report.models) tellMasked(name, episodes[name], terminal)
    return verdict(report, command.threshold, terminal)
  } finally {
    progress.close()
    for (const model of models) await model.dispose()
    await opened.world.close()
  }
}

/** Models of one name at several addresses are called by what was typed. */
function distinct(models: readonly OpenedModel[]): OpenedModel[] {
  const names = models.map(({ name }) => name)
  return models.map((model) =>
    names.filter((name) => name === model.name).length === 1 ? model : { ...model, name: model.given },
  )
}

function tellMasked(name: string, episodes: readonly Episode[], { err }: Console): void {
  const masked = episodes.filter((episode) => !isJudged(episode))
  if (masked.length === 0) return
  const reasons = new Map<string, number>()
  for (const { error = 'for an unknown reason' } of masked) reasons.set(error, (reasons.get(error) ?? 0) + 1)
  const [[reason, count]] = [...reasons].sort(([, a], [, b]) => b - a)
  const share = reasons.size === 1 ? '' : `, ${count} of them so`
  err(
    `${name}: ${masked.length} of ${episodes.length} episodes were masked and count nowhere${share}: ${reason}`,
  )
}

/** The report as text: the table, then every paired difference. */
export function evalText(report: ModelsReport): string {
  const { header, rows } = modelsTable(report)
  const differences = report.differences.map(
    (difference) =>
      `${difference.a} less ${difference.b}, paired over ${difference.n} tasks: ${pointsInterval(difference)}`,
  )
  return [table(header, rows), ...differences].join('\n')
}

/** Code 1 where a model was not measured at all, 2 where one stays below the threshold. */
function verdict({ models }: ModelsReport, threshold: number | undefined, { err }: Console): number {
  const unmeasured = models.filter(({ success }) => success.n === 0)
  for (const { name } of unmeasured) err(`${name}: no episode could be judged, so nothing was measured`)
  if (unmeasured.length > 0) return 1
  if (threshold === undefined) return 0
  const below = models.filter(({ success }) => success.mean < threshold)
  for (const { name, success } of below)
    err(`${name}: ${percent(success.mean)} is below the threshold of ${percent(threshold)}`)
  return below.length === 0 ? 0 : belowThresholdCode
}
