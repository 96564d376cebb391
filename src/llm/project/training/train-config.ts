import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined } from '../../../defined.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { sha256 } from '../../../runs/checksums.ts'
import { openRunFolder, refuseExistingRun, type TrainingEvent } from '../../../runs/run-folder.ts'
import type { PolicyPresetName } from '../../algorithm/policy-optimisation/presets.ts'
import type { AlgorithmDefinition } from '../../algorithm/define-algorithm.ts'
import { smallModelPlan } from '../../training/defaults.ts'
import { trainAgent } from '../../training/train-agent.ts'
import { type AgogeConfig, scorersOf, type ToolRules } from '../config.ts'
import type { EvaluatedModel } from '../evaluate.ts'
import { setupOf } from '../setup-models.ts'
import type { OpenedJudges } from '../judging/judges.ts'
import { withProject } from '../open-project.ts'
import { refuseGroups } from '../judging/score-trials.ts'
import { identityOf, resultFile, withStore } from '../evaluation-store.ts'
import type { EvaluationResult } from '../evaluation.ts'
import type { TrialRecord } from '../journal.ts'
import { type Running, startRunning } from '../running.ts'
import type { TrialSettings } from '../run-trial.ts'
import { measuring } from './measure-models.ts'
import { agentProgram, type ConfigTask, meanScore, toConfigTask } from './agent-program.ts'
import { watchSignal } from './signal-watch.ts'
import { splitTasks, type TaskSplit } from './split-tasks.ts'
import {
  asOpenedModel,
  openTrainable,
  type TrainableModel,
  type TrainableOptions,
} from './trainable-model.ts'
import { describeTraining, type TrainingForecast } from './training-text.ts'
import { warmStart, type WarmStartCounts } from './warm-start.ts'

/** Settings of `train` with a config. */
export interface TrainConfigOptions extends TrainableOptions {
  /** Where paths and packages of the config are looked up. Default: the current folder. */
  folder?: string
  /** The run folder. Default: a new one in `.agoge/runs` of `folder`. */
  out?: string
  /** Continues the run in `out` from its last checkpoint. Default: false. */
  resume?: boolean
  /** Of the order of the tasks and of sampling. Default: 0. */
  seed?: number
  /** Steps of reinforcement learning. Default: 60. */
  steps?: number
  /** Tasks of a step. Default: 8, or all if there are fewer. */
  groups?: number
  /** Episodes of a task in a step, which are compared with each other. Default: 8. */
  groupSize?: number
  /** Default: 3e-4. */
  learningRate?: number
  /** The name of a preset in `policyPresets`, or your own definition. Default: `grpo-damped`. */
  algorithm?: PolicyPresetName | AlgorithmDefinition
  /** Steps between validations, which choose the weights that are kept. Default: 10. */
  validateEvery?: number
  /**
   * SFT before reinforcement learning: `tasks` for the references and answers of the tasks for training, or the folder of an evaluation, or a
   * file of episodes, whose successful ones are used. Default: none.
   */
  demonstrations?: string
  /** Minutes until the whole run should be over: it then makes fewer steps. A warm start is never cut. Default: no limit. */
  minutes?: number
  /** Called with what may be called, before the first call. If it rejects, none is made. Default: nothing. */
  onPlan?: (plan: string, needsConsent: boolean) => Promise<void>
  /** The command line, for the record. Must not contain secrets. */
  command?: string
  signal?: AbortSignal
}

/** The models that the test tasks are tried with. */
export type ArmName = 'before' | 'prompt optimised' | 'trained'

/** What happens in a training with a config. */
export type TrainConfigEvent =
  | { type: 'split'; train: number; validation: number; test: number; isMarked: boolean }
  | { type: 'refused'; tasks: readonly { id: string; reason: string }[] }
  | { type: 'plan'; forecast: TrainingForecast; folder: string }
  | { type: 'demonstrations'; counts: WarmStartCounts }
  | { type: 'trial'; arm: ArmName; record: TrialRecord; done: number; total: number }
  | { type: 'training'; event: TrainingEvent }
  | { type: 'note'; text: string }
  | { type: 'result'; result: TrainConfigResult }

/** The result of a training with a config. */
export interface TrainConfigResult {
  /** The run folder, for `run(...)` in `models`. */
  folder: string
  /** Steps of reinforcement learning that were made. */
  steps: number
  /** The models on the test tasks, and their paired differences. */
  evaluation: EvaluationResult
}

/** A running training: its events, and its result. */
export type RunningTraining = Running<TrainConfigEvent, TrainConfigResult>

/**
 * Trains a model to be the agent of a config, and measures on test tasks that neither training nor selection saw how much better it became.
 * It starts at once; the events need not be read.
 *
 * The reward is the mean of the scores. Tools and environment act as in `evaluate`. A rollout in which a tool or a scorer failed is masked.
 *
 * @throws AgogeError (by `result` and by the iterator) for a config, tasks or models that cannot be used; `nothing-to-learn` if no group of
 *   the first steps has rollouts of different reward; and as `evaluate` and `trainAgent` do.
 * @example
 * const { evaluation, folder } = await trainConfig(config, { steps: 60 }).result
 */
export function trainConfig<Output, Tools extends ToolRules>(
  config: AgogeConfig<Output, Tools>,
  options: TrainConfigOptions = {},
): RunningTraining {
  return startRunning((emit) => work(config as unknown as AgogeConfig, options, emit))
}

async function work(
  config: AgogeConfig,
  options: TrainConfigOptions,
  emit: (event: TrainConfigEvent) => void,
): Promise<TrainConfigResult> {
  const started = performance.now()
  const { seed = 0, resume = false, signal, minutes } = options
  let forecast = ''
  // One question for all that may happen.
  const onPlan = async (plan: string, needsConsent: boolean): Promise<void> =>
    options.onPlan?.([plan, forecast].filter((text) => text !== '').join('\n'), needsConsent)
  return withProject(config, { ...options, onPlan, opensModels: false }, async (project) => {
    const { root, tasks: given, judges } = project
    const split = splitTasks(given)
    const path = openRunFolder(options.out === undefined ? { root } : { path: options.out }).path
    if (!resume) refuseExistingRun(path, 'the option resume: true')
    forecast = describeTraining(forecastOf(config, options, split)).join('\n')
    if (config.environment === undefined) await onPlan('', false)
    const onNote = (text: string): void => emit({ type: 'note', text })
    const model = await openTrainable(config, options, { root, seed, onNote, ...defined({ signal }) })
    const setup = setupOf(config, root)
    const arms: readonly EvaluatedModel[] = [
      asOpenedModel(model, 'before'),
      ...(setup === undefined ? [] : [{ ...asOpenedModel(model, 'prompt optimised'), setup }]),
      asOpenedModel(model, 'trained'),
    ]
    const identity = {
      ...identityOf(config, given, arms, judges.judges),
      training: settingsOf(config, options, model),
    }
    try {
      return await withStore({ out: join(path, 'evaluation'), resume }, identity, async (store) => {
        const refused = await project.prove()
        if (refused.length > 0) emit({ type: 'refused', tasks: refused })
        const usable = without(split, new Set(refused.map(({ id }) => id)))
        const { train, validation, test, isMarked } = usable
        emit({
          type: 'split',
          train: train.length,
          validation: validation.length,
          test: test.length,
          isMarked,
        })
        emit({ type: 'plan', forecast: forecastOf(config, options, usable), folder: path })
        const settings = await project.settings(store.journal, {
          config: budgetOfJudges(config, judges),
          names: arms.map(({ name }) => name),
        })
        refuseGroups(settings.scorers, 'a training')
        const measure = measuring({ config, test, arms, settings, store, emit })
        const before = await measure('before')
        if (setup !== undefined) await measure('prompt optimised')
        const left = timeLeft(minutes, started, before)
        const steps = await learn({ config, options, path, model, split: usable, settings, left, emit })
        await measure('trained')
        const evaluation = measure.result()
        store.writeResult(resultFile, evaluation)
        const result = { folder: path, steps, evaluation }
        emit({ type: 'result', result })
        return result
      })
    } finally {
      await model.backend.dispose?.()
    }
  })
}

/** The model in this process costs nothing, so only the calls of judges are limited. */
function budgetOfJudges(config: AgogeConfig, { judges }: OpenedJudges): AgogeConfig {
  const { budget, ...free } = config
  const dollars = budget?.dollars
  if (dollars !== undefined) return { ...free, budget: { dollars } }
  return judges.length === 0 || budget === undefined ? free : { ...free, budget }
}

/** What decides the result. A run that is resumed with other settings is refused. */
function settingsOf(
  { tools = {} }: AgogeConfig,
  options: TrainConfigOptions,
  { name }: TrainableModel,
): Record<string, unknown> {
  const {
    algorithm,
    lora,
    backend = 'local',
    seed,
    steps,
    groups,
    groupSize,
    learningRate,
    validateEvery,
  } = options
  const { demonstrations } = options
  return {
    model: name,
    // A server may move.
    backend: backend.replace(/:.*/, ''),
    ...defined({
      lora,
      seed,
      steps,
      groups,
      groupSize,
      learningRate,
      validateEvery,
      demonstrations,
    }),
    ...(typeof algorithm === 'string' && { algorithm }),
    tools: Object.entries(tools).map(([tool, { mode }]) => `${tool}: ${mode}`),
  }
}

/** The split without the tasks that cannot be used. */
function without({ isMarked, ...split }: TaskSplit, refused: ReadonlySet<string>): TaskSplit {
  const names = ['train', 'validation', 'test'] as const
  const kept = names.flatMap((name) =>
    split[name].filter(({ id }) => !refused.has(id)).map((task) => ({ ...task, split: name })),
  )
  return { ...splitTasks(kept), isMarked }
}

const defaultSteps = 60
/** Tasks of a validation at most. */
const mostValidated = 64

function forecastOf(config: AgogeConfig, options: TrainConfigOptions, split: TaskSplit): TrainingForecast {
  const { steps = defaultSteps, groupSize = 8, validateEvery = 10 } = options
  const { trials = 1, tools = {}, setup } = config
  const validated = Math.min(mostValidated, split.validation.length)
  return {
    steps,
    rollouts: steps * groupsOf(options, split) * groupSize,
    validations: (1 + Math.ceil(steps / validateEvery)) * validated,
    trials: (setup === undefined ? 2 : 3) * trials * split.test.length,
    tools,
  }
}

const groupsOf = ({ groups = 8 }: TrainConfigOptions, { train }: TaskSplit): number =>
  Math.min(groups, train.length)

/** Seconds that are left for training: the last evaluation takes about as long as the first. */
function timeLeft(
  minutes: number | undefined,
  started: number,
  evaluation: number,
): (() => number) | undefined {
  if (minutes === undefined) return undefined
  return () => minutes * 60 - (performance.now() - started) / 1000 - 1.2 * evaluation
}

interface Learning {
  config: AgogeConfig
  options: TrainConfigOptions
  path: string
  model: TrainableModel
  split: TaskSplit
  settings: TrialSettings
  left: (() => number) | undefined
  emit: (event: TrainConfigEvent) => void
}

/** Warm start and reinforcement learning. The backend ends with the trained weights. Returns the steps that were made. */
async function learn({
  config,
  options,
  path,
  model,
  split,
  settings,
  left,
  emit,
}: Learning): Promise<number> {
  const { seed = 0, resume = false, steps = defaultSteps, groupSize = 8, validateEvery = 10 } = options
  const { backend, tokenizer, format, window } = model
  const program = agentProgram(settings, () => backend.weightVersion)
  const validation = split.validation.slice(0, mostValidated).map(toConfigTask)
  const onEvent = (event: TrainingEvent): void => emit({ type: 'training', event })
  const common = {
    backend,
    tokenizer,
    format,
    window,
    program,
    seed,
    ...defined({ deadlineSeconds: config.trialSeconds, maxTokens: config.maxOutputTokens }),
  }
  if (options.demonstrations !== undefined)
    await warmStart(options.demonstrations, {
      backend,
      model: { backend, tokenizer, format, window },
      hasMuon: model.hasMuon,
      program,
      settings,
      train: split.train,
      validation,
      seed,
      out: join(path, 'warm-start'),
      root: resolve(options.folder ?? '.'),
      resume,
      onEvent,
      onCounts: (counts) => emit({ type: 'demonstrations', counts }),
      ...defined({ deadlineSeconds: config.trialSeconds, signal: options.signal }),
    })
  const watch = watchSignal(options.signal)
  const { learningRate: usualRate, final, warmup, beta2, clip } = smallModelPlan.reinforcement
  const { learningRate = usualRate, algorithm } = options
  try {
    const trained = await trainAgent<ConfigTask, Awaited<ReturnType<typeof program.run>>>({
      ...common,
      tasks: drawing(split.train.map(toConfigTask), groupsOf(options, split), seed),
      groupSize,
      steps,
      learningRate,
      ...defined({ final, warmup, beta2, clip, algorithm, secondsLeft: left, reference: model.reference }),
      reward: meanScore,
      validation: { tasks: validation, every: validateEvery },
      out: path,
      resume: resume && existsSync(join(path, 'config.json')),
      command: options.command ?? 'train()',
      config: {
        model: model.folder,
        commandLine: options.command ?? null,
        tasks: sha256(JSON.stringify(split)).slice(0, 16),
        scorers: Object.keys(scorersOf(config)),
      },
      signal: watch.signal,
      onEvent,
      onStep: watch.onStep,
    })
    return trained.steps.length
  } catch (error) {
    throw watch.reason() ?? error
  }
}

/** The tasks of each step: all of them in an order drawn by chance, then all again in another. */
function drawing(tasks: readonly ConfigTask[], count: number, seed: number): (step: number) => ConfigTask[] {
  const orders = new Map<number, ConfigTask[]>()
  const orderOf = (pass: number): ConfigTask[] => {
    const order = orders.get(pass) ?? createRandom(seed, 'tasks', pass).shuffle(tasks)
    orders.set(pass, order)
    return order
  }
  return (step) =>
    Array.from({ length: count }, (_, i) => {
      const at = step * count + i
      return orderOf(Math.floor(at / tasks.length))[at % tasks.length]
    })
}
