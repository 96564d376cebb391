import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readSafetensors, type StoredType, writeSafetensors } from '../../engine/nn/index.ts'
import { AgogeError } from '../../error.ts'
import { verifyChecksums, writeChecksums } from '../../runs/checksums.ts'
import { renameFlushed } from '../../runs/files.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import { hashWeights } from '../adapter/lora.ts'
import type { Adapter } from '../adapter/lora.ts'
import { readAdapterCheckpoint, writeAdapterCheckpoint } from '../adapter/peft.ts'
import { chosenTensors, compactLayout } from '../adapter/trainable.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { OptimizerState } from '../model/optimizer.ts'
import type { Parameters } from '../model/parameters.ts'
import { damaged, readWeights, writeWeights } from '../model/weight-files.ts'
import { tokenizerFromJson, tokenizerToJson } from '../tokenizer/tokenizer-json.ts'
import { createTokenizer, type Tokenizer } from '../tokenizer/tokenizer.ts'
import { parseConfig, serialiseConfig } from './config-json.ts'

// The relative path is the same from `src/llm/checkpoint` and `dist/llm/checkpoint`.
/**
 * Absolute path of the folder with the base model of the package.
 *
 * @example
 * const { backend, tokenizer } = await loadModel(baseModelFolder)
 */
export const baseModelFolder = fileURLToPath(new URL('../../../models/base', import.meta.url))

/** Content of a checkpoint folder. A published model has no optimiser and version 0. */
export interface Checkpoint {
  config: TransformerConfig
  parameters: Parameters
  tokenizer?: Tokenizer
  /** Files of a public checkpoint that describe its tokenizer and chat template, by name; saved unchanged. */
  companions?: Readonly<Record<string, string>>
  /** State of the optimiser for the weights that it trains. */
  optimizer?: OptimizerState
  /** A file of the optimiser state is missing: the checkpoint can generate, but not resume training. */
  optimizerLost?: boolean
  /** Names of the trained tensors, if not all are trained. */
  tensors?: readonly string[]
  /** The trained adapter, if there is one; the weights include it. */
  adapter?: Adapter
  weightVersion: number
}

const optimizerFile = 'optimizer.safetensors'
/** Without these files a checkpoint can generate, but not resume training. */
const forTraining: readonly string[] = [optimizerFile, 'state.json']

/** Chat templates, names of special tokens, generation settings. */
const companionNames = [
  'tokenizer_config.json',
  'chat_template.jinja',
  'special_tokens_map.json',
  'generation_config.json',
]
const moments = ['first', 'second', 'momentum'] as const

/**
 * Writes a folder that `transformers` loads: weights (`writeWeights`), `config.json` and `state.json`, and if present
 * `tokenizer.json`, the files beside it, `optimizer.safetensors` and a folder `adapter` for PEFT with its base weights.
 * `checksums.sha256` lists the SHA-256 of every file; `readCheckpoint` checks them. The write is atomic: readers see a
 * complete checkpoint or none.
 *
 * `type`: type of the weights. Default: F32; F16 and BF16 halve the size. `shardBytes`: size above which weights are
 * split into several files. `others`: further files by name.
 */
export async function writeCheckpoint(
  folder: string,
  checkpoint: Checkpoint,
  type: StoredType = 'F32',
  shardBytes?: number,
  others: Readonly<Record<string, Uint8Array>> = {},
): Promise<void> {
  const { config, parameters, tokenizer, companions, optimizer, tensors, adapter, weightVersion } = checkpoint
  const aside = `${folder}.writing`
  const before = `${folder}.before`
  const steps = { matrixSteps: optimizer?.matrixSteps ?? 0, otherSteps: optimizer?.otherSteps ?? 0 }
  try {
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside, { recursive: true })
    const write = (name: string, content: string | Uint8Array) => writeFile(join(aside, name), content)
    await writeWeights(aside, parameters, type, shardBytes)
    await write('config.json', serialiseConfig(config))
    await write('state.json', `${JSON.stringify({ schema: 1, weightVersion, ...steps, tensors })}\n`)
    if (tokenizer !== undefined) await write('tokenizer.json', tokenizerToJson(tokenizer.model))
    for (const [name, text] of Object.entries(companions ?? {})) await write(name, text)
    if (adapter !== undefined)
      await writeAdapterCheckpoint(join(aside, 'adapter'), adapter, {
        layers: config.num_hidden_layers,
        baseHash: hashWeights(parameters, adapter),
      })
    if (optimizer !== undefined) {
      const named = moments.map((name) => {
        const data = optimizer[name]
        return [name, { data, shape: [data.length] }]
      })
      await write(optimizerFile, writeSafetensors(Object.fromEntries(named)))
    }
    for (const [name, content] of Object.entries(others)) await write(name, content)
    await writeChecksums(aside)
    await rm(before, { recursive: true, force: true })
    if (existsSync(folder)) await rename(folder, before)
    renameFlushed(aside, folder)
    await rm(before, { recursive: true, force: true })
  } catch (cause) {
    await rm(aside, { recursive: true, force: true }).catch(() => {})
    if (AgogeError.isInstance(cause)) throw cause
    throw new AgogeError(`the checkpoint ${folder} could not be written`, {
      code: 'checkpoint-not-written',
      given: cause instanceof Error ? cause.message : cause,
      expected: `a folder that can be written, with room for ${Math.ceil((parameters.layout.size * 16) / 1e6)} MB`,
      hint: `free space or fix the permissions of ${dirname(folder)}; nothing that was there before is lost`,
      cause,
    })
  }
}

/**
 * Reads a folder that `writeCheckpoint` wrote, or a public checkpoint of the Llama, Qwen2 and Qwen3 families. Without
 * `optimizer.safetensors` or `state.json` the result has `optimizerLost`.
 *
 * @throws AgogeError naming a file that is missing or fails its checksum (if the folder has `checksums.sha256`), or a
 * tensor or field that is missing or does not fit.
 */
export async function readCheckpoint(given: string): Promise<Checkpoint> {
  // A crash between the two renames of a rewrite leaves the older checkpoint under its temporary name.
  const folder = !existsSync(given) && existsSync(`${given}.before`) ? `${given}.before` : given
  const at = (name: string): string => join(folder, name)
  await verifyChecksums(folder, (name) => !forTraining.includes(name) || existsSync(at(name)))
  const config = parseConfig(readJson(at('config.json')), at('config.json'))
  const parameters = await readWeights(folder, config)
  const checkpoint: Checkpoint = { config, parameters, weightVersion: 0 }
  if (existsSync(at('tokenizer.json'))) {
    const file = at('tokenizer.json')
    checkpoint.tokenizer = createTokenizer(readForeignFile(file, (text) => tokenizerFromJson(text, file)))
  }
  const present = companionNames.filter((name) => existsSync(at(name)))
  if (present.length > 0) {
    const texts = present.map((name) => [name, readForeignFile(at(name), unchanged)] as const)
    checkpoint.companions = Object.fromEntries(texts)
  }
  const remembers = existsSync(at(optimizerFile))
  if (!existsSync(at('state.json'))) return remembers ? { ...checkpoint, optimizerLost: true } : checkpoint
  const state = readJson(at('state.json'))
  if (!isRecord(state))
    throw damaged(at('state.json'), 'it is not a JSON object', state, 'the state of a checkpoint')
  const count = (field: string): number => {
    const value = state[field]
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw damaged(at('state.json'), `the field ${field} is wrong`, value, 'a count')
  }
  checkpoint.weightVersion = count('weightVersion')
  const names = state['tensors']
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) checkpoint.tensors = names
  else if (names !== undefined)
    throw damaged(at('state.json'), 'the field tensors is wrong', names, 'names of tensors')
  if (existsSync(at('adapter'))) checkpoint.adapter = await readAdapterCheckpoint(at('adapter'), parameters)
  if (remembers) {
    const moved = movedSize(checkpoint)
    const { tensors } = readSafetensors(await readBytes(at(optimizerFile)), at(optimizerFile))
    const [first, second, momentum] = moments.map((name) => {
      const data = tensors[name]?.data
      if (data?.length === moved) return data
      const expected = `${moved} numbers`
      throw damaged(at(optimizerFile), `${name} does not fit the model`, data?.length, expected)
    }) as [Float32Array, Float32Array, Float32Array]
    const steps = { matrixSteps: count('matrixSteps'), otherSteps: count('otherSteps') }
    checkpoint.optimizer = { first, second, momentum, ...steps }
  } else if (count('matrixSteps') > 0 || count('otherSteps') > 0) checkpoint.optimizerLost = true
  return checkpoint
}

/**
 * The error when training resumes from an incomplete checkpoint: its steps would differ from those of an uninterrupted
 * run.
 */
export function optimizerLost(folder: string): AgogeError {
  return new AgogeError(`${folder} has no optimiser state`, {
    code: 'bad-checkpoint',
    given: 'a checkpoint without one of state.json and optimizer.safetensors',
    expected: 'both, as they were saved',
    hint: 'Put the file back, or begin a new training from this model (agoge train --model, or loadLocalBackend)',
  })
}

/** For texts that are kept as they are, and saved again beside the weights. */
const unchanged = (text: string): string => text

/** Number of parameters that the training of a checkpoint updates. */
function movedSize({ parameters: { layout }, tensors, adapter }: Checkpoint): number {
  if (adapter !== undefined) return adapter.layout.size
  return tensors === undefined ? layout.size : compactLayout(chosenTensors(layout, tensors)).size
}

const unreadable = (file: string, cause: unknown): AgogeError =>
  new AgogeError(`${file} cannot be read`, {
    code: 'bad-checkpoint',
    given: cause instanceof Error ? cause.message : cause,
    expected: 'a checkpoint folder with config.json and model.safetensors',
    cause,
  })

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function readJson(file: string): unknown {
  let text: string
  try {
    text = readForeignFile(file, unchanged)
  } catch (cause) {
    throw unreadable(file, cause)
  }
  try {
    return parseForeignJson(text)
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON`, {
      code: 'bad-checkpoint',
      given: text.slice(0, 80),
      expected: 'JSON',
      cause,
    })
  }
}

/** The checkpoint of a path: a model folder itself, or the trained model of a run folder. */
export function modelFolder(path: string): string {
  const trained = join(path, 'checkpoints', 'final')
  return existsSync(trained) ? trained : path
}
