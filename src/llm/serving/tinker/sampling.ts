import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { defined } from '../../../defined.ts'
import { defaultDevice } from '../../../engine/tensor/index.ts'
import {
  createFrozenSamplers,
  type FrozenSamplers,
  type FrozenWeights,
} from '../../backend/frozen-samplers.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { SampleBatch, SampleResponse } from '../../backend/tinker/wire.ts'
import { readCheckpoint } from '../../checkpoint/checkpoint.ts'
import type { ModelBackend, SampleOptions, SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { type Handler, once, taken } from './context.ts'
import {
  countOf,
  type Fields,
  fieldsOf,
  flagOf,
  listOf,
  numberOf,
  optionalCount,
  optionalFields,
  optionalText,
  refuse,
  textOf,
} from './fields.ts'
import { readModelInput } from './losses.ts'
import type { BaseModel, BaseModels } from './models.ts'
import { addSampler } from './session-handlers.ts'

/** A model in training. Its weights can be sampled from while they do not change. */
export interface LiveModel {
  baseModel: BaseModel
  backend: LocalBackend
}

/** Where the weights of a sampler are. If the model moves on, they are copied first. */
type Source =
  | { kind: 'base' }
  | { kind: 'live'; model: LiveModel }
  | { kind: 'copy'; data: Float32Array }
  | { kind: 'stored'; folder: string }
  | { kind: 'gone' }

export interface Sampler {
  id: string
  baseModel: BaseModel
  path?: string
}

export interface Samplers {
  add(sampler: Sampler, source: Exclude<Source, { kind: 'copy' | 'gone' }>): void
  /** Throws `tinker-not-found`. */
  find(id: string): Sampler
  /** Call before a model's weights change or are disposed of: its samplers keep the present weights. */
  freeze(model: LiveModel): void
  /** Call when the content of a folder changes: samplers of that folder read it again. */
  changed(folder: string): void
  /** Whether its weights no longer belong to a model in training, so that sampling does not disturb it. */
  isApart(id: string): boolean
  /** The backend that samples with the weights of a sampler. */
  open(id: string): Promise<Pick<ModelBackend, 'sample'>>
  dispose(): Promise<void>
}

/** The sampling threads of a base model and its descendants, and the last file they read. */
interface House {
  threads: FrozenSamplers
  tokenizer: Tokenizer | undefined
  read: { folder: string; weights: FrozenWeights }
}

/**
 * Copies of weights of models that moved on. Asynchronous training needs only a few. Fewer for large models, but always the last
 * one.
 */
const mostCopies = 8
const mostBytes = 2 ** 30

export function createSamplers(models: BaseModels, threads: number | undefined): Samplers {
  const samplers = new Map<string, { sampler: Sampler; source: Source }>()
  const houses = new Map<BaseModel, Promise<House>>()
  /** How often the content of a folder has changed. */
  let changes = 0

  function entryOf(id: string) {
    const entry = samplers.get(id)
    if (entry !== undefined) return entry
    throw refuse('tinker-not-found', 'There is no such sampling session', {
      given: id,
      hint: 'The server may have been restarted: save the weights for sampling again.',
    })
  }

  async function readWeights(folder: string, tokenizer: Tokenizer | undefined): Promise<FrozenWeights> {
    return { data: (await readCheckpoint(folder)).parameters.data, weightVersion: 0, tokenizer }
  }

  async function build(model: BaseModel): Promise<House> {
    const { folder } = model
    const { config, parameters, tokenizer } = await readCheckpoint(folder)
    const read = { folder, weights: { data: parameters.data, weightVersion: 0, tokenizer } }
    if (defaultDevice() !== 'cpu') return { threads: inOneBackend(await models.open(model)), tokenizer, read }
    const settings = { config, ...defined({ threads }) }
    return { threads: createFrozenSamplers(settings), tokenizer, read }
  }

  function houseOf(baseModel: BaseModel): Promise<House> {
    const house = houses.get(baseModel) ?? build(baseModel)
    houses.set(baseModel, house)
    house.catch(() => houses.delete(baseModel))
    return house
  }

  return {
    add(sampler, source) {
      samplers.set(sampler.id, { sampler, source })
    },
    find: (id) => entryOf(id).sampler,
    freeze(model) {
      const live = [...samplers.values()].filter(
        ({ source }) => source.kind === 'live' && source.model === model,
      )
      if (live.length === 0) return
      const source: Source = { kind: 'copy', data: model.backend.parameters.data.slice() }
      for (const entry of live) entry.source = source
      const copies = [...samplers.values()].filter((entry) => entry.source.kind === 'copy')
      const room = Math.max(1, Math.floor(mostBytes / source.data.byteLength))
      const kept = new Set(
        [...new Set(copies.map((entry) => entry.source))].slice(-Math.min(mostCopies, room)),
      )
      for (const entry of copies) if (!kept.has(entry.source)) entry.source = { kind: 'gone' }
    },
    changed(folder) {
      changes++
      for (const house of houses.values())
        void house.then((built) => {
          if (built.read.folder === folder) built.read.folder = ''
        })
    },
    isApart: (id) => samplers.get(id)?.source.kind !== 'live',
    async open(id) {
      const { sampler, source } = entryOf(id)
      if (source.kind === 'live') return source.model.backend
      if (source.kind === 'gone') {
        throw refuse('tinker-gone', 'The weights of this sampling session are gone', {
          given: id,
          expected: `one of the last ${mostCopies} that were saved for sampling`,
          hint: 'Save weights under a name to sample from them later.',
        })
      }
      if (source.kind === 'stored' && !existsSync(source.folder)) {
        const given = sampler.path
        throw refuse('tinker-not-found', 'The checkpoint of this sampling session was deleted', { given })
      }
      const house = await houseOf(sampler.baseModel)
      const { threads: frozen, tokenizer } = house
      if (source.kind === 'copy') return frozen.of({ data: source.data, weightVersion: 0, tokenizer })
      const folder = source.kind === 'stored' ? source.folder : sampler.baseModel.folder
      if (house.read.folder !== folder) {
        const before = changes
        const weights = await readWeights(folder, tokenizer)
        house.read = { folder: changes === before ? folder : '', weights }
      }
      return frozen.of(house.read.weights)
    },
    async dispose() {
      for (const house of houses.values()) await (await house).threads.dispose()
    },
  }
}

/** A device that is not shared. Whoever samples next loads its weights there. */
function inOneBackend(backend: LocalBackend): FrozenSamplers {
  let held: Float32Array | undefined
  return {
    of: ({ data, weightVersion }) => ({
      weightVersion,
      async sample(requests, options) {
        if (held !== data) {
          backend.parameters.data.set(data)
          backend.weightsChanged()
          held = data
        }
        return backend.sample(requests, options)
      },
    }),
    dispose: () => backend.dispose(),
  }
}

const mostSamples = 1024

interface Row {
  prompt: Int32Array
  key: string | number
  options: SampleOptions
  promptLogprobs: boolean
}

/** `sampling_params`. The context window is always a limit. */
function readOptions(params: Fields, window: number, seed: number): SampleOptions {
  const stop = readStop(params['stop'])
  const topK = numberOf(params, 'top_k', -1)
  const topP = numberOf(params, 'top_p', 1, 0)
  return {
    maxTokens: countOf(params, 'max_tokens', window, 1),
    stop: stop.tokens,
    ...(stop.texts.length === 0 ? {} : { stopSequences: stop.texts }),
    temperature: numberOf(params, 'temperature', 1, 0),
    seed,
    ...(topK < 1 ? {} : { topK }),
    ...(topP >= 1 ? {} : { topP }),
  }
}

function readStop(stop: unknown): { tokens: number[]; texts: string[] } {
  const list = stop === undefined || stop === null ? [] : Array.isArray(stop) ? (stop as unknown[]) : [stop]
  const tokens = list.filter((each) => Number.isSafeInteger(each) && (each as number) >= 0) as number[]
  const texts = list.filter((each) => typeof each === 'string')
  if (tokens.length === list.length || texts.length === list.length) return { tokens, texts }
  throw refuse('tinker-bad-request', 'The field stop is wrong', {
    given: stop,
    expected: 'token ids, or texts',
  })
}

function readBatch(agoge: Fields): SampleBatch | undefined {
  const batch = optionalFields(agoge, 'batch')
  if (batch === undefined) return undefined
  return {
    id: textOf(batch, 'id'),
    index: countOf(batch, 'index', undefined),
    count: countOf(batch, 'count', undefined, 1),
  }
}

/** The random streams of the samples: named by the client, derived from its seed, or random. */
function keysOf(agoge: Fields | undefined, seed: number | undefined, count: number): (string | number)[] {
  if (agoge === undefined) {
    const source = seed ?? randomBytes(8).toString('hex')
    return Array.from({ length: count }, (_, i) => `${source}:${i}`)
  }
  const keys = listOf(agoge, 'keys').filter((key) => typeof key === 'string' || typeof key === 'number')
  if (keys.length === count) return keys
  throw refuse('tinker-bad-request', 'The field agoge.keys is wrong', {
    expected: `${count} keys, one a sample`,
  })
}

async function draw(from: Pick<ModelBackend, 'sample'>, rows: readonly Row[]): Promise<SampleOutput[]> {
  const requests = rows.map(({ prompt, key, promptLogprobs }) => ({
    prompt,
    key,
    ...(promptLogprobs ? { promptLogprobs } : {}),
  }))
  return from.sample(requests, rows[0].options)
}

function responseOf(drawn: readonly SampleOutput[]): SampleResponse {
  const [{ promptLogprobs }] = drawn
  return {
    sequences: drawn.map((output) => ({
      stop_reason: output.finish,
      tokens: output.tokens,
      logprobs: output.logprobs,
    })),
    ...(promptLogprobs === undefined
      ? {}
      : { prompt_logprobs: Array.from(promptLogprobs, (value, i) => (i === 0 ? null : value)) }),
  }
}

export const sample: Handler = ({ context, body, digest }) => {
  const sessionId = optionalText(body, 'sampling_session_id')
  const path = optionalText(body, 'model_path')
  const baseModel = optionalText(body, 'base_model')
  const sampler =
    sessionId === undefined
      ? addSampler(context, path ?? `base ${baseModel}`, path, baseModel)
      : context.samplers.find(sessionId)
  if (countOf(body, 'topk_prompt_logprobs', 0) > 0)
    throw refuse('tinker-bad-request', 'topk_prompt_logprobs cannot be had here', { expected: '0' })
  const prompt = readModelInput(fieldsOf(body['prompt'], 'prompt'))
  const count = countOf(body, 'num_samples', 1, 1)
  if (count > mostSamples)
    throw refuse('tinker-bad-request', 'That are too many samples for one request', {
      given: count,
      expected: `at most ${mostSamples}`,
    })
  const params = fieldsOf(body['sampling_params'] ?? {}, 'sampling_params')
  const agoge = optionalFields(body, 'agoge')
  const seed = params['seed'] == null ? undefined : numberOf(params, 'seed', undefined)
  const window = sampler.baseModel.config.max_position_embeddings
  const options = readOptions(params, window, agoge === undefined ? 0 : (seed ?? 0))
  const promptLogprobs = flagOf(body, 'prompt_logprobs', false)
  const keys = keysOf(agoge, seed, count)
  const batch = agoge === undefined ? undefined : readBatch(agoge)

  const number = sessionId === undefined ? undefined : optionalCount(body, 'seq_id')
  const key = number === undefined ? undefined : `${sampler.id} ${number}`
  const requestId = once(context.samples, key, digest, () => {
    const drawing = context.work.sample<Row, SampleOutput>({
      group: `${sampler.id} ${JSON.stringify(options)}`,
      rows: keys.map((each, i) => ({
        prompt,
        key: each,
        options,
        promptLogprobs: promptLogprobs && i === 0,
      })),
      ...defined({ batch }),
      isApart: () => context.samplers.isApart(sampler.id),
      draw: async (rows) => draw(await context.samplers.open(sampler.id), rows),
    })
    return context.futures.add('sample', drawing.then(responseOf))
  })
  return taken(requestId)
}
