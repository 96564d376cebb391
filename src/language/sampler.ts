import { uniformAt } from '../random/index.ts'
import type { SampleOptions, SampleOutput, SampleRequest } from './backend.ts'
import type { TransformerConfig } from './config.ts'
import { drawToken, likeliestToken } from './draw.ts'
import { bytesPerToken } from './key-value-cache.ts'
import type { Parameters } from './parameters.ts'
import { checkRequests, longestRow } from './sample-requests.ts'
import { planRows } from './slot-plan.ts'
import { createTokenReader } from './token-reader.ts'

export interface SamplerOptions {
  config: TransformerConfig
  parameters: Parameters
  threads?: number
  /** More rows than fit into this are sampled in several waves. */
  cacheBytes: number
}

export interface Sampler {
  sample(
    requests: readonly SampleRequest[],
    options: SampleOptions,
    weightVersion: number,
  ): Promise<SampleOutput[]>
  /** Drops all cached keys and values: needed whenever the weights change. */
  clear(): void
  dispose(): Promise<void>
}

/** One row being sampled. */
interface Row {
  request: SampleRequest
  slot: number
  tokens: number[]
  logprobs: number[]
  limit: number
  finish?: 'stop' | 'length'
}

/** Cache capacities are multiples of this, prefill runs have at most so many rows, positions and tokens. */
const capacityStep = 32
const prefillRows = 64
const prefillChunk = 128
const prefillTokens = 1024
/** Finished rows are moved out of the batch when they are more than this part of it. */
const idleShare = 0.15

const roundUp = (length: number): number => Math.ceil(length / capacityStep) * capacityStep

/** Batched sampling with cached keys and values; see `ModelBackend.sample`. */
export function createSampler({ config, parameters, threads, cacheBytes }: SamplerOptions): Sampler {
  const window = config.max_position_embeddings
  const vocabulary = config.vocab_size
  const reader = createTokenReader(config, parameters, threads)
  const { cache } = reader

  function draw(row: Row, probabilities: Float32Array, place: number, options: SampleOptions): void {
    const { request, tokens, logprobs } = row
    const start = place * vocabulary
    const uniform = () => uniformAt(options.seed, request.key, request.prompt.length + tokens.length)
    const token =
      options.temperature === 0
        ? likeliestToken(probabilities, start, vocabulary)
        : drawToken(probabilities, start, vocabulary, uniform())
    tokens.push(token)
    logprobs.push(Math.log(probabilities[start + token]))
    if (options.stop.includes(token)) row.finish = 'stop'
    else if (tokens.length >= row.limit) row.finish = 'length'
  }

  /**
   * Reads what is left of the prompts of `readers`, which stand in the first slots, those with most left in front, and
   * draws the first token of every row: of followers too, whose prompt is that of a reader.
   */
  async function prefill(readers: readonly Row[], followers: Map<Row, Row[]>, options: SampleOptions) {
    const left = (row: Row): number => row.request.prompt.length - cache.lengths[row.slot]
    let from = 0
    while (from < readers.length) {
      const longest = Math.min(prefillChunk, left(readers[from]))
      const most = Math.min(prefillRows, Math.max(1, Math.floor(prefillTokens / longest)))
      const members = readers.slice(from, from + most).filter((row) => 2 * left(row) >= longest)
      // Only rows with more left than a chunk, which stand in front, take part in the next round.
      for (let now = members; now.length > 0; now = now.filter((row) => left(row) > 0)) {
        options.signal?.throwIfAborted()
        await readChunk(now, Math.min(prefillChunk, left(now[0])))
      }
      from += members.length
    }

    async function readChunk(rows: readonly Row[], chunk: number): Promise<void> {
      const tokens = new Int32Array(rows.length * chunk)
      const positions = new Int32Array(rows.length * chunk)
      const ending: Row[] = []
      const places: number[] = []
      const parts = rows.map((row, i) => {
        const at = cache.lengths[row.slot]
        const part = row.request.prompt.subarray(at, at + chunk)
        tokens.set(part, i * chunk)
        for (let c = 0; c < chunk; c++) positions[i * chunk + c] = Math.min(at + c, window - 1)
        if (at + part.length === row.request.prompt.length) {
          ending.push(row)
          places.push(i * chunk + part.length - 1)
        }
        return part
      })
      // A run must give at least one distribution; one that nobody needs is ignored.
      const wanted = Int32Array.from(places.length > 0 ? places : [0])
      const { probabilities, run } = await reader.prefill(rows[0].slot, tokens, positions, chunk, wanted)
      rows.forEach((row, i) => cache.append(row.slot, parts[i], run, i))
      ending.forEach((row, place) => {
        for (const follower of followers.get(row) ?? []) {
          cache.copy(row.slot, follower.slot, row.request.prompt.length)
          draw(follower, probabilities, place, options)
        }
        draw(row, probabilities, place, options)
      })
    }
  }

  /** Moves unfinished rows to the front slots and gives them in the order of their slots. */
  function compact(rows: readonly Row[]): Row[] {
    const active = rows.filter((row) => row.finish === undefined).sort((a, b) => a.slot - b.slot)
    const holder = new Map(rows.map((row) => [row.slot, row]))
    let free = 0
    const moving = active.filter((row) => row.slot >= active.length)
    for (const row of moving) {
      while (holder.get(free)?.finish === undefined && holder.has(free)) free++
      const other = holder.get(free)
      const from = row.slot
      cache.swap(from, free)
      row.slot = free
      holder.set(free, row)
      if (other !== undefined) {
        other.slot = from
        holder.set(from, other)
      }
      free++
    }
    return active.sort((a, b) => a.slot - b.slot)
  }

  async function decode(rows: readonly Row[], options: SampleOptions): Promise<void> {
    let batch = compact(rows)
    let idle = 0
    while (batch.length > idle) {
      options.signal?.throwIfAborted()
      if (idle > batch.length * idleShare) {
        batch = compact(rows)
        idle = 0
      }
      const count = batch.length
      const tokens = new Int32Array(count)
      const positions = new Int32Array(count)
      let longest = 0
      for (const [place, row] of batch.entries()) {
        const length = cache.lengths[row.slot]
        tokens[place] = row.tokens.at(-1)!
        positions[place] = Math.min(length, window - 1)
        if (row.finish === undefined) longest = Math.max(longest, length + 1)
      }
      cache.grow(roundUp(longest))
      const { probabilities, run } = await reader.decode(tokens, positions)
      for (const [place, row] of batch.entries()) {
        if (row.finish !== undefined) continue
        cache.append(row.slot, [tokens[place]], run, place)
        draw(row, probabilities, place, options)
        if (row.finish !== undefined) idle++
      }
    }
  }

  async function wave(requests: readonly SampleRequest[], options: SampleOptions): Promise<Row[]> {
    const longest = Math.max(...requests.map(({ prompt }) => prompt.length))
    const plans = planRows(
      cache,
      requests.map(({ prompt }) => prompt),
    )
    const rows = requests.map((request): Row => ({
      request,
      slot: -1,
      tokens: [],
      logprobs: [],
      limit: Math.min(options.maxTokens, window - request.prompt.length),
    }))
    const left = (i: number): number =>
      plans[i].leader === undefined ? requests[i].prompt.length - plans[i].length : 0
    const order = rows.map((_, i) => i).sort((a, b) => left(b) - left(a) || a - b)
    order.forEach((i, slot) => (rows[i].slot = slot))
    cache.arrange(
      order.map((i) => plans[i]),
      roundUp(longest + 1),
    )
    const followers = new Map<Row, Row[]>()
    for (const [i, { leader }] of plans.entries()) {
      if (leader === undefined) continue
      followers.set(rows[leader], [...(followers.get(rows[leader]) ?? []), rows[i]])
    }
    const readers = order.filter((i) => plans[i].leader === undefined).map((i) => rows[i])
    await prefill(readers, followers, options)
    await decode(rows, options)
    return rows
  }

  return {
    async sample(requests, options, weightVersion) {
      checkRequests(requests, options, config)
      reader.setTemperature(options.temperature)
      const rows: Row[] = []
      const bytes = bytesPerToken(config)
      const needed = roundUp(longestRow(requests, options.maxTokens, window))
      const size = Math.max(1, Math.floor(cacheBytes / (needed * bytes)))
      for (let start = 0; start < requests.length; start += size) {
        rows.push(...(await wave(requests.slice(start, start + size), options)))
      }
      return rows.map(({ tokens, logprobs, finish }) => ({
        tokens: Int32Array.from(tokens),
        logprobs: Float32Array.from(logprobs),
        finish: finish ?? 'length',
        weightVersion,
      }))
    },
    clear: () => reader.clear(),
    dispose: () => reader.dispose(),
  }
}
