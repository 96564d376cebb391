import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { refuseEarlierVersion } from '../../runs/convert.ts'
import { requireChecked } from '../../runs/checksums.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import type { TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import type { EnvironmentOptions } from './open-environment.ts'
import { runToResume } from '../shared/runs.ts'
import type { BackendOptions } from './train-backend.ts'

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
  const text = readFileSync(file, 'utf8')
  try {
    return JSON.parse(text)
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
