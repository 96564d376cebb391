import { existsSync } from 'node:fs'
import { open, stat, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import {
  decodeTensor,
  readSafetensorsHeader,
  safetensorsHeaderBytes,
  writeSafetensors,
} from '../../engine/nn/index.ts'
import type { StoredType } from '../../engine/nn/index.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'
import type { ParameterEntry, Parameters } from './parameters.ts'

const whole = 'model.safetensors'
const index = 'model.safetensors.index.json'
/** Most bytes to read at once; a multiple of the size of every number type. */
const pieceBytes = 2 ** 26
/** Files stay below the size that programs can read at once. */
const largestShard = 2 ** 31 - 2 ** 20
const bytesOf: Record<StoredType, number> = { F32: 4, F16: 2, BF16: 2 }

/** Whether the folder holds weights in one of the two public layouts. */
export function hasWeights(folder: string): boolean {
  return [whole, index].some((name) => existsSync(join(folder, name)))
}

export function damaged(
  file: string,
  what: string,
  given: unknown,
  expected: string,
  cause?: unknown,
): AgogeError {
  return new AgogeError(`${file}: ${what}`, {
    code: 'bad-checkpoint',
    given,
    expected,
    hint: 'point at a folder that `agoge` saved, or at a Llama, Qwen2 or Qwen3 checkpoint with all of its files',
    cause,
  })
}

/** Opens a file and closes it again; the error names the file. */
async function withFile<T>(
  path: string,
  expected: string,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  let file: FileHandle
  try {
    file = await open(path)
  } catch (cause) {
    const given = cause instanceof Error ? cause.message : cause
    throw damaged(path, 'the file cannot be read', given, expected, cause)
  }
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/**
 * Reads the weights of a folder, from `model.safetensors` or from the shards in `model.safetensors.index.json`;
 * float32, float16 or bfloat16. Reads files in pieces directly into place.
 *
 * @throws AgogeError `bad-checkpoint` naming the file, and the tensor that is missing, has another shape or type, or
 * contains non-finite numbers.
 */
export async function readWeights(folder: string, config: TransformerConfig): Promise<Parameters> {
  const layout = parameterLayout(config)
  const { files, source } = await weightFiles(folder)
  await checkSize(layout.size, folder, [...files.keys()], source)
  const data = new Float32Array(layout.size)
  const entries = new Map(layout.entries.map((entry) => [entry.name, entry]))
  const found = new Set<string>()
  for (const [file, promised] of files)
    for (const name of await readShard(join(folder, file), promised, entries, data)) {
      if (found.has(name))
        throw damaged(join(folder, file), `the tensor ${name} was in another file too`, name, 'one')
      found.add(name)
    }
  const missing = layout.entries.find(({ name }) => !found.has(name))
  if (missing !== undefined) {
    const expected = `shape [${missing.shape.join(', ')}]`
    throw damaged(source, `the tensor ${missing.name} is missing`, undefined, expected)
  }
  return { layout, data }
}

/** Numbers that are made room for before the files are looked at. */
const unasked = 2 ** 26

/** Throws if a large model could not be in files of this size: a config that only claims it would fill the memory. */
async function checkSize(
  numbers: number,
  folder: string,
  files: readonly string[],
  source: string,
): Promise<void> {
  if (numbers <= unasked) return
  let bytes = 0
  for (const file of files) if (existsSync(join(folder, file))) bytes += (await stat(join(folder, file))).size
  if (bytes < numbers * bytesOf.F16)
    throw damaged(
      source,
      'the weights are smaller than those of the model in config.json',
      `${bytes} bytes`,
      `at least ${numbers * bytesOf.F16}`,
    )
}

/** The weight files, each with the tensors that the index assigns to it. */
async function weightFiles(folder: string): Promise<{ files: Map<string, string[]>; source: string }> {
  const source = join(folder, index)
  if (existsSync(join(folder, whole)) || !existsSync(source))
    return { files: new Map([[whole, []]]), source: join(folder, whole) }
  const map = readForeignFile(source, readIndex)
  if (map === undefined)
    throw damaged(source, 'weight_map cannot be used', undefined, 'file names of this folder by tensor')
  const files = new Map<string, string[]>()
  for (const [name, file] of Object.entries(map)) {
    const names = files.get(file) ?? []
    files.set(file, names)
    names.push(name)
  }
  const missing = [...files.keys()].find((file) => !existsSync(join(folder, file)))
  if (missing !== undefined)
    throw damaged(
      join(folder, missing),
      `the shard is missing, which ${index} names for ${files.get(missing)![0]}`,
      undefined,
      `all of ${[...files.keys()].join(', ')}`,
    )
  return { files, source }
}

function readIndex(text: string): Record<string, string> | undefined {
  try {
    const { weight_map: map } = parseForeignJson(text) as { weight_map?: unknown }
    if (typeof map !== 'object' || map === null) return undefined
    // Names with a path could point outside the folder.
    const fits = Object.values(map).every((name) => typeof name === 'string' && /^[\w.-]+$/.test(name))
    return fits ? (map as Record<string, string>) : undefined
  } catch {
    return undefined
  }
}

/** Reads the model's tensors into `data`; returns the names read. */
async function readShard(
  path: string,
  promised: readonly string[],
  entries: ReadonlyMap<string, ParameterEntry>,
  data: Float32Array,
): Promise<string[]> {
  return withFile(path, 'a checkpoint folder with config.json and model.safetensors', async (file) => {
    const { size } = await file.stat()
    const first = await readBytes(file, 0, Math.min(8, size), path)
    if (new TextDecoder().decode(first) === 'version ')
      throw new AgogeError(`${path}: the file is a pointer of Git LFS, not the weights`, {
        code: 'bad-checkpoint',
        given: `${size} bytes`,
        expected: 'a safetensors file',
        hint: 'fetch what it points to: git lfs pull in its folder, or hf download',
      })
    const header = await readBytes(file, 0, Math.min(safetensorsHeaderBytes(first), size), path)
    const { tensors } = readSafetensorsHeader(header, size, path)
    const absent = promised.find((name) => tensors[name] === undefined)
    if (absent !== undefined)
      throw damaged(path, `the tensor ${absent} is missing`, undefined, `what ${index} promises`)
    const names: string[] = []
    for (const [name, { type, shape, from, to }] of Object.entries(tensors)) {
      const entry = entries.get(name)
      if (entry === undefined) {
        if (isRedundant(name)) continue
        throw damaged(
          path,
          `the tensor ${name} has no place in this architecture`,
          name,
          'what config.json asks for',
        )
      }
      if (shape.join() !== entry.shape.join()) {
        const expected = `[${entry.shape.join(', ')}], which config.json asks for`
        throw damaged(path, `the tensor ${name} has another shape`, shape, expected)
      }
      let place = entry.offset
      for (let at = from; at < to; at += pieceBytes) {
        const bytes = await readBytes(file, at, Math.min(pieceBytes, to - at), path)
        const count = bytes.length / bytesOf[type]
        const read = data.subarray(place, place + count)
        decodeTensor(bytes, type, read)
        const wrong = read.findIndex((value) => !Number.isFinite(value))
        if (wrong >= 0) {
          const given = `${read[wrong]} at ${place + wrong - entry.offset} of ${entry.size}`
          throw damaged(path, `the tensor ${name} has numbers that are not finite`, given, 'finite numbers')
        }
        place += count
      }
      names.push(name)
    }
    return names
  })
}

/** Exporters leave copies of the tied output matrix and the rotary frequencies, which the config already determines. */
function isRedundant(name: string): boolean {
  return name === 'lm_head.weight' || name.endsWith('rotary_emb.inv_freq')
}

async function readBytes(
  file: FileHandle,
  position: number,
  length: number,
  path: string,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done)
    if (bytesRead === 0)
      throw damaged(path, 'the file ended early', position + done, `${position + length} bytes`)
    done += bytesRead
  }
  return bytes
}

/** Larger numbers would be stored as infinite. */
const largest: Record<StoredType, number> = {
  F32: 3.4028234663852886e38,
  F16: 65_504,
  BF16: 3.3895313892515355e38,
}

/** Throws for an unsupported type, and for weights that could not be read again, before existing files are replaced. */
function checkStorable({ layout, data }: Parameters, type: StoredType): void {
  const limit = largest[type] as number | undefined
  if (limit === undefined)
    throw new AgogeError('weights cannot be written in this type', {
      code: 'unsupported-type',
      given: type,
      expected: Object.keys(largest).join(', '),
    })
  for (const { name, offset, size } of layout.entries) {
    const wrong = data.subarray(offset, offset + size).find((value) => !(Math.abs(value) <= limit))
    if (wrong === undefined) continue
    const isFinite = Number.isFinite(wrong)
    throw new AgogeError(`the weights were not written: ${name} has numbers that ${type} cannot hold`, {
      code: 'weights-not-finite',
      given: wrong,
      expected: `numbers of at most ${limit}`,
      hint: isFinite ? 'write them as F32' : 'training has made them non-finite: load the last checkpoint',
    })
  }
}

/**
 * Writes the weights as `transformers` reads them: `model.safetensors`, or several files with an index if they exceed
 * `shardBytes`. A single large tensor can make a larger file.
 *
 * @throws AgogeError `weights-not-finite` naming a tensor with numbers that the type cannot represent.
 */
export async function writeWeights(
  folder: string,
  parameters: Parameters,
  type: StoredType = 'F32',
  shardBytes: number = largestShard,
): Promise<void> {
  checkStorable(parameters, type)
  const { layout, data } = parameters
  const shards: ParameterEntry[][] = [[]]
  let room = shardBytes
  for (const entry of layout.entries) {
    const bytes = entry.size * bytesOf[type]
    if (bytes > room && shards.at(-1)!.length > 0) {
      shards.push([])
      room = shardBytes
    }
    shards.at(-1)!.push(entry)
    room -= bytes
  }
  const count = String(shards.length).padStart(5, '0')
  const names = shards.map((_, i) =>
    shards.length === 1 ? whole : `model-${String(i + 1).padStart(5, '0')}-of-${count}.safetensors`,
  )
  for (const [i, shard] of shards.entries()) {
    const tensors = shard.map(({ name, shape, offset, size }) => [
      name,
      { data: data.subarray(offset, offset + size), shape },
    ])
    const bytes = writeSafetensors(Object.fromEntries(tensors), { metadata: { format: 'pt' }, type })
    await writeFile(join(folder, names[i]), bytes)
  }
  if (shards.length === 1) return
  const map = shards.flatMap((shard, i) => shard.map(({ name }) => [name, names[i]]))
  const metadata = { total_parameters: layout.size, total_size: layout.size * bytesOf[type] }
  const text = JSON.stringify({ metadata, weight_map: Object.fromEntries(map) }, null, 2)
  await writeFile(join(folder, index), `${text}\n`)
}
