import type { SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import { createGrammars, textOf } from '../grammar/cursor.ts'
import type { Grammars, TokenTexts } from '../grammar/cursor.ts'
import { bytesPerToken, joinRows, planRows } from './key-value-cache.ts'
import { createPrefill } from './prefill.ts'
import { checkRequests, drawNext, inverseTemperature, outputOf, settingsOf } from './requests.ts'
import type { Distributions, Row } from './requests.ts'
import { createStopWatch, createTokenReader, type TokenReaderOptions } from './token-reader.ts'

export interface SamplerOptions extends TokenReaderOptions {
  /** Memory of the cache. Rows that do not fit wait until others end. */
  cacheBytes: number
}

export interface Sampler {
  /**
   * Samples a row for each request. Calls may overlap: rows of a later call join the rows being decoded at their next
   * token. A call that finds no active rows arranges the cache for itself, unless it is `concurrent`, so its result
   * depends only on its requests and on what was sampled before.
   */
  sample(
    requests: readonly SampleRequest[],
    options: SampleOptions,
    weightVersion: number,
    concurrent?: boolean,
  ): Promise<SampleOutput[]>
  /** Provides the texts of tokens, for grammars and stop texts. */
  setTexts(texts: TokenTexts | undefined): void
  /** Drops all cached keys and values. Needed whenever the weights change. */
  clear(): void
  dispose(): Promise<void>
}

interface Call {
  rows: Row[]
  options: SampleOptions
  concurrent: boolean
  ended: boolean
  /** Called when every row has ended. */
  resolve(): void
  reject(why: unknown): void
}

/** Cache capacities are multiples of this. */
const capacityStep = 32
/** Finished rows are removed from the batch when they exceed this fraction of it. */
const idleShare = 0.15

const roundUp = (length: number): number => Math.ceil(length / capacityStep) * capacityStep

/** Batched sampling with cached keys and values; see `ModelBackend.sample`. */
export function createSampler({ cacheBytes, ...ofReader }: SamplerOptions): Sampler {
  const { config } = ofReader
  const window = config.max_position_embeddings
  const vocabulary = config.vocab_size
  const reader = createTokenReader(ofReader)
  const { cache } = reader
  const calls = new Map<Row, Call>()
  /** Rows in the first slots, in order; some may have ended. */
  let batch: Row[] = []
  let waiting: Row[] = []
  let busy = false
  /** Whether to drop the cache once no rows are active. */
  let isStale = false
  let texts: TokenTexts | undefined
  let grammars: Grammars | undefined

  const isLive = ({ finish }: Row): boolean => finish === undefined
  const envsThatFit = (capacity: number): number =>
    Math.floor(cacheBytes / (capacity * bytesPerToken(config)))
  const needed = ({ request, settings }: Row): number =>
    Math.min(window, request.prompt.length + settings.maxTokens)

  function createRow(request: SampleRequest, options: SampleOptions): Row {
    const settings = settingsOf(request, options)
    return {
      request,
      settings,
      limit: Math.min(settings.maxTokens, window - request.prompt.length),
      watch: createStopWatch(settings, (token) => textOf(texts!, token)),
      cursor:
        settings.grammar === undefined
          ? undefined
          : (grammars ??= createGrammars(texts!)).start(settings.grammar),
      slot: -1,
      tokens: [],
      logprobs: [],
      drawnLogprobs: [],
      topLogprobs: [],
    }
  }

  /** Ends a call at once and removes its rows. */
  function fail(call: Call, why: unknown): void {
    if (call.ended) return
    call.ended = true
    for (const row of call.rows) {
      row.finish ??= 'length'
      calls.delete(row)
    }
    waiting = waiting.filter(isLive)
    call.reject(why)
  }

  function draw(row: Row, distributions: Distributions, place: number): void {
    const call = calls.get(row)
    if (call === undefined || !isLive(row)) return
    try {
      drawNext(row, distributions, place, vocabulary)
      call.options.onToken?.(call.rows.indexOf(row), row.tokens.at(-1)!, row.logprobs.at(-1)!)
    } catch (error) {
      return fail(call, error)
    }
    if (isLive(row)) return
    calls.delete(row)
    if (call.rows.some(isLive) || call.ended) return
    call.ended = true
    call.resolve()
  }

  function endAborted(): void {
    for (const call of new Set(calls.values()))
      if (call.options.signal?.aborted === true) fail(call, call.options.signal.reason)
  }

  const prefill = createPrefill({ reader, window, draw, beforeChunk: endAborted })

  /** Moves active rows to the front slots and removes finished ones. */
  function compact(): void {
    const live = batch.filter(isLive).length
    let free = 0
    for (let slot = live; slot < batch.length; slot++) {
      if (!isLive(batch[slot])) continue
      while (isLive(batch[free])) free++
      cache.swap(slot, free)
      ;[batch[slot], batch[free]] = [batch[free], batch[slot]]
      batch[free].slot = free
    }
    batch.length = live
  }

  /** The next waiting rows: as many as fit beside the active ones at their greatest length, but at least one. */
  function takeWaiting(): Row[] {
    const live = batch.filter(isLive)
    let longest = Math.max(0, ...live.map(needed))
    let count = 0
    for (const row of waiting) {
      longest = Math.max(longest, needed(row))
      if (live.length + count >= Math.max(1, envsThatFit(roundUp(longest)))) break
      count++
    }
    return waiting.splice(0, count)
  }

  /** Moves waiting rows into the batch: reads their prompts and draws their first tokens. */
  async function admit(): Promise<void> {
    const joining = takeWaiting()
    if (joining.length === 0) return
    compact()
    const prompts = joining.map(({ request }) => request.prompt)
    const plans = planRows(cache, prompts)
    const left = (i: number): number =>
      plans[i].leader === undefined ? prompts[i].length - plans[i].length : 0
    // Rows with the longest rest to read come first.
    const order = joining.map((_, i) => i).sort((a, b) => left(b) - left(a) || a - b)
    const beginnings = order.map((i) => plans[i])
    const first = batch.length
    const lengths = [...cache.lengths.subarray(0, first), ...prompts.map(({ length }) => length)]
    const capacity = roundUp(1 + Math.max(...lengths))
    if (first > 0 || calls.get(joining[0])?.concurrent === true)
      joinRows(cache, first, beginnings, capacity, envsThatFit)
    else cache.arrange(beginnings, capacity)
    for (const [place, i] of order.entries()) {
      joining[i].slot = first + place
      batch.push(joining[i])
    }
    const followers = new Map<Row, Row[]>()
    for (const [i, { leader }] of plans.entries()) {
      if (leader === undefined) continue
      followers.set(joining[leader], [...(followers.get(joining[leader]) ?? []), joining[i]])
    }
    const readers = order.filter((i) => plans[i].leader === undefined).map((i) => joining[i])
    await prefill(readers, followers)
  }

  /** Draws one more token for every row of the batch. */
  async function step(): Promise<void> {
    if (batch.filter(isLive).length < batch.length * (1 - idleShare)) compact()
    const count = batch.length
    const tokens = new Int32Array(count)
    const positions = new Int32Array(count)
    const inverseTemperatures = new Float32Array(count)
    let longest = 0
    for (const [place, row] of batch.entries()) {
      const length = cache.lengths[place]
      tokens[place] = row.tokens.at(-1) ?? 0
      positions[place] = Math.min(length, window - 1)
      inverseTemperatures[place] = inverseTemperature(row.settings)
      if (isLive(row)) longest = Math.max(longest, length + 1)
    }
    const capacity = roundUp(longest)
    cache.grow(capacity, Math.max(count, envsThatFit(capacity)))
    const logits = batch.some((row) => isLive(row) && row.cursor !== undefined)
    const read = await reader.decode(tokens, positions, { inverseTemperatures, logits })
    for (const [place, row] of batch.entries()) {
      if (!isLive(row)) continue
      cache.append(place, [tokens[place]], read.run, place)
      draw(row, read, place)
    }
  }

  function clearIfAsked(): void {
    if (isStale) reader.clear()
    isStale = false
  }

  async function work(): Promise<void> {
    try {
      for (;;) {
        endAborted()
        if (!batch.some(isLive)) clearIfAsked()
        await admit()
        if (batch.some(isLive)) {
          endAborted()
          if (batch.some(isLive)) await step()
        } else if (waiting.length === 0) break
      }
    } catch (error) {
      for (const call of new Set(calls.values())) fail(call, error)
      // Rows may be partly read.
      cache.clear()
    } finally {
      // In the same turn of the event loop as the last check of the queue: later calls start anew.
      busy = false
      batch = []
      clearIfAsked()
    }
  }

  return {
    async sample(requests, options, weightVersion, concurrent = false) {
      checkRequests(requests, options, config, texts !== undefined)
      options.signal?.throwIfAborted()
      if (requests.length === 0) return []
      const rows = requests.map((request) => createRow(request, options))
      await new Promise<void>((resolve, reject) => {
        const call: Call = { rows, options, concurrent, ended: false, resolve, reject }
        for (const row of rows) calls.set(row, call)
        waiting.push(...rows)
        if (busy) return
        busy = true
        void work()
      })
      return rows.map((row) => outputOf(row, weightVersion))
    },
    setTexts(next) {
      texts = next
      grammars = undefined
    },
    clear() {
      if (busy) isStale = true
      else reader.clear()
    },
    dispose: () => reader.dispose(),
  }
}
