import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { confirmPlan } from '../../llm/environment/mcp/plan.ts'
import type { PolicyPresetName } from '../../llm/algorithm/policy-optimisation/presets.ts'
import { findPolicyPreset } from '../../llm/algorithm/policy-optimisation/presets.ts'
import { evaluationNotes, evaluationTable } from '../../llm/project/evaluation-text.ts'
import {
  trainConfig,
  type TrainConfigEvent,
  type TrainConfigOptions,
} from '../../llm/project/training/train-config.ts'
import { leftOut } from '../../llm/project/training/warm-start.ts'
import { describeGain } from '../../llm/project/training/training-text.ts'
import { checkNewRun, openRunFolder } from '../../runs/run-folder.ts'
import { readForeignObject } from '../../untrusted/foreign-file.ts'
import { visibleBlock, visibleLine } from '../../untrusted/visible-text.ts'
import { type Console, table } from '../shared/console.ts'
import { createProgress } from '../shared/progress.ts'
import { agentRunFile, refuseChanges, type TypedBeside } from '../shared/runs.ts'
import { readConfig } from './eval-agent.ts'
import { type BackendOptions, backendSettings } from './run-settings.ts'

export interface TrainAgentCommand extends BackendOptions {
  /** The file of the config. */
  config?: string
  /** The run that is resumed. */
  earlier?: string
  seed: number
  steps?: number
  groups?: number
  groupSize?: number
  learningRate?: number
  algorithm?: string
  model?: string
  lora?: number
  demonstrations?: string
  trials?: number
  timeLimit?: number
  out?: string
  yes?: boolean
  commandLine: string
  beside: TypedBeside
}

/** How a run was begun. */
interface BegunWith {
  /** Absolute path of the config. */
  config: string
  options: TrainConfigOptions
  trials?: number
  commandLine: string
}

/** Options that do not change a resumed run. */
const changeNothing = ['yes', 'tinkerUrl', 'timeLimit']

/** `agoge train` with a config: trains the model of the user's own agent, and prints what it is worth on held-out tasks. */
export async function runTrainAgent(command: TrainAgentCommand, terminal: Console): Promise<void> {
  const { earlier } = command
  if (earlier === undefined) checkNewRun(command.out)
  else refuseChanges(earlier, command.beside, changeNothing)
  const begun = earlier === undefined ? begin(command) : readBegun(earlier)
  const { trials } = begun
  const config = { ...(await readConfig(begun.config)), ...defined({ trials }) }
  const folder = dirname(begun.config)
  const run = openRunFolder(
    earlier !== undefined ? { path: earlier } : command.out === undefined ? {} : { path: command.out },
  )
  if (earlier === undefined) run.write(agentRunFile, `${JSON.stringify({ schema: 1, ...begun }, null, 2)}\n`)
  terminal.err(`run folder: ${run.path}`)
  const progress = createProgress(terminal.progress)
  try {
    const running = trainConfig(config, {
      ...begun.options,
      ...movedTo(command, begun.options),
      folder,
      out: run.path,
      resume: earlier !== undefined,
      command: begun.commandLine,
      ...defined({ minutes: command.timeLimit }),
      async onPlan(plan, needsConsent) {
        if (needsConsent && command.yes !== true) await confirmPlan(plan, { signal: terminal.signal })
        else terminal.err(plan)
      },
      signal: terminal.signal,
    })
    for await (const event of running) showEvent(event, progress)
    progress.close()
    const { evaluation } = await running.result
    const { header, rows } = evaluationTable(evaluation)
    terminal.out(
      [
        table(header, rows),
        '',
        ...evaluationNotes(evaluation),
        describeGain(evaluation),
        `in the config: models: [run('${nameFor(run.path, folder)}')]`,
      ].join('\n'),
    )
  } catch (error) {
    if (terminal.signal.aborted) terminal.err(`to continue: agoge train --resume ${run.path}`)
    throw error
  } finally {
    progress.close()
  }
}

function begin(command: TrainAgentCommand): BegunWith {
  const { seed, steps, groups, groupSize, learningRate, algorithm, model, lora, demonstrations, trials } =
    command
  if (algorithm !== undefined) findPolicyPreset(algorithm)
  const { backend, tinkerModel } = backendOption(command)
  return {
    config: resolve(command.config ?? ''),
    options: {
      seed,
      ...defined({
        steps,
        groups,
        groupSize,
        learningRate,
        model: fromHere(model),
        lora,
        demonstrations: fromHere(demonstrations),
        backend,
        tinkerModel,
      }),
      ...(algorithm !== undefined && { algorithm: algorithm as PolicyPresetName }),
    },
    ...defined({ trials }),
    commandLine: command.commandLine,
  }
}

/** Paths of the command line are those of the current folder; names of runs and models are not paths. */
const fromHere = (given: string | undefined): string | undefined =>
  given !== undefined && existsSync(given) ? resolve(given) : given

/** `tinker:URL` is `tinker` with a `--tinker-url`. */
function backendOption({
  backend,
  tinkerUrl,
  tinkerModel,
}: BackendOptions): Pick<TrainConfigOptions, 'backend' | 'tinkerModel'> {
  const [, url] = /^tinker:(.+)$/.exec(backend ?? '') ?? []
  const settings = backendSettings({
    ...defined({ tinkerModel }),
    ...defined({ backend: url === undefined ? backend : 'tinker', tinkerUrl: url ?? tinkerUrl }),
  })
  if (settings.backend !== 'tinker') return {}
  return { backend: `tinker:${settings.tinkerUrl}`, ...defined({ tinkerModel }) }
}

/** The new address of a server that has moved. */
function movedTo(
  { earlier, tinkerUrl }: TrainAgentCommand,
  { backend }: TrainConfigOptions,
): Pick<TrainConfigOptions, 'backend'> {
  if (earlier === undefined || tinkerUrl === undefined || backend === undefined) return {}
  return backendOption({ backend: 'tinker', tinkerUrl })
}

function readBegun(folder: string): BegunWith {
  const file = join(folder, agentRunFile)
  const found = readForeignObject(file, 'bad-run') as unknown as Partial<BegunWith>
  const { config, options, commandLine } = found
  const isWhole = typeof options === 'object' && options !== null && typeof commandLine === 'string'
  if (typeof config === 'string' && isWhole) return found as BegunWith
  throw new AgogeError(`${file} does not say how the run was begun`, {
    code: 'bad-run',
    given: Object.keys(found).join(', '),
    expected: 'the file as it was written',
  })
}

/** As `run(...)` finds it: runs in `.agoge/runs` beside the config by name, others by their path. */
function nameFor(path: string, folder: string): string {
  const isBeside = resolve(folder, '.agoge', 'runs') === dirname(path)
  return isBeside ? basename(path) : relative(folder, path).replaceAll('\\', '/')
}

function showEvent(event: TrainConfigEvent, progress: ReturnType<typeof createProgress>): void {
  if (event.type === 'split') {
    const { train, validation, test, isMarked } = event
    const how = isMarked ? '' : ', by a hash of their ids (no task is marked with a split)'
    progress.line(`tasks: ${train} for training, ${validation} for validation, ${test} for the test${how}`)
  } else if (event.type === 'refused')
    for (const { id, reason } of event.tasks)
      progress.line(`not usable: ${visibleLine(id, 128)}: ${visibleBlock(reason, '    ')}`)
  else if (event.type === 'demonstrations') {
    progress.line(`demonstrations: ${event.counts.used}; left out: ${leftOut(event.counts)}`)
  } else if (event.type === 'trial') {
    const { arm: stage, done, total } = event
    progress.event({ type: 'evaluation', stage, split: 'trials', done, total })
  } else if (event.type === 'training') progress.event(event.event)
  else if (event.type === 'note') progress.line(event.text)
}
