import type { HostTensor, Program } from '../tensor/index.ts'
import { causalLimits, rotaryTable } from './attention.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { createFolding } from './folded-weights.ts'
import type { FoldedWeights } from './folded-weights.ts'
import { createKeyValueCache } from './key-value-cache.ts'
import type { KeyValueCache, NewRows } from './key-value-cache.ts'
import { createOutputBuffers } from './output-buffers.ts'
import type { Parameters } from './parameters.ts'
import { compileDecode, compilePrefill, compilePrompt } from './sampling-programs.ts'

/** What a run gives, good until the next: distributions [rows, vocabulary], and the keys and values for `cache.append`. */
export interface ReadTokens {
  probabilities: Float32Array
  run: NewRows
}

/** Runs new tokens through the model beside a cache of those before. It does not write into the cache itself. */
export interface TokenReader {
  readonly cache: KeyValueCache
  /** `chunk` tokens for each of `count` slots from `first`; distributions after the flat positions `rows`. */
  prefill(
    first: number,
    tokens: Int32Array,
    positions: Int32Array,
    chunk: number,
    rows: Int32Array,
  ): Promise<ReadTokens>
  /** One token for each of the first slots; a distribution for each. */
  decode(tokens: Int32Array, positions: Int32Array): Promise<ReadTokens>
  /** Divides the logits from now on; 0 stands for greedy choice, which is reported at temperature 1. */
  setTemperature(temperature: number): void
  /** To be called when the weights have changed. */
  clear(): void
  dispose(): Promise<void>
}

export function createTokenReader(
  config: TransformerConfig,
  parameters: Parameters,
  threads?: number,
): TokenReader {
  const window = config.max_position_embeddings
  const width = headWidth(config)
  const heads = config.num_key_value_heads
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer)
  const table = rotaryTable(config, window)
  const cache = createKeyValueCache(config)
  const inverseTemperature = new Float32Array(1)
  const fixedFeeds = {
    cosineTable: { data: table.cosine, shape: [window, width / 2] },
    sineTable: { data: table.sine, shape: [window, width / 2] },
    inverseTemperature: { data: inverseTemperature, shape: [1] },
  }
  const fold = createFolding(parameters, config)
  const buffers = createOutputBuffers()
  let folded: FoldedWeights | undefined
  let pastPlace: readonly unknown[] = []
  let pastFeeds: Record<string, HostTensor> = {}
  const programs: { prompt?: Promise<Program>; prefill?: Promise<Program>; decode?: Promise<Program> } = {}

  function weights(): Record<string, HostTensor> {
    folded ??= fold()
    return { ...folded, ...fixedFeeds }
  }

  /** Keys and values of `count` slots from `first`: the same feeds as long as they lie where they lay. */
  function past(first: number, count: number): Record<string, HostTensor> {
    const { capacity, limits, keys, values } = cache
    const place = [limits, first, count]
    if (place.every((part, i) => part === pastPlace[i])) return pastFeeds
    const slotSize = heads * capacity * width
    const shape = [count, heads, capacity, width]
    const view = (array: Float32Array): HostTensor => ({
      data: array.subarray(first * slotSize, (first + count) * slotSize),
      shape,
    })
    const ofSlots = limits.subarray(first * capacity, (first + count) * capacity)
    pastPlace = place
    pastFeeds = { pastLimits: { data: ofSlots, shape: [count, 1, 1, capacity] } }
    for (const layer of layers) {
      pastFeeds[`keys.${layer}`] = view(keys[layer])
      pastFeeds[`values.${layer}`] = view(values[layer])
    }
    return pastFeeds
  }

  /** Runs a chunk of each of `count` slots; distributions come for `rows` positions. */
  async function run(
    program: Program,
    feeds: Record<string, HostTensor>,
    { count, chunk, rows }: { count: number; chunk: number; rows: number },
  ): Promise<ReadTokens> {
    const into = { probabilities: buffers('probabilities', [rows, config.vocab_size]) }
    const shape = [count, heads, chunk, width]
    for (const layer of layers)
      for (const name of [`newKeys.${layer}`, `newValues.${layer}`])
        Object.assign(into, { [name]: buffers(name, shape) })
    const outputs = await program.run(feeds, into)
    const array = (name: string): Float32Array => outputs[name].data as Float32Array
    const keys = layers.map((layer) => array(`newKeys.${layer}`))
    const values = layers.map((layer) => array(`newValues.${layer}`))
    return { probabilities: array('probabilities'), run: { keys, values, chunk } }
  }

  return {
    cache,
    async prefill(first, tokens, positions, chunk, rows) {
      const count = tokens.length / chunk
      const feeds = {
        ...weights(),
        tokens: { data: tokens, shape: [count, chunk] },
        positions: { data: positions, shape: [count, chunk] },
        newLimits: { data: causalLimits(chunk), shape: [chunk, chunk] },
        rows: { data: rows, shape: [rows.length] },
      }
      if (cache.lengths.subarray(first, first + count).every((length) => length === 0)) {
        programs.prompt ??= compilePrompt(config, threads)
        return run(await programs.prompt, feeds, { count, chunk, rows: rows.length })
      }
      programs.prefill ??= compilePrefill(config, threads)
      return run(
        await programs.prefill,
        { ...feeds, ...past(first, count) },
        { count, chunk, rows: rows.length },
      )
    },
    async decode(tokens, positions) {
      const count = tokens.length
      const feeds = {
        ...weights(),
        ...past(0, count),
        tokens: { data: tokens, shape: [count] },
        positions: { data: positions, shape: [count] },
      }
      programs.decode ??= compileDecode(config, threads)
      return run(await programs.decode, feeds, { count, chunk: 1, rows: count })
    },
    setTemperature(temperature) {
      inverseTemperature[0] = temperature === 0 ? 1 : 1 / temperature
    },
    clear() {
      cache.clear()
      folded = undefined
    },
    async dispose() {
      cache.clear()
      const made = await Promise.all(Object.values(programs))
      delete programs.prompt
      delete programs.prefill
      delete programs.decode
      await Promise.all(made.map((program) => program.release()))
    },
  }
}
