import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { readChatModel } from '../../llm/agent/chat-format/open-format.ts'
import { findPolicyPreset } from '../../llm/algorithm/policy-optimisation/presets.ts'
import type { BatchSettings } from '../../llm/algorithm/types.ts'
import type { PolicyPresetName } from '../../llm/algorithm/policy-optimisation/presets.ts'
import { AgogeError } from '../../error.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { requireModel, requireTokenizer } from '../../llm/backend/base-model.ts'
import { planForLora, planForWindow } from '../../llm/training/defaults.ts'
import { checkNewRun, openRunFolder } from '../../runs/run-folder.ts'
import { train } from '../../llm/training/train.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import type { Console } from '../shared/console.ts'
import type { TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import {
  earlierCounts,
  environmentOptions,
  openEnvironment,
  quickCounts,
  trainingCounts,
} from './open-environment.ts'
import type { OpenedNamed, EnvironmentOptions } from './open-environment.ts'
import { callForecast, resultText } from './train-text.ts'
import { baseTokens, runPretrain } from './pretrain.ts'
import { isMethod, trainingMethods } from '../../llm/training/method-list.ts'
import type { MethodDefinition, MethodName } from '../../llm/training/method-list.ts'
import { findModel } from './model-option.ts'
import { createProgress } from '../shared/progress.ts'
import { findRewardModel, openRewardModel } from './reward-model-option.ts'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { refuseChanges } from '../shared/runs.ts'
import type { TypedBeside } from '../shared/runs.ts'
import { readRun, backendOf, backendSettings, planForBackend } from './run-settings.ts'
import type { RunSettings, BackendOptions } from './run-settings.ts'

export interface TrainCommand extends EnvironmentOptions, BackendOptions {
  seed: number
  steps?: number
  tasks?: number
  compareSupervised?: boolean
  quick?: boolean
  /** Minutes within which the run should be over. RL makes fewer steps for it. */
  timeLimit?: number
  algorithm?: string
  maxStaleness?: number
  overlap?: boolean
  /** For `distillation`: a run or model folder. */
  teacher?: string
  /** A run of `train-offline --method reward-model`. Its scores are the reward. */
  rewardModel?: string
  model?: string
  lora?: number
  fromScratch?: boolean
  out?: string
  resume?: string | true
  yes?: boolean
  /** As typed, for the record. */
  commandLine: string
  /** The typed options, without defaults. */
  beside: TypedBeside
}

/** Options that do not change a resumed run. */
const changeNothing = ['yes', 'tinkerUrl', 'timeLimit']

/** `agoge train`: opens the environment, trains, and prints the result. */
export async function runTrain(command: TrainCommand, terminal: Console): Promise<void> {
  const secondsLeft = countdown(command.timeLimit)
  const earlier = command.resume === undefined ? null : readRun(command.resume)
  if (earlier === null) checkNewRun(command.out)
  else refuseChanges(earlier.folder, command.beside, changeNothing)
  requireStaleness(command)
  const batch = batchOf(command)
  const judgedBy =
    earlier?.settings.rewardModel ?? (command.rewardModel && findRewardModel(command.rewardModel))
  const named: EnvironmentOptions & { seed: number } = earlier?.settings ?? command
  const base = earlier?.settings.model ?? (await findBaseModel(command, terminal))
  const chat = await readChatModel(base)
  const ofQuick = command.quick === true ? quickCounts(command.tasks ?? quick.test) : undefined
  const taskCounts =
    earlier === null ? (ofQuick ?? trainingCounts) : (earlier.settings.taskCounts ?? earlierCounts)
  const opened = await openEnvironment(
    named,
    {
      seed: named.seed,
      yes: command.yes === true,
      agreed: earlier?.settings.agreement,
      ...defined({ wanted: taskCounts }),
    },
    terminal,
  )
  const learnt = judgedBy === undefined ? undefined : await openRewardModel(judgedBy)
  const reward = learnt?.reward ?? opened.reward
  const progress = createProgress(terminal.progress)
  let folder: string | undefined
  let began = false
  try {
    const settings =
      earlier?.settings ??
      newSettings(
        command,
        base,
        withLora(
          await planForBackend(
            withBatch(chat === undefined ? opened.plan : planForWindow(opened.plan, chat.window), batch),
            backendSettings(command),
            terminal,
          ),
          command,
        ),
        opened,
        taskCounts,
      )
    if (earlier !== null) refuseOtherTasks(earlier.settings, opened)
    folder = earlier?.folder ?? openRunFolder(command.out === undefined ? {} : { path: command.out }).path
    terminal.err(`run folder: ${folder}`)
    if (opened.calls !== undefined && earlier === null)
      terminal.err(callForecast(settings.plan, opened.calls))
    const { plan, seed, compareSupervised, commandLine, ...kept } = settings
    const summary = await train({
      command: commandLine,
      environment: opened.environment,
      tasks: opened.tasks,
      model: base,
      ...(settings.algorithm === undefined
        ? {}
        : { algorithm: settings.algorithm as PolicyPresetName | MethodName }),
      ...defined({ teacher: settings.teacher }),
      ...(settings.lora === undefined ? {} : { trainable: { lora: { rank: settings.lora } } }),
      ...(settings.samplingWeights && { samplingWeights: settings.samplingWeights }),
      ...backendOf(settings, {
        model: base,
        loraRank: settings.lora,
        moved: command.tinkerUrl,
        terminal,
      }),
      out: folder,
      resume: earlier !== null,
      seed,
      plan,
      ...defined({ reward }),
      compareSupervised,
      ...defined({ secondsLeft }),
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
    if (began && folder !== undefined && !hopeless) terminal.err(`to resume: agoge train --resume ${folder}`)
    throw error
  } finally {
    progress.close()
    await learnt?.dispose()
    await opened.environment.close()
  }
}

/** Seconds until so many minutes from now are over; undefined without a limit. */
function countdown(minutes: number | undefined): (() => number) | undefined {
  if (minutes === undefined) return undefined
  const end = performance.now() + minutes * 60_000
  return () => (end - performance.now()) / 1000
}

/**
 * The batches of the algorithm.
 *
 * @throws AgogeError for an unknown algorithm, or one whose requirements are missing.
 */
function batchOf({ algorithm, teacher, lora, backend }: TrainCommand): BatchSettings | undefined {
  const needsTeacher = isMethod(algorithm) && 'needsTeacher' in trainingMethods[algorithm]
  if (needsTeacher !== (teacher !== undefined))
    throw new AgogeError(
      needsTeacher ? `--algorithm ${algorithm} needs a teacher` : '--teacher is of --algorithm distillation',
      {
        code: 'bad-option',
        given: needsTeacher ? 'no --teacher' : `--teacher ${teacher} without it`,
        expected: '--algorithm distillation --teacher RUN: an earlier run, or the folder of a model',
      },
    )
  if (teacher !== undefined) requireModel(findModel(teacher).folder)
  const remote = backend !== undefined && backend !== 'local'
  if ((algorithm === 'ppo' || algorithm === 'archer') && (remote || lora !== undefined))
    throw new AgogeError(`--algorithm ${algorithm} trains a critic from all weights of the policy`, {
      code: 'bad-option',
      given: remote ? `--backend ${backend}` : `--lora ${lora}`,
      expected: 'all weights, in this process',
    })
  if (algorithm === undefined) return undefined
  return isMethod(algorithm)
    ? (trainingMethods[algorithm] as MethodDefinition).batch
    : findPolicyPreset(algorithm, Object.keys(trainingMethods)).batch
}

/** Asynchronous sampling needs an algorithm that accepts old weights. */
function requireStaleness({ overlap = false, maxStaleness = 0 }: TrainCommand): void {
  if (!overlap || maxStaleness > 0) return
  throw new AgogeError('--overlap needs batches that may be stale', {
    code: 'bad-option',
    given: `--overlap --max-staleness ${maxStaleness}`,
    expected: '--overlap --max-staleness 1, or a larger number',
    hint: '1 keeps sampling and training busy as long as both take about the same time',
  })
}

/**
 * The folder of the base model. With `--from-scratch` the base model is trained first, in a folder of its own. A model
 * trained there earlier is used again, with a notice; an interrupted training is continued.
 */
async function findBaseModel(
  { model, fromScratch, backend }: TrainCommand,
  terminal: Console,
): Promise<string> {
  // Only its tokenizer is needed here: the weights are on the server.
  if (fromScratch !== true && backend === 'tinker')
    return resolve(dirname(requireTokenizer(model ?? baseModelFolder)))
  if (fromScratch !== true) return resolve(requireModel(model ?? baseModelFolder))
  const folder = resolve('.agoge', 'models', 'base')
  if (model !== undefined)
    throw new AgogeError('--from-scratch makes the base model, and --model names one that is there', {
      code: 'bad-option',
      given: `--from-scratch --model ${model}`,
      expected: 'one of the two',
      hint: `To have it in a folder of your choice: agoge pretrain --out ${model}, then agoge train --model ${model}`,
    })
  if (existsSync(join(folder, 'model.safetensors'))) {
    terminal.err(
      `using ${folder}, made earlier by agoge train --from-scratch; remove that folder to have it made anew`,
    )
    return folder
  }
  const resume = existsSync(join(folder, 'checkpoints'))
  await runPretrain({ out: folder, seed: 1, tokens: baseTokens, resume }, terminal)
  return folder
}

/** A resumed run reaches the same weights only on the tasks it started with. */
function refuseOtherTasks(
  { environment, environmentFile, taskFingerprint }: RunSettings,
  opened: OpenedNamed,
): void {
  if (taskFingerprint === undefined || taskFingerprint === opened.taskFingerprint) return
  throw new AgogeError(`The tasks that ${environment} gives now are not those that this run was begun with`, {
    code: 'resume-mismatch',
    given: `tasks ${opened.taskFingerprint}`,
    expected: `tasks ${taskFingerprint}`,
    hint: `${environmentFile ?? 'The server, its version or its data'} changed: put back what it was, or begin a new run`,
  })
}

function newSettings(
  command: TrainCommand,
  model: string,
  plan: TrainingPlan,
  { agreement, taskFingerprint, environment, calls }: OpenedNamed,
  taskCounts: TaskCounts | undefined,
): RunSettings {
  return {
    ...environmentOptions(command),
    ...(isEnvironmentFile(command.environment) && {
      environment: environment.name,
      environmentFile: resolve(command.environment),
    }),
    seed: command.seed,
    model,
    ...defined({ algorithm: command.algorithm }),
    ...(command.teacher === undefined ? {} : { teacher: resolve(findModel(command.teacher).folder) }),
    ...(command.rewardModel === undefined ? {} : { rewardModel: findRewardModel(command.rewardModel) }),
    ...defined({ lora: command.lora }),
    ...backendSettings(command),
    ...defined({ agreement, taskFingerprint }),
    // These counts decide which tasks a server's run has. Other environments make tasks one by one.
    ...(calls === undefined || taskCounts === undefined ? {} : { taskCounts }),
    commandLine: command.commandLine,
    compareSupervised: command.compareSupervised === true,
    plan: adjustPlan(plan, command),
  }
}

function withLora(plan: TrainingPlan, { lora }: TrainCommand): TrainingPlan {
  return lora === undefined ? plan : planForLora(plan)
}

/** The plan with the batches of the algorithm. */
function withBatch(plan: TrainingPlan, batch: BatchSettings = {}): TrainingPlan {
  return { ...plan, reinforcement: { ...plan.reinforcement, ...batch } }
}

/**
 * Upper limits of `--quick`: about a minute on two idle cores, and some 2,000 tool calls. On a slow server the calls
 * decide the time.
 */
const quick = { demonstrations: 320, steps: 8, groups: 8, validation: 24, test: 60 }

/** The plan with the size and batches from the command line. */
export function adjustPlan(
  plan: TrainingPlan,
  {
    steps,
    tasks,
    quick: short = false,
    maxStaleness,
    overlap,
  }: Pick<TrainCommand, 'steps' | 'tasks' | 'quick' | 'maxStaleness' | 'overlap'>,
): TrainingPlan {
  const base = short ? quickPlan(plan) : plan
  const batches = {
    ...defined({ maxStaleness, overlap }),
  }
  return {
    ...base,
    tasks: { ...base.tasks, test: Math.min(tasks ?? base.tasks.test, plan.tasks.test) },
    reinforcement: { ...base.reinforcement, ...batches, steps: steps ?? base.reinforcement.steps },
  }
}

function quickPlan(plan: TrainingPlan): TrainingPlan {
  const { demonstrations, reinforcement, tasks } = plan
  const shown = Object.values(demonstrations).reduce((sum, count) => sum + count, 0)
  const share = Math.min(1, quick.demonstrations / shown)
  return {
    ...plan,
    demonstrations: Object.fromEntries(
      Object.entries(demonstrations).map(([kind, count]) => [kind, Math.ceil(count * share)]),
    ),
    reinforcement: {
      ...reinforcement,
      steps: Math.min(quick.steps, reinforcement.steps),
      groups: Math.min(quick.groups, reinforcement.groups),
    },
    tasks: {
      validation: Math.min(quick.validation, tasks.validation),
      test: Math.min(quick.test, tasks.test),
      unseenParaphrases: 0,
    },
  }
}
