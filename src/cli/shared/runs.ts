import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskCounts } from '../../llm/environment/mcp/task-generation.ts'
import { requireChecked } from '../../runs/checksums.ts'

/** Run folders under `.agoge/runs`, the one last worked on first. */
export function listRuns(root = '.'): string[] {
  const home = join(root, '.agoge', 'runs')
  if (!existsSync(home)) return []
  return readdirSync(home)
    .map((name) => join(home, name))
    .filter((folder) => existsSync(join(folder, 'config.json')))
    .sort((a, b) => lastWorkedOn(b) - lastWorkedOn(a))
}

/** The run to go on with: the folder named, or the one last worked on; runs that programs began stand behind those of commands. */
export function runToResume(resume: string | true): string | undefined {
  if (resume !== true) return resume
  const runs = listRuns()
  return runs.find(isOfCommand) ?? runs[0]
}

/** Whether a command can go on with the run: those that a program began know neither their model nor their environment again. */
function isOfCommand(folder: string): boolean {
  const { kind, commandLine } = readConfig(folder)
  return kind === 'array' || kind === 'seeds' || typeof commandLine === 'string'
}

/** What `config.json` says; nothing where there is none, or it cannot be read. */
function readConfig(folder: string): Record<string, unknown> {
  const file = join(folder, 'config.json')
  if (!existsSync(file)) return {}
  try {
    const config: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof config === 'object' && config !== null ? { ...config } : {}
  } catch {
    // Whoever reads it for its contents says what is wrong with it.
    return {}
  }
}

/** What `config.json` of a run folder says that it is; undefined where it says nothing. */
export function runKind(folder: string): string | undefined {
  return textOf(readConfig(folder).kind)
}

function lastWorkedOn(folder: string): number {
  const metrics = join(folder, 'metrics.jsonl')
  return statSync(existsSync(metrics) ? metrics : join(folder, 'config.json')).mtimeMs
}

/** The checkpoint meant by a path: a model folder itself, or the trained model of a run folder. */
export function modelFolder(path: string): string {
  const trained = join(path, 'checkpoints', 'final')
  return existsSync(trained) ? trained : path
}

/** The environment that the run in this folder trains on, as its `config.json` says; undefined for other folders. */
export function trainedEnvironment(path: string): string | undefined {
  const { environment, world } = readConfig(path)
  // `world`: in runs of version 0.1.
  return textOf(environment ?? world)
}

/** The module that defines that environment, absolute; undefined for an environment that Agoge has. */
export function trainedFile(path: string): string | undefined {
  const { environmentFile, settings } = readConfig(path)
  const file =
    typeof settings === 'object' && settings !== null && 'file' in settings ? settings.file : undefined
  return textOf(environmentFile ?? file)
}

/** The model that the run in this folder began with, likewise. */
export const trainedModel = (path: string): string | undefined => textOf(readConfig(path).model)

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A run whose tasks were made by seed from a server, as its `config.json` says. */
export interface TrainedOn {
  folder: string
  seed: number
  /** Absent in runs of earlier versions. */
  taskFingerprint?: string
  /** How many tasks it had; absent = as many as usual. */
  taskCounts?: TaskCounts
}

/**
 * The run of a model on this environment: the model is named by the run folder, or by a checkpoint in it.
 *
 * @throws AgogeError where the `config.json` of the run is not what was written.
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
