import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import { requireChecked } from '../../runs/checksums.ts'
import { AgogeError } from '../../error.ts'
import { readForeignObject } from '../../untrusted/foreign-file.ts'

/** Lists run folders under `.agoge/runs`, the most recently used first. */
export function listRuns(root = '.'): string[] {
  const home = join(root, '.agoge', 'runs')
  if (!existsSync(home)) return []
  return readdirSync(home)
    .map((name) => join(home, name))
    .filter((folder) => existsSync(join(folder, 'config.json')))
    .sort((a, b) => lastWorkedOn(b) - lastWorkedOn(a))
}

/**
 * Returns the run to resume: the given folder, or the most recently used run. Runs started by programs come after those
 * of commands.
 */
export function runToResume(resume: string | true): string | undefined {
  if (resume !== true) return resume
  const runs = listRuns()
  return runs.find(isOfCommand) ?? runs[0]
}

/** The file by which a run of `agoge train` with a config says how it was begun. */
export const agentRunFile = 'training.json'

/** The run to resume, if it is one of an agent of the user's own. */
export function agentRun(resume: string | true | undefined): string | undefined {
  const folder = resume === undefined ? undefined : runToResume(resume)
  return folder !== undefined && existsSync(join(folder, agentRunFile)) ? folder : undefined
}

/** Whether a command can resume the run. Runs started by a program do not record their model and environment. */
function isOfCommand(folder: string): boolean {
  const { kind, commandLine } = readConfig(folder)
  return kind === 'array' || kind === 'seeds' || typeof commandLine === 'string'
}

/** Reads `config.json`; undefined if it is missing or unreadable. */
function readConfig(folder: string): Record<string, unknown> {
  const file = join(folder, 'config.json')
  if (!existsSync(file)) return {}
  try {
    return readForeignObject(file, 'bad-run')
  } catch {
    // Code that needs the contents reports the problem.
    return {}
  }
}

/** The kind of run in `config.json`; undefined if it is not recorded. */
export function runKind(folder: string): string | undefined {
  return textOf(readConfig(folder).kind)
}

function lastWorkedOn(folder: string): number {
  const metrics = join(folder, 'metrics.jsonl')
  return statSync(existsSync(metrics) ? metrics : join(folder, 'config.json')).mtimeMs
}

/** The environment that a run was trained on, from its `config.json`; undefined for other folders. */
export function trainedEnvironment(path: string): string | undefined {
  const { environment, world } = readConfig(path)
  // `world`: in runs of version 0.1.
  return textOf(environment ?? world)
}

/** Absolute path of the module that defines the environment; undefined for a built-in environment. */
function trainedFile(path: string): string | undefined {
  const { environmentFile, settings } = readConfig(path)
  const file =
    typeof settings === 'object' && settings !== null && 'file' in settings ? settings.file : undefined
  return textOf(environmentFile ?? file)
}

/** The trainer of the run in this folder, such as `reward-model`; undefined for other folders and for runs of several trainers. */
export const trainerOf = (path: string): string | undefined => textOf(readConfig(path).trainer)

/** The model that the run started from, from its `config.json`. */
export const trainedModel = (path: string): string | undefined => textOf(readConfig(path).model)

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A run whose tasks were generated from a server, according to its `config.json`. */
export interface TrainedOn {
  folder: string
  seed: number
  /** Absent in runs of earlier versions. */
  taskFingerprint?: string
  /** Number of its tasks. Default: the usual number. */
  taskCounts?: TaskCounts
}

/**
 * Returns the run of a model on this environment. The model is given as a run folder or a checkpoint in it.
 *
 * @throws AgogeError if the run's `config.json` is damaged.
 */
export function runOn(environment: string, model: string): TrainedOn | undefined {
  for (const folder of [model, join(model, '..', '..')]) {
    if (existsSync(join(folder, 'config.json'))) requireChecked(folder, 'config.json')
    const { environment: trained, seed, taskFingerprint, taskCounts } = readConfig(folder)
    if (trained !== environment || typeof seed !== 'number') continue
    return {
      folder,
      seed,
      ...(typeof taskFingerprint === 'string' ? { taskFingerprint } : {}),
      ...(typeof taskCounts === 'object' && taskCounts !== null ? { taskCounts } : {}),
    }
  }
  return undefined
}

/** What was typed beside `--resume`. */
export interface TypedBeside {
  /** Options without their defaults. */
  typed: object
  /** The environment, if it was named. */
  environment?: string | undefined
}

/** The name of an option as it is typed. */
const dashed = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`

/**
 * Refuses options that would change a resumed run.
 *
 * @param allowed options that change nothing about the run.
 * @throws AgogeError with the options, or the environment, that differ from the run's.
 */
export function refuseChanges(
  folder: string,
  { typed, environment }: TypedBeside,
  allowed: readonly string[] = [],
): void {
  const trained = trainedEnvironment(folder)
  if (
    environment !== undefined &&
    trained !== undefined &&
    environment !== trained &&
    trainedFile(folder) !== resolve(environment)
  ) {
    const other = listRuns().find((run) => trainedEnvironment(run) === environment)
    throw new AgogeError(`The run in ${folder} trains on ${trained}, not on ${environment}`, {
      code: 'bad-option',
      given: environment,
      expected: trained,
      hint:
        other === undefined
          ? `Resume it: agoge train --resume ${folder}`
          : `The last run on ${environment}: agoge train --resume ${other}`,
    })
  }
  const wrong = Object.keys(typed).filter((name) => name !== 'resume' && !allowed.includes(name))
  if (wrong.length === 0) return
  throw new AgogeError('A resumed run keeps the options that it was begun with', {
    code: 'bad-option',
    given: wrong.map(dashed).join(' '),
    expected:
      allowed.length === 0 ? '--resume alone' : `--resume, and ${allowed.map(dashed).join(' or ')} at most`,
    hint: 'Begin a new run for other options',
  })
}
