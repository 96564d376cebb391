import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import { createLocalBackend, readCheckpoint } from '../language/index.ts'
import type { LocalBackend, Tokenizer } from '../language/index.ts'

export interface LoadedModel {
  folder: string
  backend: LocalBackend
  tokenizer: Tokenizer
}

/** A local model with its tokenizer. Throws an `AgogeError` where the folder holds none. */
export async function loadModel(folder: string): Promise<LoadedModel> {
  const { config, parameters, tokenizer, weightVersion } = await readCheckpoint(folder)
  if (tokenizer === undefined) {
    throw new AgogeError(`The model in ${folder} has no tokenizer.`, {
      code: 'bad-checkpoint',
      given: readdirSync(folder).join(', '),
      expected: 'a tokenizer.json beside config.json and model.safetensors',
    })
  }
  return { folder, tokenizer, backend: createLocalBackend({ config, parameters, tokenizer, weightVersion }) }
}

/** The base model, or the repair where it is missing. */
export function requireBaseModel(folder: string): string {
  if (existsSync(join(folder, 'model.safetensors'))) return folder
  throw new AgogeError(`There is no base model in ${folder}.`, {
    code: 'no-base-model',
    given: folder,
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    hint: `Make one with "agoge pretrain --out ${folder}", or add --from-scratch.`,
  })
}

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
