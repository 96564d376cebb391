import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { checksumsFile, verifyChecksums } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { recordedBase } from '../../runs/run-store.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { hashWeights } from '../adapter/lora.ts'
import type { Adapter } from '../adapter/lora.ts'
import { baseModelFolder, readCheckpoint } from '../checkpoint/checkpoint.ts'
import type { Parameters } from '../model/parameters.ts'
import { hasWeights } from '../model/weight-files.ts'
import { tokenizerFromJson } from '../tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { createLocalBackend } from './local-backend.ts'
import type { LocalBackend, LocalBackendOptions } from './local-backend.ts'
import { refuseRemote } from './tinker/checkpoint-note.ts'

/** A model that `loadModel` read: its folder, a backend that samples and trains, and its tokenizer. */
export interface LoadedModel {
  folder: string
  backend: LocalBackend
  tokenizer: Tokenizer
}

/**
 * Loads a local model with its tokenizer; by default the base model that comes with the package. Training starts fresh,
 * on all weights or on those that `trainable` names. `samplingWeights` is the precision of the sampler's matrices. With
 * `apart` the thread that calls computes nothing.
 *
 * @throws AgogeError `no-model` if the folder holds no model, `bad-checkpoint` if it has no tokenizer.
 * @example
 * const { backend, tokenizer } = await loadModel('models/mine', { samplingWeights: 'int8' })
 */
export async function loadModel(
  folder: string = baseModelFolder,
  options: Pick<LocalBackendOptions, 'trainable' | 'samplingWeights' | 'apart'> = {},
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

/** Loads the tokenizer of a model folder, which need not contain weights. Throws an `AgogeError` if there is none. */
export async function loadTokenizer(folder: string = baseModelFolder): Promise<Tokenizer> {
  const file = requireTokenizer(folder)
  await verifyChecksums(folder, (name) => name === 'tokenizer.json')
  return createTokenizer(readForeignFile(file, (text) => tokenizerFromJson(text, file)))
}

/** The path of the tokenizer in a folder, or the one that should exist. */
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

/** The folder itself; throws with a hint if it holds no model. */
export function requireModel(folder: string): string {
  // If only the weights are missing, the code that reads them names the missing file.
  if (hasWeights(folder) || existsSync(join(folder, checksumsFile))) return folder
  refuseRemote(folder)
  throw new AgogeError(`There is no model in ${folder}.`, {
    code: 'no-model',
    given: folder,
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    hint: `Make one with "agoge pretrain --out ${folder}", or add --from-scratch.`,
  })
}

/**
 * The base hash recorded for each model object of this process. A resumed run that uses the same object, with changed weights,
 * still has the same base.
 */
const begunFrom = new WeakMap<object, Set<string>>()

/**
 * The field `base` of a run's `config.json`: the hash of the initial weights of its models. Empty for models whose weights are
 * not in this process.
 */
export function baseOf(folder: RunFolder, models: readonly object[]): { base?: string } {
  const local = models.filter(isLocal)
  if (local.length === 0 || local.length < models.length) return {}
  const recorded = recordedBase(folder)
  if (recorded !== undefined && local.every((model) => begunFrom.get(model)?.has(recorded) === true))
    return { base: recorded }
  const base = local.map(({ parameters, adapter }) => hashWeights(parameters, adapter)).join(' ')
  for (const model of local) begunFrom.set(model, (begunFrom.get(model) ?? new Set()).add(base))
  return { base }
}

function isLocal(model: object): model is { parameters: Parameters; adapter?: Adapter } {
  const { parameters } = model as { parameters?: Partial<Parameters> }
  return parameters?.data instanceof Float32Array && parameters.layout !== undefined
}
