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

/** What `config.json` keeps of `agoge train`, so that `--resume` needs nothing else. */
export interface RunSettings extends EnvironmentOptions, BackendOptions {
  seed: number
  compareSupervised: boolean
  model: string
  /** A preset or method; absent = the default of `train`. */
  algorithm?: string
  /** The model that `distillation` learns from. */
  teacher?: string
  /** Folder of the reward model whose scores are the reward. */
  rewardModel?: string
  /** The rank, where an adapter is trained instead of the weights. */
  lora?: number
  /** Of a foreign server: the seal of the plan of calls that was agreed to, and what identifies the tasks that were made. */
  agreement?: string
  taskFingerprint?: string
  /** How many tasks were made of it; absent = as many as usual. */
  taskCounts?: TaskCounts
  plan: TrainingPlan
  commandLine: string
}

/**
 * The run to go on with: the folder named, or of those that a command began the one last worked on.
 *
 * @throws AgogeError where there is none, or its `config.json` is damaged or not one of `agoge train`.
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

/** The fields that a run cannot go on without, and what they are. */
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
  // JSON's null is of no use to any of them.
  return current ?? undefined
}
