import { modelsTable, evaluateModels } from '../training/evaluate-models.ts'
import type { ModelsReport } from '../training/evaluate-models.ts'
import { percent, pointsInterval } from '../training/report/index.ts'
import { checkFile, writeWhole } from '../training/whole-file.ts'
import type { Console } from './console.ts'
import { openModel } from './model-option.ts'
import type { OpenedModel } from './model-option.ts'
import { openWorld } from './open-world.ts'
import type { WorldOptions } from './open-world.ts'
import { createProgress } from './progress.ts'
import { table } from './table.ts'

export interface EvalCommand extends WorldOptions {
  model?: string[]
  tasks: number
  seed: number
  temperature: number
  apiKeyEnv?: string
  threshold?: number
  json?: string
  yes?: boolean
}

/** Exit code where a model stays below `--threshold`. */
export const belowThresholdCode = 2

/** `agoge eval`: the same held-out tasks for each model; returns the exit code. */
export async function runEval(command: EvalCommand, terminal: Console): Promise<number> {
  const { seed, temperature, apiKeyEnv } = command
  if (command.json !== undefined) checkFile(command.json)
  const wanted = { train: 0, validation: 0, test: command.tasks, 'unseen-wording': 0 }
  const opened = await openWorld(command, { seed, yes: command.yes === true, wanted }, terminal)
  const models: OpenedModel[] = []
  const progress = createProgress(terminal.progress)
  try {
    const { limits, maxTokensPerTurn } = opened.plan
    const options = { seed, temperature, maxTokensPerTurn }
    for (const name of command.model ?? [undefined]) {
      models.push(
        await openModel(
          name,
          { ...options, ...(apiKeyEnv === undefined ? {} : { apiKeyVariable: apiKeyEnv }) },
          terminal,
        ),
      )
    }
    const { tokensPerTurn: _, totalTokens: __, ...remoteLimits } = limits
    const local = models.every(({ actor }) => actor.encode({ role: 'user', text: 'x' }).length > 0)
    const { report } = await evaluateModels({
      models,
      world: opened.world,
      tasks: opened.heldOut('test', command.tasks),
      // The window of the small model is no measure for others.
      limits: local ? limits : { ...remoteLimits, deadlineSeconds: Math.max(600, limits.deadlineSeconds) },
      signal: terminal.signal,
      onProgress: ({ model, done, total }) =>
        progress.event({ type: 'evaluation', stage: model, split: 'test', done, total }),
    })
    progress.close()
    // Shown before it is written: what was measured must not be lost with the disk.
    terminal.out(evalText(report))
    if (command.json !== undefined) writeWhole(command.json, `${JSON.stringify(report, null, 2)}\n`)
    return verdict(report, command.threshold, terminal)
  } finally {
    progress.close()
    for (const model of models) await model.dispose()
    await opened.world.close()
  }
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

function verdict({ models }: ModelsReport, threshold: number | undefined, { err }: Console): number {
  if (threshold === undefined) return 0
  const below = models.filter(({ success }) => !(success.mean >= threshold))
  for (const { name, success } of below)
    err(`${name}: ${percent(success.mean)} is below the threshold of ${percent(threshold)}`)
  return below.length === 0 ? 0 : belowThresholdCode
}
