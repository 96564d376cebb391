import { defined } from '../../defined.ts'
import type { HostTensor, Program } from '../../engine/tensor/index.ts'
import { causalLimits, rotaryTable } from '../model/attention.ts'
import { headWidth, type TransformerConfig } from '../model/config.ts'
import { createFolding, type FoldedWeights } from '../model/folded-weights.ts'
import type { Parameters } from '../model/parameters.ts'
import { createOutputBuffers } from '../model/programs.ts'
import type { GenerationSettings } from '../model-backend.ts'
import { createFewRowsDecoder, type FewRowsDecoder, isForFewRows, mostFewRows } from './few-rows-decoder.ts'
import { createKeyValueCache, type KeyValueCache, type NewRows } from './key-value-cache.ts'
import { createQuantisedFolding, type SamplingWeights } from './quantised-weights.ts'
import { compileDecode, compilePrefill, compilePrompt } from './sampling-programs.ts'

/** Watches a row for the sequences that end it. */
export interface StopWatch {
  /** Called with every token in order; returns whether the row ends with it. */
  ends(token: number): boolean
}

/** `bytesOf` returns the text of a token as UTF-8; only called if there are texts among the sequences. */
export function createStopWatch(
  { stop, stopSequences = [] }: Pick<GenerationSettings, 'stop' | 'stopSequences'>,
  bytesOf: (token: number) => Uint8Array,
): StopWatch {
  const runs = stopSequences.filter((sequence) => typeof sequence !== 'string')
  const texts = stopSequences.filter((sequence) => typeof sequence === 'string')
  const patterns = texts.map((text) => Buffer.from(text))
  const longestText = Math.max(0, ...patterns.map(({ length }) => length))
  const longestRun = Math.max(0, ...runs.map(({ length }) => length))
  const lastTokens: number[] = []
  let lastBytes = Buffer.alloc(0)

  return {
    ends(token) {
      if (stop.includes(token)) return true
      if (longestRun > 0) {
        lastTokens.push(token)
        if (lastTokens.length > longestRun) lastTokens.shift()
        if (runs.some((run) => endsWith(lastTokens, run))) return true
      }
      if (longestText === 0) return false
      // A text may begin in earlier tokens and end anywhere in this one.
      const seen = Buffer.concat([lastBytes, bytesOf(token)])
      lastBytes = seen.subarray(Math.max(0, seen.length - longestText + 1))
      return patterns.some((pattern) => seen.includes(pattern))
    },
  }
}

const endsWith = (tokens: readonly number[], end: readonly number[]): boolean =>
  end.length <= tokens.length && end.every((token, i) => tokens[tokens.length - end.length + i] === token)

/** Result of a run, valid until the next: distributions [rows, vocabulary], and the keys and values for `cache.append`. */
export interface ReadTokens {
  probabilities: Float32Array
  /**
   * If requested, the logarithms of the distributions up to a constant per row, which do not underflow as probabilities
   * do.
   */
  logits?: Float32Array
  run: NewRows
}

/** Which distributions to compute. */
interface Wanted {
  /** The factor of each distribution's logits. */
  inverseTemperatures: Float32Array
  logits: boolean
}

/** Runs new tokens through the model after a cache of earlier ones. Does not write to the cache. */
export interface TokenReader {
  readonly cache: KeyValueCache
  /** Reads `chunk` tokens for each of `count` slots from `first`; returns distributions after the flat positions `rows`. */
  prefill(
    first: number,
    tokens: Int32Array,
    positions: Int32Array,
    chunk: number,
    rows: Int32Array,
    wanted: Wanted,
  ): Promise<ReadTokens>
  /** Reads one token for each of the first slots; returns a distribution for each. */
  decode(tokens: Int32Array, positions: Int32Array, wanted: Wanted): Promise<ReadTokens>
  /** Call it after the weights change. */
  clear(): void
  dispose(): Promise<void>
}

export interface TokenReaderOptions {
  config: TransformerConfig
  parameters: Parameters
  threads?: number
  /** Default: `float32`. */
  samplingWeights?: SamplingWeights
}

export function createTokenReader({
  config,
  parameters,
  threads,
  samplingWeights = 'float32',
}: TokenReaderOptions): TokenReader {
  const window = config.max_position_embeddings
  const width = headWidth(config)
  const heads = config.num_key_value_heads
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer)
  let madeTable: ReturnType<typeof rotaryTable> | undefined
  const table = () => (madeTable ??= rotaryTable(config, window))
  let madeFeeds: Record<string, HostTensor> | undefined
  const cache = createKeyValueCache(config)
  const fixedFeeds = () =>
    (madeFeeds ??= {
      cosineTable: { data: table().cosine, shape: [window, width / 2] },
      sineTable: { data: table().sine, shape: [window, width / 2] },
    })
  const fold = (samplingWeights === 'int8' ? createQuantisedFolding : createFolding)(parameters, config)
  const buffers = createOutputBuffers()
  let folded: FoldedWeights | undefined
  let pastPlace: readonly unknown[] = []
  let pastFeeds: Record<string, HostTensor> = {}
  // The few-rows decoder has no int8, and the weights that read a row must not depend on the number of rows.
  const isSmall = samplingWeights === 'float32' && isForFewRows(config)
  const programs = new Map<string, Promise<Program>>()
  const compilers = { prompt: compilePrompt, prefill: compilePrefill, decode: compileDecode }

  function program(kind: keyof typeof compilers, logits: boolean): Promise<Program> {
    const name = `${kind} ${logits}`
    const options = { logits, weights: samplingWeights, ...defined({ threads }) }
    const made = programs.get(name) ?? compilers[kind](config, options)
    programs.set(name, made)
    return made
  }

  const weights = (): FoldedWeights => (folded ??= fold())
  let fewRows: FewRowsDecoder | undefined

  /** Keys and values of `count` slots from `first`; the same feeds while the arrays do not move. */
  function past(first: number, count: number): Record<string, HostTensor> {
    const { capacity, limits, keys, values } = cache
    const place = [limits, first, count]
    if (place.every((part, i) => part === pastPlace[i])) return pastFeeds
    const envSize = heads * capacity * width
    const shape = [count, heads, capacity, width]
    const view = (array: Float32Array): HostTensor => ({
      data: array.subarray(first * envSize, (first + count) * envSize),
      shape,
    })
    const ofEnvs = limits.subarray(first * capacity, (first + count) * capacity)
    pastPlace = place
    pastFeeds = { pastLimits: { data: ofEnvs, shape: [count, 1, 1, capacity] } }
    for (const layer of layers) {
      pastFeeds[`keys.${layer}`] = view(keys[layer])
      pastFeeds[`values.${layer}`] = view(values[layer])
    }
    return pastFeeds
  }

  /** Runs a chunk of each of `count` slots. */
  async function run(
    kind: keyof typeof compilers,
    feeds: Record<string, HostTensor>,
    { inverseTemperatures, logits }: Wanted,
    { count, chunk }: { count: number; chunk: number },
  ): Promise<ReadTokens> {
    const rows = inverseTemperatures.length
    const into: Record<string, HostTensor> = {}
    for (const name of logits ? ['probabilities', 'logits'] : ['probabilities'])
      into[name] = buffers(name, [rows, config.vocab_size])
    const shape = [count, heads, chunk, width]
    for (const layer of layers)
      for (const name of [`newKeys.${layer}`, `newValues.${layer}`]) into[name] = buffers(name, shape)
    const compiled = await program(kind, logits)
    const temperatures = { data: inverseTemperatures, shape: [rows, 1] }
    const outputs = await compiled.run(
      { ...weights(), ...fixedFeeds(), ...feeds, inverseTemperatures: temperatures },
      into,
    )
    const array = (name: string): Float32Array => outputs[name].data as Float32Array
    const keys = layers.map((layer) => array(`newKeys.${layer}`))
    const values = layers.map((layer) => array(`newValues.${layer}`))
    return {
      probabilities: array('probabilities'),
      ...(logits && { logits: array('logits') }),
      run: { keys, values, chunk },
    }
  }

  return {
    cache,
    prefill(first, tokens, positions, chunk, rows, wanted) {
      const count = tokens.length / chunk
      const feeds = {
        tokens: { data: tokens, shape: [count, chunk] },
        positions: { data: positions, shape: [count, chunk] },
        newLimits: { data: causalLimits(chunk), shape: [chunk, chunk] },
        rows: { data: rows, shape: [rows.length] },
      }
      const isNew = cache.lengths.subarray(first, first + count).every((length) => length === 0)
      return isNew
        ? run('prompt', feeds, wanted, { count, chunk })
        : run('prefill', { ...feeds, ...past(first, count) }, wanted, { count, chunk })
    },
    async decode(tokens, positions, wanted) {
      const count = tokens.length
      if (isSmall && count <= mostFewRows) {
        fewRows ??= createFewRowsDecoder(config, cache, weights, table())
        // Runs synchronously: others get their turn between tokens.
        await new Promise(setImmediate)
        return fewRows.decode(tokens, positions, wanted.inverseTemperatures)
      }
      const feeds = {
        ...past(0, count),
        tokens: { data: tokens, shape: [count] },
        positions: { data: positions, shape: [count] },
      }
      return run('decode', feeds, wanted, { count, chunk: 1 })
    },
    clear() {
      cache.clear()
      folded = undefined
      fewRows?.clear()
    },
    async dispose() {
      cache.clear()
      const made = await Promise.all(programs.values())
      programs.clear()
      await Promise.all(made.map((compiled) => compiled.release()))
    },
  }
}
