import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Run folders under `.agoge/runs`, the one last worked on first. */
export function listRuns(root = '.'): string[] {
  const home = join(root, '.agoge', 'runs')
  if (!existsSync(home)) return []
  return readdirSync(home)
    .map((name) => join(home, name))
    .filter((folder) => existsSync(join(folder, 'config.json')))
    .sort((a, b) => lastWorkedOn(b) - lastWorkedOn(a))
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

/** The world that the run in this folder trains on, as its `config.json` says; undefined for other folders. */
export const trainedWorld = (path: string): string | undefined => runSetting(path, 'world')

/** The model that the run in this folder began with, likewise. */
export const trainedModel = (path: string): string | undefined => runSetting(path, 'model')

function runSetting(path: string, name: string): string | undefined {
  const file = join(path, 'config.json')
  if (!existsSync(file)) return undefined
  try {
    const value = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)[name]
    return typeof value === 'string' ? value : undefined
  } catch {
    // What cannot be read says nothing.
    return undefined
  }
}
