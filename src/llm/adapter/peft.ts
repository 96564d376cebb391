import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { readSafetensors, writeSafetensors } from '../../engine/nn/index.ts'
import type { StoredTensor, StoredType } from '../../engine/nn/index.ts'
import { verifyChecksums, writeChecksums } from '../../runs/checksums.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { Parameters } from '../model/parameters.ts'
import { damaged } from '../model/weight-files.ts'
import { createAdapter, createLoraPrograms, hashWeights } from './lora.ts'
import type { Adapter, LoraSettings } from './lora.ts'

const configFile = 'adapter_config.json'
const weightsFile = 'adapter_model.safetensors'
/** Identifies the base model for Agoge; PEFT reads only its own files. */
const beneathFile = 'base.json'
/** PEFT's prefix of module names. */
const prefix = 'base_model.model.'

/**
 * Fields of `adapter_config.json` that request something other than scale * B A, unless they are absent, false or
 * empty.
 */
const unsupported = [
  'use_dora',
  'use_qalora',
  'use_bdlora',
  'lora_bias',
  'fan_in_fan_out',
  'modules_to_save',
  'rank_pattern',
  'alpha_pattern',
  'trainable_token_indices',
  'target_parameters',
  'layer_replication',
  'alora_invocation_tokens',
  'arrow_config',
  'kasa_config',
  'velora_config',
  'monteclora_config',
]

interface AdapterFacts {
  layers: number
  base?: string | null
  /** `hashWeights` of the base model. */
  baseHash: string
  type?: StoredType
}

/**
 * Writes `adapter_config.json` and `adapter_model.safetensors` for PEFT (`PeftModel.from_pretrained(base, folder)`),
 * and `checksums.sha256`. Also writes `base.json` with the hash of the base model, which `readAdapter` checks. `layers`
 * is the number of the model's blocks, `base` the name of the base model in the config.
 */
export async function writeAdapter(folder: string, adapter: Adapter, facts: AdapterFacts): Promise<void> {
  await writeFactors(folder, adapter, facts)
  await writeChecksums(folder, [configFile, weightsFile, beneathFile])
}

async function writeFactors(
  folder: string,
  adapter: Adapter,
  { layers, base = null, baseHash, type = 'F32' }: AdapterFacts,
): Promise<void> {
  const { settings, layout, data } = adapter
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    r: settings.rank,
    lora_alpha: settings.alpha,
    lora_dropout: 0,
    use_rslora: settings.rankStabilised,
    target_modules: targetModules(settings.modules, layers),
    bias: 'none',
    inference_mode: true,
  }
  const tensors = layout.entries.map(({ name, shape, offset, size }) => [
    `${prefix}${name}`,
    { data: data.subarray(offset, offset + size), shape },
  ])
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, configFile), `${JSON.stringify(config, null, 2)}\n`)
  await writeFile(join(folder, beneathFile), `${JSON.stringify({ schema: 1, sha256: baseHash })}\n`)
  const bytes = writeSafetensors(Object.fromEntries(tensors), { metadata: { format: 'pt' }, type })
  await writeFile(join(folder, weightsFile), bytes)
}

/**
 * Last parts of module names if every block has the same ones. Otherwise full names, since PEFT adapts every module
 * whose name ends so.
 */
function targetModules(modules: readonly string[], count: number): readonly string[] {
  const parts = modules.map((module) => /^model\.layers\.(\d+)\..*\.(\w+)$/.exec(module))
  const layers = new Set(parts.map((part) => part?.[1]))
  const names = new Set(parts.map((part) => part?.[2]))
  const everywhere = !layers.has(undefined) && layers.size === count
  return everywhere && layers.size * names.size === modules.length ? ([...names] as string[]) : modules
}

/**
 * Reads a LoRA adapter in PEFT's layout and adds scale * B A to `parameters`, the weights of its model, in place.
 *
 * @throws AgogeError `unsupported-adapter` naming a field beyond LoRA on matrices; `bad-checkpoint` for files and
 * tensors that are missing, damaged or do not fit; `other-base` if the adapter records another base model.
 */
export async function readAdapter(folder: string, parameters: Parameters): Promise<Adapter> {
  await verifyChecksums(folder)
  await requireBase(folder, parameters)
  const adapter = await readFactors(folder, parameters)
  const programs = createLoraPrograms(adapter, parameters)
  await programs.merge()
  await programs.release()
  return adapter
}

/** Adapters of other programs and of earlier versions record nothing. */
async function requireBase(folder: string, parameters: Parameters): Promise<void> {
  const file = join(folder, beneathFile)
  if (!existsSync(file)) return
  const { sha256: expected } = readConfig(file)
  if (typeof expected !== 'string') throw damaged(file, 'sha256 is wrong', expected, 'the hash of a model')
  const given = hashWeights(parameters)
  if (given === expected) return
  const { base_model_name_or_path: name } = readConfig(join(folder, configFile))
  throw new AgogeError(`The adapter in ${folder} belongs to another base model`, {
    code: 'other-base',
    given: `weights ${given.slice(0, 16)}`,
    expected: `weights ${expected.slice(0, 16)}${typeof name === 'string' ? ` (${name})` : ''}`,
    hint: `Load it onto the model that it was trained on. To use it on this one all the same, remove base.json and checksums.sha256 there`,
  })
}

/** Like `readAdapter`, but does not change the weights, and takes them as the base weights. */
export async function readFactors(folder: string, parameters: Parameters): Promise<Adapter> {
  const settings = settingsOf(readConfig(join(folder, configFile)), join(folder, configFile))
  const file = join(folder, weightsFile)
  const { tensors } = readSafetensors(await readBytes(file), file)
  const factors = Object.keys(tensors).filter((name) => !checkBeneath(name, tensors[name], parameters, file))
  const names = new Set(factors.map((name) => name.replace(/\.lora_(A|B)\.weight$/, '')))
  const modules = [...names].map((name) => {
    if (name.startsWith(prefix) && !name.includes('lora_')) return name.slice(prefix.length)
    throw damaged(
      file,
      `the tensor ${name} is no part of LoRA on a matrix`,
      name,
      `${prefix}MODULE.lora_A.weight`,
    )
  })
  const inOrder = parameters.layout.entries
    .map(({ name }) => name.replace(/\.weight$/, ''))
    .filter((module) => modules.includes(module))
  const strange = modules.find((module) => !inOrder.includes(module))
  if (strange !== undefined)
    throw damaged(file, `the model has no module ${strange}`, strange, 'an adapter of this architecture')
  if (inOrder.length === 0)
    throw damaged(file, 'there is no tensor', undefined, 'lora_A and lora_B of modules')
  // The numbers of a rank that is only claimed would fill the memory.
  const known = factors.find((name) => name.endsWith('.lora_A.weight'))
  const rank = known === undefined ? undefined : tensors[known].shape[0]
  if (rank !== settings.rank)
    throw damaged(
      file,
      `${known ?? 'lora_A'} does not have the rank of ${configFile}`,
      rank,
      `${settings.rank} rows`,
    )
  const adapter = createAdapter(parameters, { ...settings, modules: inOrder })
  for (const entry of adapter.layout.entries) {
    const { data, shape } = tensors[`${prefix}${entry.name}`] ?? {}
    const expected = `shape [${entry.shape.join(', ')}]`
    if (data === undefined || shape === undefined)
      throw damaged(file, `the tensor ${prefix}${entry.name} is missing`, undefined, expected)
    if (shape.join() !== entry.shape.join())
      throw damaged(file, `the tensor ${prefix}${entry.name} has another shape`, shape, expected)
    adapter.data.set(data, entry.offset)
  }
  return adapter
}

/**
 * PEFT saves copies of the base weights if it adapts an output matrix. True for such a copy; throws if it belongs to
 * another model.
 */
function checkBeneath(
  name: string,
  { data }: StoredTensor,
  { layout, data: weights }: Parameters,
  file: string,
): boolean {
  const suffix = '.base_layer.weight'
  if (!name.endsWith(suffix)) return false
  const module = name.slice(prefix.length, -suffix.length)
  const { offset, size } = layout.entries.find((entry) => entry.name === `${module}.weight`) ?? {
    offset: 0,
    size: -1,
  }
  const own = weights.subarray(offset, offset + size)
  const differs = (value: number, i: number): boolean =>
    Math.abs(value - own[i]) > 0.01 * Math.abs(own[i]) + 1e-6
  if (data.length !== size || data.some(differs))
    throw damaged(
      file,
      `${name} is not that of this model`,
      undefined,
      'an adapter that was trained on this model',
    )
  return true
}

const baseFile = 'base.safetensors'

/** Writes an adapter with its exact base weights, for `readAdapterCheckpoint`. */
export async function writeAdapterCheckpoint(
  folder: string,
  adapter: Adapter,
  facts: Pick<AdapterFacts, 'layers' | 'baseHash'>,
): Promise<void> {
  await writeFactors(folder, adapter, facts)
  const base = { data: adapter.base, shape: [adapter.base.length] }
  await writeFile(join(folder, baseFile), writeSafetensors({ base }))
}

/** Reads what `writeAdapterCheckpoint` wrote, for weights that already include the adapter. */
export async function readAdapterCheckpoint(folder: string, parameters: Parameters): Promise<Adapter> {
  const adapter = await readFactors(folder, parameters)
  const file = join(folder, baseFile)
  const { base } = readSafetensors(await readBytes(file), file).tensors
  if (base?.data.length !== adapter.base.length)
    throw damaged(file, 'base does not fit the adapter', base?.data.length, `${adapter.base.length} numbers`)
  adapter.base.set(base.data)
  return adapter
}

function settingsOf(config: Record<string, unknown>, file: string): Omit<LoraSettings, 'modules'> {
  const { peft_type: kind, r: rank, lora_alpha: alpha, use_rslora: rankStabilised = false } = config
  const refuse = (field: string, expected: string): AgogeError =>
    new AgogeError(`${file}: ${field} asks for what Agoge does not compute`, {
      code: 'unsupported-adapter',
      given: JSON.stringify(config[field]),
      expected,
      hint: 'merge the adapter into its model with PEFT (merge_and_unload) and load that',
    })
  if (kind !== 'LORA') throw refuse('peft_type', '"LORA"')
  const asked = unsupported.find((field) => isAsked(config[field]))
  if (asked !== undefined) throw refuse(asked, 'plain LoRA on matrices')
  if (!['none', undefined].includes(config['bias'] as string | undefined)) throw refuse('bias', '"none"')
  const start = config['init_lora_weights']
  // Other initialisations change the base weights, and so refer to another base model.
  if (typeof start === 'string' && start !== 'gaussian')
    throw refuse('init_lora_weights', 'true, false or "gaussian"')
  if (!(typeof rank === 'number' && Number.isSafeInteger(rank) && rank > 0))
    throw damaged(file, 'r is wrong', rank, 'a whole number of at least 1')
  if (!(typeof alpha === 'number' && alpha > 0))
    throw damaged(file, 'lora_alpha is wrong', alpha, 'a number above 0')
  return { rank, alpha, rankStabilised: rankStabilised === true }
}

function isAsked(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function readConfig(file: string): Record<string, unknown> {
  return readForeignFile(requireFile(file), (text) => {
    try {
      const config = parseForeignJson(text)
      if (typeof config === 'object' && config !== null) return config as Record<string, unknown>
    } catch {
      // said below
    }
    throw damaged(file, 'it is not a JSON object', text.slice(0, 80), 'the config of a PEFT adapter')
  })
}

/** Also throws for a folder in place of the file. */
function requireFile(file: string): string {
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isFile()) return file
  } catch (cause) {
    throw unreadable(file, cause)
  }
  throw unreadable(file, 'it is no file')
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

const unreadable = (file: string, cause: unknown): AgogeError =>
  new AgogeError(`${file} cannot be read`, {
    code: 'bad-checkpoint',
    given: cause instanceof Error ? cause.message : cause,
    expected: `an adapter folder with ${configFile} and ${weightsFile}`,
    cause,
  })
