import { AgogeError } from '../../error.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import type {
  ModelBackend,
  SampleOptions,
  SampleOutput,
  SampleRequest,
  TokenLogprob,
} from '../model-backend.ts'

export type QueuedRequest = SampleRequest & Omit<SampleOptions, 'signal' | 'onToken'>

export interface SampleQueue {
  /**
   * Samples one client's requests in a batch with those of others. `onToken` receives each token as it is drawn, with the index
   * of its request; an error it throws fails only its own client. Rejects with the signal's reason when the client aborts.
   *
   * @throws AgogeError `overloaded` if too many rows are waiting.
   */
  sample(requests: readonly QueuedRequest[], client: QueueClient): Promise<SampleOutput[]>
  /** Rows that are waiting or being sampled, and the maximum. */
  readonly load: number
  readonly limit: number
}

export interface QueueClient {
  signal: AbortSignal
  onToken?: SampleOptions['onToken']
}

interface Entry extends QueueClient {
  rows: Row[]
  /** Removes the row from the batch, as if its client had disconnected. */
  leave: (why: unknown) => void
  resolve: (outputs: SampleOutput[]) => void
  reject: (error: unknown) => void
}

/** One output being sampled. */
interface Row {
  entry: Entry
  index: number
  request: QueuedRequest
  tokens: number[]
  logprobs: number[]
  topLogprobs: TokenLogprob[][]
  finish: SampleOutput['finish'] | undefined
  weightVersion: number
}

/** Tokens per row in one call of the backend. Between calls, new rows join and rows of disconnected clients are removed. */
const roundTokens = 64

/**
 * Batches concurrent requests. Samples all rows for a round of several tokens; then new rows join, and rows of disconnected
 * clients are dropped. Each row keeps its own settings. Draws depend only on the position in the row, so rounds do not affect
 * the output. Rows with a grammar or stop texts are sampled in one call, since neither works across rounds.
 *
 * @param limit maximum number of rows that wait or are being sampled.
 */
export function createSampleQueue(backend: Pick<ModelBackend, 'sample'>, limit = Infinity): SampleQueue {
  const waiting: Entry[] = []
  let load = 0
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    // Requests that arrive at the same moment share a batch.
    await new Promise(setImmediate)
    let active: Entry[] = []
    for (;;) {
      active.push(...waiting.splice(0))
      for (const { signal, reject } of active) if (signal.aborted) reject(signal.reason)
      active = active.filter(({ signal }) => !signal.aborted)
      if (active.length === 0) break
      const failed = await round(active)
      active = active.filter(
        (entry) => !failed.has(entry) && entry.rows.some(({ finish }) => finish === undefined),
      )
    }
    running = false
  }

  /** One call of the backend. Returns the failed entries. An invalid request must not fail the others. */
  async function round(entries: readonly Entry[]): Promise<Set<Entry>> {
    try {
      await sampleRound(entries)
      return new Set()
    } catch (error) {
      for (const { signal, reject } of entries) if (signal.aborted) reject(signal.reason)
      if (!AgogeError.isInstance(error) || entries.length === 1) {
        for (const entry of entries) entry.reject(error)
        return new Set(entries)
      }
      const here = entries.filter(({ signal }) => !signal.aborted)
      const failed = await here.reduce<Promise<Entry[]>>(
        async (before, entry) => [...(await before), ...(await round([entry]))],
        Promise.resolve([]),
      )
      return new Set(failed)
    }
  }

  async function sampleRound(entries: readonly Entry[]): Promise<void> {
    const rows = entries.flatMap((entry) => entry.rows.filter(({ finish }) => finish === undefined))
    const requests = rows.map(nextRequest)
    const all = new AbortController()
    const hungUp = (): void => {
      if (entries.every(({ signal }) => signal.aborted)) all.abort(entries[0].signal.reason)
    }
    for (const { signal } of entries) signal.addEventListener('abort', hungUp)
    try {
      const { maxTokens, stop, temperature, seed } = requests[0]
      const outputs = await backend.sample(requests, {
        maxTokens,
        stop,
        temperature,
        seed,
        signal: all.signal,
        onToken: (row, token, logprob) => {
          const { entry, index } = rows[row]
          if (entry.signal.aborted) return
          try {
            entry.onToken?.(index, token, logprob)
          } catch (error) {
            // An error in one client's listener must not affect the others.
            entry.leave(error)
          }
        },
      })
      rows.forEach((row, i) => add(row, outputs[i], requests[i].maxTokens))
    } finally {
      for (const { signal } of entries) signal.removeEventListener('abort', hungUp)
    }
    for (const entry of entries) {
      if (entry.signal.aborted) entry.reject(entry.signal.reason)
      else if (entry.rows.every(({ finish }) => finish !== undefined)) entry.resolve(entry.rows.map(toOutput))
    }
  }

  return {
    limit,
    get load() {
      return load
    },
    sample(requests, client) {
      if (load + requests.length > limit) {
        throw new AgogeError('Too many requests wait for the model.', {
          code: 'overloaded',
          given: load,
          expected: `at most ${limit} rows that wait or are being sampled`,
        })
      }
      load += requests.length
      return new Promise<SampleOutput[]>((resolve, reject) => {
        const left = new AbortController()
        const signal = AbortSignal.any([client.signal, left.signal])
        const leave = (why: unknown): void => left.abort(why)
        const entry: Entry = { ...client, signal, leave, rows: [], resolve, reject }
        entry.rows = requests.map((request, index) => ({
          entry,
          index,
          request,
          tokens: [],
          logprobs: [],
          topLogprobs: [],
          finish: undefined,
          weightVersion: 0,
        }))
        waiting.push(entry)
        void run()
      }).finally(() => {
        load -= requests.length
      })
    },
  }
}

function nextRequest({ request, tokens }: Row): QueuedRequest {
  const { prompt, maxTokens, grammar, stopSequences = [] } = request
  const left = maxTokens - tokens.length
  if (grammar !== undefined || stopSequences.length > 0) return request
  return {
    ...request,
    prompt: tokens.length === 0 ? prompt : Int32Array.from([...prompt, ...tokens]),
    maxTokens: Math.min(left, roundTokens),
  }
}

function add(row: Row, output: SampleOutput, asked: number): void {
  for (const token of output.tokens) row.tokens.push(token)
  for (const logprob of output.logprobs) row.logprobs.push(logprob)
  row.topLogprobs.push(...(output.topLogprobs ?? []))
  row.weightVersion = output.weightVersion
  // A row that ended before its round did has filled the context window.
  const over = row.tokens.length >= row.request.maxTokens || output.tokens.length < asked
  if (output.finish === 'stop') row.finish = 'stop'
  else if (over) row.finish = 'length'
}

function toOutput({
  request,
  tokens,
  logprobs,
  topLogprobs,
  finish = 'length',
  weightVersion,
}: Row): SampleOutput {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    ...((request.topLogprobs ?? 0) === 0 ? {} : { topLogprobs }),
    finish,
    weightVersion,
  }
}

/**
 * Passes requests directly to a backend with continuous batching. Each request joins at the next token, ends with its own rows,
 * and aborts alone. `limit` is the maximum number of rows that are sampled or wait.
 */
export function createJoiningQueue(
  backend: Pick<LocalBackend, 'continuousBatching'>,
  limit = Infinity,
): SampleQueue {
  let load = 0
  return {
    limit,
    get load() {
      return load
    },
    async sample(requests, { signal, onToken }) {
      if (requests.length === 0) return []
      if (load + requests.length > limit) {
        throw new AgogeError('Too many requests wait for the model.', {
          code: 'overloaded',
          given: load,
          expected: `at most ${limit} rows that wait or are being sampled`,
        })
      }
      load += requests.length
      const { maxTokens, stop, temperature, seed } = requests[0]
      const common = { maxTokens, stop, temperature, seed, signal }
      try {
        return await backend.continuousBatching([...requests], { ...common, ...(onToken && { onToken }) })
      } finally {
        load -= requests.length
      }
    },
  }
}
