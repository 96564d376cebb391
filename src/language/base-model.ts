import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import { baseModelFolder } from './base-model-folder.ts'
import { readCheckpoint } from './checkpoint.ts'
import { createLocalBackend } from './local-backend.ts'
import type { LocalBackend } from './local-backend.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface LoadedModel {
  folder: string
  backend: LocalBackend
  tokenizer: Tokenizer
}

/** A local model with its tokenizer, by default the base model. Throws an `AgogeError` where the folder holds none. */
export async function loadModel(folder: string = baseModelFolder): Promise<LoadedModel> {
  const { config, parameters, tokenizer, weightVersion } = await readCheckpoint(requireModel(folder))
  if (tokenizer === undefined) {
    throw new AgogeError(`The model in ${folder} has no tokenizer.`, {
      code: 'bad-checkpoint',
      given: readdirSync(folder).join(', '),
      expected: 'a tokenizer.json beside config.json and model.safetensors',
    })
  }
  return { folder, tokenizer, backend: createLocalBackend({ config, parameters, tokenizer, weightVersion }) }
}

/** The folder itself, or the repair where it holds no model. */
export function requireModel(folder: string): string {
  if (existsSync(join(folder, 'model.safetensors'))) return folder
  throw new AgogeError(`There is no model in ${folder}.`, {
    code: 'no-model',
    given: folder,
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    hint: `Make one with "agoge pretrain --out ${folder}", or add --from-scratch.`,
  })
}
