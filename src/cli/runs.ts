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
export function trainedWorld(path: string): string | undefined {
  const file = join(path, 'config.json')
  if (!existsSync(file)) return undefined
  try {
    const { world } = JSON.parse(readFileSync(file, 'utf8')) as { world?: unknown }
    return typeof world === 'string' ? world : undefined
  } catch {
    // What cannot be read says nothing.
    return undefined
  }
}
