import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { type OnTrainingEvent, openRunFolder, type RunFolder } from '../../runs/run-folder.ts'
import { parseForeignObject } from '../../untrusted/foreign-json.ts'
import type { Trainable } from '../adapter/trainable.ts'
import type { ChatModel } from '../agent/chat-format/open-format.ts'
import { readChatModel } from '../agent/chat-format/open-format.ts'
import type { Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import { type AlgorithmDefinition, createAlgorithm } from '../algorithm/define-algorithm.ts'
import type { AnySettings } from '../algorithm/policy-optimisation/optimise-policy.ts'
import {
  findPolicyPreset,
  type PolicyPresetName,
  policyPresets,
  presetOfEarlierRun,
} from '../algorithm/policy-optimisation/presets.ts'
import type { Algorithm, BatchSettings } from '../algorithm/types.ts'
import { baseOf, loadModel, loadTokenizer } from '../backend/base-model.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { baseModelFolder } from '../checkpoint/checkpoint.ts'
import type { Reward } from '../reward/reward.ts'
import { taskReward } from '../reward/rewards.ts'
import type { SamplingWeights } from '../sampling/quantised-weights.ts'
import { planForLora, planForWindow, smallModelPlan } from './defaults.ts'
import { trainJob } from './loop.ts'
import { isMethod } from './method-list.ts'
import type { MethodName } from './method-list.ts'
import { openMethod } from './methods.ts'
import type { TrainableBackend, TrainingPlan, TrainingSummary, TrainJobOptions } from './types.ts'

/** The record of an algorithm by name in `config.json`. */
export interface NamedAlgorithm {
  algorithm?: string
  /** The preset's settings when the run began. Absent in runs of earlier versions. */
  algorithmSettings?: AnySettings
}

/**
 * The algorithm of a run, its batch settings, and its record in the run. Default: `grpo-damped`, which is not recorded.
 *
 * @param given the name of a preset, your own definition, or any function.
 * @param resumed the folder of a resumed run. Uses the settings recorded there; for older runs, those that the name had then.
 * @throws AgogeError `unknown-algorithm` if no preset has the name.
 */
export function algorithmOf(
  given: PolicyPresetName | AlgorithmDefinition | Algorithm | undefined,
  resumed: RunFolder | null,
): { algorithm: Algorithm; batch?: BatchSettings | undefined; named: NamedAlgorithm } {
  if (typeof given === 'function') return { algorithm: given, named: {} }
  if (given === undefined) return { algorithm: createAlgorithm(policyPresets['grpo-damped']), named: {} }
  const name = typeof given === 'string' ? given : given.name
  const before = resumed === null ? null : recordedAlgorithm(resumed)
  const recorded = before?.algorithm === name ? before : null
  if (typeof given === 'string' && recorded !== null && recorded.algorithmSettings === undefined) {
    const earlier = presetOfEarlierRun(given)
    return { algorithm: createAlgorithm(earlier), batch: earlier.batch, named: { algorithm: name } }
  }
  const definition: AlgorithmDefinition = typeof given === 'string' ? findPolicyPreset(given) : given
  // A user's function is not recorded.
  const readable = typeof definition.settings.advantage !== 'function'
  const settings = (readable ? recorded?.algorithmSettings : undefined) ?? definition.settings
  return {
    algorithm: createAlgorithm(definition, settings),
    batch: definition.batch,
    named: { algorithm: name, algorithmSettings: settings },
  }
}

/** Null if the file cannot be read; opening the run reports that. */
function recordedAlgorithm(folder: RunFolder): NamedAlgorithm | null {
  if (!folder.has('config.json')) return null
  try {
    return folder.read('config.json', (text) =>
      parseForeignObject(text, folder.file('config.json'), 'bad-run-folder'),
    )
  } catch {
    return null
  }
}

/** What `train` takes. Only `environment` and `tasks` are required. */
export interface TrainOptions<T extends Task = Task> {
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** Folder of the initial model. Default: the base model of the package. */
  model?: string
  /**
   * The weights to train: LoRA, or tensors by name. With LoRA the plan's learning rates of AdamW are three times as large,
   * unless `plan` sets them. Default: all.
   */
  trainable?: Trainable
  /** Precision for sampling in this process, including evaluations; see `LocalBackendOptions`. Default: float32. */
  samplingWeights?: SamplingWeights
  /**
   * Backend to train on, e.g. `createTinkerBackend`. It must start from the same model and applies `trainable` itself. This
   * process then reads only the tokenizer of `model`, which needs no weights. Default: a backend in this process.
   */
  backend?: () => Promise<TrainableBackend>
  /** Demonstrations per kind of task in the warm start: one number, or numbers by name. Default: 240, shared evenly. */
  demonstrations?: number | Readonly<Record<string, number>>
  /** Steps of reinforcement learning. Default: the plan's. */
  steps?: number
  /** Held-out tasks per evaluation. Default: the plan's. */
  testTasks?: number
  /** Changes to the rest of the training plan. */
  plan?: Partial<TrainingPlan>
  /** Default: 1 for success, minus 0.02 per call and 0.1 per invalid call of a success. */
  reward?: Reward
  /**
   * The name of a preset in `policyPresets`, your own definition (`defineAlgorithm`), or any function. Default: `grpo-damped`. A
   * resumed run uses the settings recorded at its start.
   */
  algorithm?: PolicyPresetName | MethodName | AlgorithmDefinition | Algorithm
  /** Folder of the teacher for `distillation`. It must have the tokenizer of the trained model. */
  teacher?: string
  seed?: number
  /** The run folder. Default: a new one under `.agoge/runs`. */
  out?: string
  resume?: boolean
  compareSupervised?: boolean
  /**
   * Seconds until the whole run should be over: RL makes fewer steps if those of the plan would take longer. The warm start is never cut, and
   * RL makes at least five steps. The number is kept in the run's state and only falls. Default: no limit.
   */
  secondsLeft?: () => number
  /** The command line and settings, for the record. Must not contain secrets. */
  command?: string
  config?: Record<string, unknown>
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/**
 * Trains the small local model on an environment and measures the improvement: evaluates the base model, the warm start and the
 * result of reinforcement learning on the same held-out tasks. The run folder gets metrics, episodes, checkpoints and a report.
 *
 * @example
 * const summary = await train({ environment: await createFilesystemEnvironment(), tasks: filesystemTasks })
 */
export async function train<T extends Task>(options: TrainOptions<T>): Promise<TrainingSummary> {
  const { environment, tasks, model = baseModelFolder, seed = 0, out, onEvent, signal } = options
  const { trainable, samplingWeights } = options
  const training = { ...(trainable && { trainable }), ...(samplingWeights && { samplingWeights }) }
  const chat = await readChatModel(model)
  // Loaded once to fail early; the job loads fresh copies. A model that is trained elsewhere is not loaded.
  let unused = options.backend === undefined ? await loadModel(model, training) : null
  const { resume, compareSupervised, config } = options
  const folder = openRunFolder(out === undefined ? {} : { path: out })
  const base = unused === null ? {} : baseOf(folder, [unused.backend])
  const open =
    options.backend ??
    (async () => {
      const next = unused ?? (await loadModel(model, training))
      unused = null
      return next.backend
    })
  const teacher = options.teacher === undefined ? undefined : (await loadModel(options.teacher)).backend
  if (teacher !== undefined && unused !== null) requireSameWords(unused.backend, teacher)
  const { algorithm, batch, named, backend } = isMethod(options.algorithm)
    ? { ...openMethod(options.algorithm, open, { seed, teacher }), named: { algorithm: options.algorithm } }
    : { ...algorithmOf(options.algorithm, resume === true ? folder : null), backend: open }
  const job: TrainJobOptions<T> = {
    command: options.command ?? 'train()',
    folder: { path: folder.path },
    seed,
    environment,
    tasks,
    tokenizer: unused?.tokenizer ?? (await loadTokenizer(model)),
    backend,
    reward: options.reward ?? taskReward({ perCall: -0.02, perInvalidCall: -0.1 }),
    algorithm,
    ...(typeof options.algorithm === 'function' ? {} : { algorithmName: named.algorithm ?? 'grpo-damped' }),
    ...defined({ chat }),
    plan: planOf(options, chat, batch),
    ...defined({ resume, compareSupervised, secondsLeft: options.secondsLeft }),
    // The order of fields stays the same if `config` has the field from the resumed run.
    config: {
      ...base,
      ...named,
      ...defined({ teacher: options.teacher }),
      ...config,
      ...base,
    },
  }
  try {
    return await trainJob(job, {
      ...defined({ onEvent, signal }),
    })
  } finally {
    await teacher?.dispose()
  }
}

/** Token ids must mean the same in both. */
function requireSameWords(student: LocalBackend, teacher: LocalBackend): void {
  const [given, expected] = [teacher.config.vocab_size, student.config.vocab_size]
  if (given === expected) return
  throw new AgogeError('The teacher and the trained model have different vocabularies', {
    code: 'bad-config',
    given: `${given} tokens`,
    expected: `${expected} tokens`,
    hint: 'A teacher is trained from the same base model, or is larger with the same tokenizer',
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
  const ofWindow = chat === undefined ? smallModelPlan : planForWindow(smallModelPlan, chat.window)
  const { trainable } = options
  const usual = trainable !== undefined && 'lora' in trainable ? planForLora(ofWindow) : ofWindow
  const base = { ...usual, reinforcement: { ...usual.reinforcement, ...batch }, ...plan }
  return {
    ...base,
    demonstrations: typeof each === 'number' ? Object.fromEntries(kinds.map((name) => [name, each])) : each,
    reinforcement: { ...base.reinforcement, ...defined({ steps }) },
    tasks: { ...base.tasks, ...defined({ test: testTasks }) },
  }
}
