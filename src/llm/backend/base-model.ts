import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { baseModelFolder, readCheckpoint } from '../checkpoint/checkpoint.ts'
import { checksumsFile, verifyChecksums } from '../../runs/checksums.ts'
import { createLocalBackend } from './local-backend.ts'
import type { LocalBackend, LocalBackendOptions } from './local-backend.ts'
import { refuseRemote } from './tinker/checkpoint-note.ts'
import { tokenizerFromJson } from '../tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { hasWeights } from '../model/weight-files.ts'

export interface LoadedModel {
  folder: string
  backend: LocalBackend
  tokenizer: Tokenizer
}

/**
 * A local model with its tokenizer, by default the base model; its training begins anew, with all weights or with those of
 * `trainable`; it samples with `samplingWeights`. Throws an `AgogeError` where the folder holds none.
 */
export async function loadModel(
  folder: string = baseModelFolder,
  options: Pick<LocalBackendOptions, 'trainable' | 'samplingWeights'> = {},
): Promise<LoadedModel> {
  const checkpoint = await readCheckpoint(requireModel(folder))
  const { tokenizer } = checkpoint
  if (tokenizer === undefined) {
    throw new AgogeError(`The model in ${folder} has no tokenizer.`, {
      code: 'bad-checkpoint',
      given: readdirSync(folder).join(', '),
      expected: 'a tokenizer.json beside config.json and model.safetensors',
    })
  }
  const { config, parameters, companions, weightVersion } = checkpoint
  const model = { config, parameters, tokenizer, weightVersion, ...(companions && { companions }) }
  return { folder, tokenizer, backend: createLocalBackend({ ...model, ...options }) }
}

/** The tokenizer of the model in a folder; weights need not be there. Throws an `AgogeError` where there is none. */
export async function loadTokenizer(folder: string = baseModelFolder): Promise<Tokenizer> {
  const file = requireTokenizer(folder)
  await verifyChecksums(folder, (name) => name === 'tokenizer.json')
  return createTokenizer(tokenizerFromJson(await readFile(file, 'utf8'), file))
}

/** The file of the tokenizer in a folder, or what should be there. */
export function requireTokenizer(folder: string): string {
  const file = join(folder, 'tokenizer.json')
  if (existsSync(file)) return file
  throw new AgogeError(`There is no tokenizer in ${folder}.`, {
    code: 'no-tokenizer',
    given: folder,
    expected: 'a folder with tokenizer.json, tokenizer_config.json and config.json; weights are not needed',
    hint: 'Take these files from where the model is published.',
  })
}

/** The folder itself, or the repair where it holds no model. */
export function requireModel(folder: string): string {
  // Where weights were saved and are gone, whoever reads them says which file is missing.
  if (hasWeights(folder) || existsSync(join(folder, checksumsFile))) return folder
  refuseRemote(folder)
  throw new AgogeError(`There is no model in ${folder}.`, {
    code: 'no-model',
    given: folder,
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    hint: `Make one with "agoge pretrain --out ${folder}", or add --from-scratch.`,
  })
}
