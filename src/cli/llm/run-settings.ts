import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { refuseEarlierVersion } from '../../runs/convert.ts'
import { requireChecked } from '../../runs/checksums.ts'
import type { TrainingPlan, TrainableBackend } from '../../llm/training/types.ts'
import type { TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { EnvironmentOptions } from './open-environment.ts'
import { runToResume } from '../shared/runs.ts'
import { defined } from '../../defined.ts'
import { loadTokenizer } from '../../llm/backend/base-model.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import { createTinkerBackend, isAgogeServer } from '../../llm/backend/tinker/tinker-backend.ts'
import { serverUrl } from '../../llm/backend/tinker/transport.ts'
import type { Console } from '../shared/console.ts'

/** The settings of `agoge train` in `config.json`. `--resume` needs nothing else. */
export interface RunSettings extends EnvironmentOptions, BackendOptions {
  seed: number
  compareSupervised: boolean
  model: string
  /** A preset or method. Default: the default of `train`. */
  algorithm?: string
  /** The teacher model of `distillation`. */
  teacher?: string
  /** Folder of the reward model. */
  rewardModel?: string
  /** The rank, if an adapter is trained instead of the weights. */
  lora?: number
  /** For an MCP server: the hash of the accepted plan of calls, and what identifies the generated tasks. */
  agreement?: string
  taskFingerprint?: string
  /** Number of tasks. Default: the usual number. */
  taskCounts?: TaskCounts
  plan: TrainingPlan
  commandLine: string
}

/**
 * Returns the run to resume: the given folder, or the most recently used run that a command started.
 *
 * @throws AgogeError if there is none, or its `config.json` is damaged or not one of `agoge train`.
 */
export function readRun(resume: string | true): { folder: string; settings: RunSettings } {
  const folder = runToResume(resume)
  if (folder === undefined || !existsSync(join(folder, 'config.json'))) {
    throw new AgogeError('There is no run to resume.', {
      code: 'no-run',
      given: folder ?? '.agoge/runs',
      expected: 'a run folder with a config.json',
      hint: 'Name it: agoge train --resume FOLDER',
    })
  }
  requireChecked(folder, 'config.json')
  const config = readConfig(join(folder, 'config.json'))
  if (typeof config === 'object' && config !== null) refuseEarlierVersion(folder, { ...config })
  return { folder, settings: checkSettings(config, folder) }
}

function readConfig(file: string): unknown {
  const text = readForeignFile(file, (found) => found)
  try {
    return parseForeignJson(text)
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON.`, {
      code: 'bad-run',
      given: text.slice(0, 80),
      expected: 'the file as it was written',
      hint: 'Begin a new run; the finished parts of this one are in its checkpoints folder',
      cause,
    })
  }
}

/** Fields that a run needs to resume, and their meaning. */
const needed: Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object'>> = {
  environment: 'string',
  seed: 'number',
  model: 'string',
  commandLine: 'string',
  compareSupervised: 'boolean',
  plan: 'object',
  'plan.demonstrations': 'object',
  'plan.warmStart': 'object',
  'plan.warmStart.epochs': 'number',
  'plan.reinforcement': 'object',
  'plan.reinforcement.steps': 'number',
  'plan.supervised': 'object',
  'plan.tasks': 'object',
  'plan.tasks.validation': 'number',
  'plan.tasks.test': 'number',
  'plan.tasks.unseenParaphrases': 'number',
  'plan.limits': 'object',
  'plan.limits.turns': 'number',
  'plan.checkpointEvery': 'number',
  'plan.maxTokensPerTurn': 'number',
}

function checkSettings(config: unknown, folder: string): RunSettings {
  const [wrong] = Object.entries(needed).find(([path, type]) => typeof at(config, path) !== type) ?? []
  if (wrong === undefined) return config as RunSettings
  const ofProgram = ['model', 'commandLine'].includes(wrong) && at(config, wrong) === undefined
  if (ofProgram)
    throw new AgogeError(`The run in ${folder} was not begun by agoge train, but by a program.`, {
      code: 'bad-run',
      given: `no "${wrong}" in its config.json`,
      expected: 'a run of agoge train',
      hint: `The program resumes it: train({ ..., out: '${folder}', resume: true })`,
    })
  throw new AgogeError(`${join(folder, 'config.json')} has a wrong "${wrong}".`, {
    code: 'bad-run',
    given: at(config, wrong) ?? 'nothing',
    expected: `${needed[wrong]}, as it was written`,
    hint: 'Begin a new run; the finished parts of this one are in its checkpoints folder',
  })
}

function at(value: unknown, path: string): unknown {
  let current = value
  for (const name of path.split('.')) {
    if (typeof current !== 'object' || current === null) return undefined
    current = (current as Record<string, unknown>)[name]
  }
  // None of these fields may be JSON's null.
  return current ?? undefined
}

/** Where `agoge train` trains. */
export interface BackendOptions {
  backend?: string
  tinkerUrl?: string
  tinkerModel?: string
  samplingWeights?: SamplingWeights
}

/** Default address of `agoge serve --tinker`. */
const usualUrl = 'http://127.0.0.1:8000'

/**
 * The backend options as a run stores them, without the key, which comes from the environment. Undefined for training
 * in this process.
 */
export function backendSettings({
  backend = 'local',
  tinkerUrl,
  tinkerModel,
  samplingWeights,
}: BackendOptions): BackendOptions {
  if (backend === 'tinker' && samplingWeights === undefined) {
    const url = serverUrl(tinkerUrl ?? process.env['TINKER_BASE_URL'] ?? usualUrl).href.replace(/\/$/, '')
    return { backend, tinkerUrl: url, ...defined({ tinkerModel }) }
  }
  if (backend === 'local' && tinkerUrl === undefined && tinkerModel === undefined)
    return samplingWeights === undefined ? {} : { samplingWeights }
  throw new AgogeError('The options of the backend do not fit together', {
    code: 'bad-option',
    given:
      backend === 'local'
        ? '--tinker-url or --tinker-model without --backend tinker'
        : `--backend ${backend}${samplingWeights === undefined ? '' : ' --sampling-weights'}`,
    expected:
      '--backend local with --sampling-weights, or --backend tinker with --tinker-url and --tinker-model',
  })
}

/**
 * Makes the backend of a run; undefined if it trains in this process.
 *
 * @param moved new address of the server, if a resumed run's server has moved.
 */
export function backendOf(
  { backend, tinkerUrl = usualUrl, tinkerModel }: BackendOptions,
  {
    model,
    loraRank,
    moved,
    terminal,
  }: { model: string; loraRank: number | undefined; moved: string | undefined; terminal: Console },
): { backend?: () => Promise<TrainableBackend> } {
  if (backend !== 'tinker') return {}
  const { signal } = terminal
  const options = {
    onTrouble: (text: string) => terminal.err(text),
    baseUrl: moved ?? tinkerUrl,
    ...defined({ model: tinkerModel, loraRank }),
  }
  return {
    backend: async () =>
      createTinkerBackend({ ...options, tokenizer: await loadTokenizer(model) }, { signal }),
  }
}

/**
 * Adapts the plan to the server. Only Agoge's own server has Muon; others get AdamW at the learning rate of
 * reinforcement learning. A resumed run keeps its plan.
 *
 * @throws AgogeError if there is no server, or it refuses the key.
 */
export async function planForBackend(
  plan: TrainingPlan,
  { backend, tinkerUrl = usualUrl }: BackendOptions,
  { signal }: Console,
): Promise<TrainingPlan> {
  if (backend !== 'tinker' || (await isAgogeServer({ baseUrl: tinkerUrl }, { signal }))) return plan
  const { warmStart, supervised, reinforcement } = plan
  const step = { optimizer: 'adamw', learningRate: reinforcement.learningRate } as const
  return { ...plan, warmStart: { ...warmStart, ...step }, supervised: { ...supervised, ...step } }
}
