import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readChatModel } from '../agent/index.ts'
import { findPolicyPreset } from '../algorithm/index.ts'
import type { BatchSettings, PolicyPresetName } from '../algorithm/index.ts'
import { AgogeError } from '../error.ts'
import { baseModelFolder, requireModel } from '../language/index.ts'
import { planForWindow } from '../training/defaults.ts'
import { checkNewRun, openRunFolder, train } from '../training/index.ts'
import type { TrainingPlan } from '../training/index.ts'
import type { Console } from './console.ts'
import { openWorld, worldOptions } from './open-world.ts'
import type { WorldOptions } from './open-world.ts'
import { callForecast } from './planned-calls.ts'
import { baseTokens, runPretrain } from './pretrain.ts'
import { createProgress } from './progress.ts'
import { resultText } from './result-text.ts'
import { listRuns } from './runs.ts'
import { backendOf, backendSettings } from './train-backend.ts'
import type { BackendOptions } from './train-backend.ts'

export interface TrainCommand extends WorldOptions, BackendOptions {
  seed: number
  steps?: number
  tasks?: number
  compareSupervised?: boolean
  quick?: boolean
  algorithm?: string
  model?: string
  lora?: number
  fromScratch?: boolean
  out?: string
  resume?: string | true
  yes?: boolean
  /** As it was typed, for the record. */
  commandLine: string
}

/** What `config.json` keeps of a command, so that `--resume` needs nothing else. */
interface RunSettings extends WorldOptions, BackendOptions {
  seed: number
  compareSupervised: boolean
  model: string
  /** A preset; absent = the default of `train`. */
  algorithm?: string
  /** The rank, where an adapter is trained instead of the weights. */
  lora?: number
  plan: TrainingPlan
  commandLine: string
}

/** `agoge train`: opens the world, trains, prints what came of it. */
export async function runTrain(command: TrainCommand, terminal: Console): Promise<void> {
  const earlier = command.resume === undefined ? null : readRun(command.resume)
  if (earlier === null) checkNewRun(command.out)
  else refuseOther(command.algorithm, earlier.settings.algorithm)
  const preset = command.algorithm === undefined ? undefined : findPolicyPreset(command.algorithm)
  const named: WorldOptions & { seed: number } = earlier?.settings ?? command
  const base = earlier?.settings.model ?? (await findBaseModel(command, terminal))
  const chat = await readChatModel(base)
  const opened = await openWorld(
    named,
    { seed: named.seed, yes: command.yes === true || earlier !== null },
    terminal,
  )
  const progress = createProgress(terminal.progress)
  let folder: string | undefined
  let began = false
  try {
    const settings =
      earlier?.settings ??
      newSettings(
        command,
        base,
        withBatch(chat === undefined ? opened.plan : planForWindow(opened.plan, chat.window), preset?.batch),
      )
    folder = earlier?.folder ?? openRunFolder(command.out === undefined ? {} : { path: command.out }).path
    terminal.err(`run folder: ${folder}`)
    if (opened.calls !== undefined && earlier === null)
      terminal.err(callForecast(settings.plan, opened.calls))
    const { plan, seed, compareSupervised, commandLine, ...kept } = settings
    const summary = await train({
      command: commandLine,
      world: opened.world,
      tasks: opened.tasks,
      model: base,
      ...(settings.algorithm === undefined ? {} : { algorithm: settings.algorithm as PolicyPresetName }),
      ...(settings.lora === undefined ? {} : { trainable: { lora: { rank: settings.lora } } }),
      ...(settings.samplingWeights && { samplingWeights: settings.samplingWeights }),
      ...backendOf(settings, {
        loraRank: settings.lora,
        moved: command.tinkerUrl,
        terminal,
      }),
      out: folder,
      resume: earlier !== null,
      seed,
      plan,
      ...(opened.reward === undefined ? {} : { reward: opened.reward }),
      compareSupervised,
      config: { ...kept, commandLine },
      onEvent: (event) => {
        began = true
        progress.event(event)
      },
      signal: terminal.signal,
    })
    progress.close()
    terminal.out(resultText(summary))
    terminal.out(`\nreport: ${join(folder, 'report.html')}`)
  } catch (error) {
    progress.close()
    const hopeless = AgogeError.isInstance(error) && error.code === 'non-finite-loss'
    if (began && folder !== undefined && !hopeless) terminal.err(`go on with: agoge train --resume ${folder}`)
    throw error
  } finally {
    progress.close()
    await opened.world.close()
  }
}

/** Where the base model is; with `--from-scratch` it is made first, or gone on with where that was interrupted. */
async function findBaseModel({ model, fromScratch }: TrainCommand, terminal: Console): Promise<string> {
  if (fromScratch !== true) return resolve(requireModel(model ?? baseModelFolder))
  const folder = resolve(model ?? join('.agoge', 'models', 'base'))
  if (!existsSync(join(folder, 'model.safetensors'))) {
    const resume = existsSync(join(folder, 'checkpoints'))
    await runPretrain({ out: folder, seed: 1, tokens: baseTokens, resume }, terminal)
  }
  return folder
}

function newSettings(command: TrainCommand, model: string, plan: TrainingPlan): RunSettings {
  return {
    ...worldOptions(command),
    seed: command.seed,
    model,
    ...(command.algorithm === undefined ? {} : { algorithm: command.algorithm }),
    ...(command.lora === undefined ? {} : { lora: command.lora }),
    ...backendSettings(command),
    commandLine: command.commandLine,
    compareSupervised: command.compareSupervised === true,
    plan: adjust(plan, command),
  }
}

/** The plan with batches as the algorithm wants them. */
function withBatch(plan: TrainingPlan, batch: BatchSettings = {}): TrainingPlan {
  return { ...plan, reinforcement: { ...plan.reinforcement, ...batch } }
}

/** A run goes on with the algorithm that it was begun with. */
function refuseOther(given: string | undefined, before: string | undefined): void {
  if (given === undefined || given === (before ?? 'grpo')) return
  throw new AgogeError('A resumed run keeps the algorithm that it was begun with', {
    code: 'bad-option',
    given: `--algorithm ${given}`,
    expected: before ?? 'grpo',
    hint: 'Begin a new run for another algorithm',
  })
}

/** The plan with what the command line says about its size. */
function adjust(plan: TrainingPlan, { steps, tasks, quick = false }: TrainCommand): TrainingPlan {
  const test = Math.min(tasks ?? (quick ? 120 : Infinity), plan.tasks.test)
  const shorter = quick
    ? {
        warmStart: { ...plan.warmStart, epochs: Math.min(plan.warmStart.epochs, 4) },
        tasks: { validation: Math.min(48, plan.tasks.validation), test, unseenWording: 0 },
      }
    : { tasks: { ...plan.tasks, test } }
  const planned = quick ? Math.min(plan.reinforcement.steps, 16) : plan.reinforcement.steps
  return { ...plan, ...shorter, reinforcement: { ...plan.reinforcement, steps: steps ?? planned } }
}

/** The run to go on with: the folder named, or the one last worked on. */
function readRun(resume: string | true): { folder: string; settings: RunSettings } {
  const folder = resume === true ? listRuns()[0] : resume
  if (folder === undefined || !existsSync(join(folder, 'config.json'))) {
    throw new AgogeError('There is no run to go on with.', {
      code: 'no-run',
      given: folder ?? '.agoge/runs',
      expected: 'a run folder with a config.json',
      hint: 'Name it: agoge train --resume FOLDER',
    })
  }
  const file = join(folder, 'config.json')
  try {
    return { folder, settings: JSON.parse(readFileSync(file, 'utf8')) as RunSettings }
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON.`, {
      code: 'bad-run',
      given: file,
      expected: 'the file as it was written',
      cause,
    })
  }
}
