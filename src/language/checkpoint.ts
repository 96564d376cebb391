import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AgogeError } from '../error.ts'
import { readSafetensors, writeSafetensors } from '../nn/index.ts'
import { parseConfig, serialiseConfig } from './config.ts'
import type { TransformerConfig } from './config.ts'
import type { OptimizerState } from './optimizer.ts'
import { parameterLayout } from './parameters.ts'
import type { Parameters } from './parameters.ts'
import { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'
import { createTokenizer } from './tokenizer.ts'
import type { Tokenizer } from './tokenizer.ts'

/** What `writeCheckpoint` puts in a folder; a published model has no optimiser and version 0. */
export interface Checkpoint {
  config: TransformerConfig
  parameters: Parameters
  tokenizer?: Tokenizer
  optimizer?: OptimizerState
  weightVersion: number
}

const moments = ['first', 'second', 'momentum'] as const

/**
 * Writes `model.safetensors` (Hugging Face's Llama layout), `config.json`, `state.json` and, where given, `tokenizer.json`
 * and `optimizer.safetensors`. Written aside and then renamed: whoever looks finds a whole checkpoint or none.
 * `type` is that of the weights (F32 unless told; F16 halves a model for publication).
 */
export async function writeCheckpoint(
  folder: string,
  checkpoint: Checkpoint,
  type: 'F32' | 'F16' = 'F32',
): Promise<void> {
  const { config, parameters, tokenizer, optimizer, weightVersion } = checkpoint
  const aside = `${folder}.writing`
  const before = `${folder}.before`
  const steps = { matrixSteps: optimizer?.matrixSteps ?? 0, otherSteps: optimizer?.otherSteps ?? 0 }
  try {
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside, { recursive: true })
    const write = (name: string, content: string | Uint8Array) => writeFile(join(aside, name), content)
    await write(
      'model.safetensors',
      writeSafetensors(namedTensors(parameters), { metadata: { format: 'pt' }, type }),
    )
    await write('config.json', serialiseConfig(config))
    await write('state.json', `${JSON.stringify({ schema: 1, weightVersion, ...steps })}\n`)
    if (tokenizer !== undefined) await write('tokenizer.json', tokenizerToJson(tokenizer.model))
    if (optimizer !== undefined) {
      const tensors = moments.map((name) => [
        name,
        { data: optimizer[name], shape: [parameters.layout.size] },
      ])
      await write('optimizer.safetensors', writeSafetensors(Object.fromEntries(tensors)))
    }
    await rm(before, { recursive: true, force: true })
    if (existsSync(folder)) await rename(folder, before)
    await rename(aside, folder)
    await rm(before, { recursive: true, force: true })
  } catch (cause) {
    await rm(aside, { recursive: true, force: true }).catch(() => {})
    throw new AgogeError(`the checkpoint ${folder} could not be written`, {
      code: 'checkpoint-not-written',
      given: cause instanceof Error ? cause.message : cause,
      expected: `a folder that can be written, with room for ${Math.ceil((parameters.layout.size * 16) / 1e6)} MB`,
      hint: `free space or fix the permissions of ${dirname(folder)}; nothing that was there before is lost`,
      cause,
    })
  }
}

function namedTensors({ layout, data }: Parameters) {
  return Object.fromEntries(
    layout.entries.map(({ name, shape, offset, size }) => [
      name,
      { data: data.subarray(offset, offset + size), shape },
    ]),
  )
}

/**
 * Reads a folder that `writeCheckpoint` wrote, or any other Llama checkpoint in one file (F32, F16, BF16).
 * Throws `AgogeError` naming the file and the tensor or field that is missing or does not fit.
 */
export async function readCheckpoint(given: string): Promise<Checkpoint> {
  // A crash between the two renames of a rewrite leaves the older checkpoint under its other name.
  const folder = !existsSync(given) && existsSync(`${given}.before`) ? `${given}.before` : given
  const at = (name: string): string => join(folder, name)
  const config = parseConfig(await readJson(at('config.json')), at('config.json'))
  const parameters = await readParameters(at('model.safetensors'), config)
  const checkpoint: Checkpoint = { config, parameters, weightVersion: 0 }
  if (existsSync(at('tokenizer.json'))) {
    const text = await readFile(at('tokenizer.json'), 'utf8')
    checkpoint.tokenizer = createTokenizer(tokenizerFromJson(text, at('tokenizer.json')))
  }
  if (!existsSync(at('state.json'))) return checkpoint
  const state = (await readJson(at('state.json'))) as Record<string, unknown>
  const count = (field: string): number => {
    const value = state[field]
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw damaged(at('state.json'), `the field ${field} is wrong`, value, 'a count')
  }
  checkpoint.weightVersion = count('weightVersion')
  if (existsSync(at('optimizer.safetensors'))) {
    const { tensors } = readSafetensors(
      await readBytes(at('optimizer.safetensors')),
      at('optimizer.safetensors'),
    )
    const [first, second, momentum] = moments.map((name) => {
      const data = tensors[name]?.data
      if (data?.length === parameters.layout.size) return data
      const expected = `${parameters.layout.size} numbers`
      throw damaged(at('optimizer.safetensors'), `${name} does not fit the model`, data?.length, expected)
    }) as [Float32Array, Float32Array, Float32Array]
    const steps = { matrixSteps: count('matrixSteps'), otherSteps: count('otherSteps') }
    checkpoint.optimizer = { first, second, momentum, ...steps }
  }
  return checkpoint
}

async function readParameters(file: string, config: TransformerConfig): Promise<Parameters> {
  const { tensors } = readSafetensors(await readBytes(file), file)
  const layout = parameterLayout(config)
  const data = new Float32Array(layout.size)
  for (const { name, shape, offset } of layout.entries) {
    const found = tensors[name]
    if (found === undefined)
      throw damaged(file, `the tensor ${name} is missing`, undefined, `shape [${shape.join(', ')}]`)
    if (found.shape.join() !== shape.join()) {
      const expected = `[${shape.join(', ')}], which config.json asks for`
      throw damaged(file, `the tensor ${name} has another shape`, found.shape, expected)
    }
    data.set(found.data, offset)
  }
  const known = new Set(layout.entries.map(({ name }) => name))
  // Exporters leave copies of the tied output matrix and the rotary frequencies, which the config already determines.
  const redundant = (name: string) => name === 'lm_head.weight' || name.endsWith('rotary_emb.inv_freq')
  const extra = Object.keys(tensors).find((name) => !known.has(name) && !redundant(name))
  if (extra !== undefined) {
    throw damaged(
      file,
      `the tensor ${extra} has no place in this architecture`,
      extra,
      'the tensors of a Llama model',
    )
  }
  return { layout, data }
}

function damaged(file: string, what: string, given: unknown, expected: string): AgogeError {
  const hint = 'point at a folder that `agoge` saved, or at a Llama checkpoint of the same configuration'
  return new AgogeError(`${file}: ${what}`, { code: 'bad-checkpoint', given, expected, hint })
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new AgogeError(`${file} cannot be read`, {
      code: 'bad-checkpoint',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'a checkpoint folder with config.json and model.safetensors',
      cause,
    })
  }
}

async function readJson(file: string): Promise<unknown> {
  const text = new TextDecoder().decode(await readBytes(file))
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON`, {
      code: 'bad-checkpoint',
      given: text.slice(0, 80),
      expected: 'JSON',
      cause,
    })
  }
}
