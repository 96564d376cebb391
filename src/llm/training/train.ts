import { readChatModel } from '../agent/chat-format/index.ts'
import type { ChatModel } from '../agent/chat-format/index.ts'
import type { Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { AlgorithmDefinition } from '../algorithm/define-algorithm.ts'
import type { Algorithm, BatchSettings } from '../algorithm/types.ts'
import type { PolicyPresetName } from '../algorithm/policy-optimisation/presets.ts'
import { baseModelFolder } from '../checkpoint/checkpoint.ts'
import { loadModel, loadTokenizer } from '../backend/base-model.ts'
import type { SamplingWeights } from '../sampling/quantised-weights.ts'
import type { Trainable } from '../adapter/trainable.ts'
import type { Reward } from '../reward/reward.ts'
import { taskReward } from '../reward/rewards.ts'
import { baseOf } from './base-model.ts'
import { planForWindow, smallModelPlan } from './defaults.ts'
import type { OnTrainingEvent } from '../../runs/events.ts'
import { trainJob } from './loop.ts'
import { algorithmOf } from './named-algorithm.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import type { TrainableBackend, TrainingPlan, TrainingSummary, TrainJobOptions } from './types.ts'

export interface TrainOptions<T extends Task = Task> {
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** Folder of the model to start from; default: the base model of the package. */
  model?: string
  /** Which weights move: LoRA, or tensors by name. Default: all. */
  trainable?: Trainable
  /** What episodes are sampled with where they are sampled in this process, evaluations included; see `LocalBackendOptions`. Default: float32. */
  samplingWeights?: SamplingWeights
  /**
   * Where they are trained, e.g. `createTinkerBackend`; it begins from the same model, of which only the tokenizer is read here then (`model` need not have weights), and sees to
   * `trainable` itself. Default: in this process.
   */
  backend?: () => Promise<TrainableBackend>
  /** Demonstrations of each family in the warm start: one number, or by name. Default: 240 shared evenly. */
  demonstrations?: number | Readonly<Record<string, number>>
  /** Steps of reinforcement learning. Default: the plan's. */
  steps?: number
  /** Held-out tasks of each evaluation. Default: the plan's. */
  testTasks?: number
  /** Everything else about the course of training. */
  plan?: Partial<TrainingPlan>
  /** Default: success, less 0.02 a call and 0.1 an invalid call where it succeeded. */
  reward?: Reward
  /**
   * One of `policyPresets` by name, one of your own (`defineAlgorithm`), or any function. Default `grpo-damped`. A resumed run keeps the settings that it recorded when it began.
   */
  algorithm?: PolicyPresetName | AlgorithmDefinition | Algorithm
  seed?: number
  /** The run folder; default: a new one under `.agoge/runs`. */
  out?: string
  resume?: boolean
  compareSupervised?: boolean
  /** The command line and settings, for the record; no secrets. */
  command?: string
  config?: Record<string, unknown>
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/**
 * Trains the small local model on an environment and shows how much better it got: the base model, the warm start and the
 * result of reinforcement learning on the same held-out tasks. The run folder has metrics, episodes, checkpoints and
 * a report.
 *
 * @example
 * const summary = await train({ environment: await createFilesystemEnvironment(), tasks: filesystemTasks })
 */
export async function train<T extends Task>(options: TrainOptions<T>): Promise<TrainingSummary> {
  const { environment, tasks, model = baseModelFolder, seed = 0, out, onEvent, signal } = options
  const { trainable, samplingWeights } = options
  const training = { ...(trainable && { trainable }), ...(samplingWeights && { samplingWeights }) }
  const chat = await readChatModel(model)
  // Loaded once to fail early; the job asks for fresh ones. A model that is trained elsewhere is not loaded at all.
  let unused = options.backend === undefined ? await loadModel(model, training) : null
  const { resume, compareSupervised, config } = options
  const folder = openRunFolder(out === undefined ? {} : { path: out })
  const base = unused === null ? {} : baseOf(folder, [unused.backend])
  const { algorithm, batch, named } = algorithmOf(options.algorithm, resume === true ? folder : null)
  const job: TrainJobOptions<T> = {
    command: options.command ?? 'train()',
    folder: { path: folder.path },
    seed,
    environment,
    tasks,
    tokenizer: unused?.tokenizer ?? (await loadTokenizer(model)),
    backend:
      options.backend ??
      (async () => {
        const next = unused ?? (await loadModel(model, training))
        unused = null
        return next.backend
      }),
    reward: options.reward ?? taskReward({ perCall: -0.02, perInvalidCall: -0.1 }),
    algorithm,
    ...(typeof options.algorithm === 'function' ? {} : { algorithmName: named.algorithm ?? 'grpo-damped' }),
    ...(chat === undefined ? {} : { chat }),
    plan: planOf(options, chat, batch),
    ...(resume === undefined ? {} : { resume }),
    ...(compareSupervised === undefined ? {} : { compareSupervised }),
    // Its place stays the same when `config` has it from the run that is resumed.
    config: { ...base, ...named, ...config, ...base },
  }
  return trainJob(job, {
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(signal === undefined ? {} : { signal }),
  })
}

function planOf<T extends Task>(
  options: TrainOptions<T>,
  chat: ChatModel | undefined,
  batch: BatchSettings | undefined,
): TrainingPlan {
  const { tasks, demonstrations, steps, testTasks, plan = {} } = options
  const { kinds } = tasks
  const each = demonstrations ?? plan.demonstrations ?? Math.ceil(240 / kinds.length)
  const usual = chat === undefined ? smallModelPlan : planForWindow(smallModelPlan, chat.window)
  const base = { ...usual, reinforcement: { ...usual.reinforcement, ...batch }, ...plan }
  return {
    ...base,
    demonstrations: typeof each === 'number' ? Object.fromEntries(kinds.map((name) => [name, each])) : each,
    reinforcement: { ...base.reinforcement, ...(steps === undefined ? {} : { steps }) },
    tasks: { ...base.tasks, ...(testTasks === undefined ? {} : { test: testTasks }) },
  }
}
