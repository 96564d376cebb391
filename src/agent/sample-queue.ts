import { AgogeError } from '../error.ts'
import type { ModelBackend, SampleOptions, SampleOutput, SampleRequest } from '../language/backend.ts'

export type QueuedRequest = SampleRequest & Omit<SampleOptions, 'signal' | 'onToken'>

export interface SampleQueue {
  /**
   * Samples the requests of one client together with those of others. `onToken` is told each token as it is drawn, by the index of
   * its request.
   *
   * @throws AgogeError `overloaded` where too many rows wait already.
   */
  sample(requests: readonly QueuedRequest[], client: QueueClient): Promise<SampleOutput[]>
  /** Rows that wait or are being sampled. */
  readonly load: number
}

export interface QueueClient {
  signal: AbortSignal
  onToken?: SampleOptions['onToken']
}

interface Entry extends QueueClient {
  requests: readonly QueuedRequest[]
  resolve: (outputs: SampleOutput[]) => void
  reject: (error: unknown) => void
}

/**
 * Batches what comes while the model is busy: everything that waits is sampled in one call, and what comes meanwhile in the next. Each row
 * keeps its own settings. `limit` is how many rows may wait or be sampled at the same time.
 */
export function createSampleQueue(backend: Pick<ModelBackend, 'sample'>, limit = Infinity): SampleQueue {
  const waiting: Entry[] = []
  let load = 0
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    // Requests that arrive in the same moment make one batch.
    await new Promise(setImmediate)
    while (waiting.length > 0) await runBatch(waiting.splice(0))
    running = false
  }

  async function runBatch(entries: readonly Entry[]): Promise<void> {
    const live = entries.filter((entry) => !entry.signal.aborted)
    for (const entry of entries) if (entry.signal.aborted) entry.reject(entry.signal.reason)
    if (live.length === 0) return
    const rows = live.flatMap((entry) => entry.requests.map((request, index) => ({ entry, request, index })))
    const all = new AbortController()
    const hungUp = (): void => {
      if (live.every(({ signal }) => signal.aborted)) all.abort(new Error('all clients hung up'))
    }
    for (const { signal } of live) signal.addEventListener('abort', hungUp)
    try {
      const { maxTokens, stop, temperature, seed } = rows[0].request
      const outputs = await backend.sample(
        rows.map(({ request }) => request),
        {
          maxTokens,
          stop,
          temperature,
          seed,
          signal: all.signal,
          onToken: (row, token, logprob) => {
            const { entry, index } = rows[row]
            if (!entry.signal.aborted) entry.onToken?.(index, token, logprob)
          },
        },
      )
      for (const entry of live) entry.resolve(outputs.filter((_, i) => rows[i].entry === entry))
    } catch (error) {
      // What is wrong with one request must not fail the others that came with it.
      if (AgogeError.isInstance(error) && live.length > 1) for (const entry of live) await runBatch([entry])
      else for (const entry of live) entry.reject(error)
    } finally {
      for (const { signal } of live) signal.removeEventListener('abort', hungUp)
    }
  }

  return {
    get load() {
      return load
    },
    sample(requests, client) {
      if (load + requests.length > limit) {
        throw overloaded(load, limit)
      }
      load += requests.length
      return new Promise<SampleOutput[]>((resolve, reject) => {
        waiting.push({ requests, ...client, resolve, reject })
        void run()
      }).finally(() => {
        load -= requests.length
      })
    },
  }
}

export function overloaded(load: number, limit: number): AgogeError {
  return new AgogeError('Too many requests wait for the model.', {
    code: 'overloaded',
    given: load,
    expected: `at most ${limit} rows that wait or are being sampled`,
  })
}
