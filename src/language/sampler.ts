import { uniformAt } from '../random/index.ts'
import type { SampleOptions, SampleOutput, SampleRequest } from './backend.ts'
import type { TransformerConfig } from './config.ts'
import { drawToken, likeliestToken } from './draw.ts'
import { bytesPerToken } from './key-value-cache.ts'
import type { Parameters } from './parameters.ts'
import { checkRequests, longestRow } from './sample-requests.ts'
import { planSlots } from './slot-plan.ts'
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
const prefillTokens = 4096
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

  /** Reads what is left of the prompts, range by range, and draws the first token of every row. */
  async function prefill(
    rows: readonly Row[],
    leaders: readonly (number | undefined)[],
    options: SampleOptions,
  ) {
    const followers = rows.map((): Row[] => [])
    leaders.forEach((leader, i) => {
      if (leader !== undefined) followers[leader].push(rows[i])
    })
    const reading = rows
      .map((row, index) => ({ row, index }))
      .filter(({ index }) => leaders[index] === undefined)
      .sort((a, b) => a.row.slot - b.row.slot)
    const left = ({ row }: { row: Row }): number => row.request.prompt.length - cache.lengths[row.slot]
    let next = 0
    while (next < reading.length) {
      const first = reading[next].row.slot
      const members = reading.slice(next).filter(({ row }) => row.slot < first + prefillRows)
      next += members.length
      while (members.length > 0) {
        options.signal?.throwIfAborted()
        const chunk = Math.min(prefillChunk, Math.max(...members.map(left)))
        // Long chunks are read by fewer rows at a time, those at the front; what is done leaves the list.
        const from = members[0].row.slot
        const most = Math.max(1, Math.floor(prefillTokens / chunk))
        const now = members.filter(({ row }) => row.slot < from + most)
        const count = now.at(-1)!.row.slot - from + 1
        const tokens = new Int32Array(count * chunk)
        const positions = new Int32Array(count * chunk)
        const ending: { row: Row; index: number }[] = []
        const places: number[] = []
        const read = now.map((member) => {
          const { row } = member
          const at = cache.lengths[row.slot]
          const part = row.request.prompt.subarray(at, at + chunk)
          const start = (row.slot - from) * chunk
          tokens.set(part, start)
          for (let c = 0; c < chunk; c++) positions[start + c] = Math.min(at + c, window - 1)
          if (at + part.length === row.request.prompt.length) {
            ending.push(member)
            places.push(start + part.length - 1)
          }
          return part
        })
        // A run must give at least one distribution; one that nobody needs is ignored.
        const wanted = Int32Array.from(places.length > 0 ? places : [0])
        const { probabilities, run } = await reader.prefill(from, tokens, positions, chunk, wanted)
        now.forEach(({ row }, i) => cache.append(row.slot, read[i], run, row.slot - from))
        ending.forEach(({ row, index }, place) => {
          for (const each of followers[index]) {
            cache.copy(row.slot, each.slot, row.request.prompt.length)
            draw(each, probabilities, place, options)
          }
          draw(row, probabilities, place, options)
          members.splice(
            members.findIndex((member) => member.row === row),
            1,
          )
        })
      }
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
      if (longest > cache.capacity) cache.reserve(cache.slots, roundUp(longest))
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
    cache.reserve(requests.length, roundUp(longest + 1))
    const plans = planSlots(
      cache,
      requests.map(({ prompt }) => prompt),
    )
    const rows = requests.map((request, i): Row => ({
      request,
      slot: plans[i].slot,
      tokens: [],
      logprobs: [],
      limit: Math.min(options.maxTokens, window - request.prompt.length),
    }))
    await prefill(
      rows,
      plans.map(({ leader }) => leader),
      options,
    )
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
        const part = requests.slice(start, start + size)
        const after = Math.max(cache.slots, part.length) * Math.max(cache.capacity, needed) * bytes
        if (after > cacheBytes) cache.clear()
        rows.push(...(await wave(part, options)))
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
