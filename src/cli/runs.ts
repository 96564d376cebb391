import { existsSync, readdirSync, statSync } from 'node:fs'
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
