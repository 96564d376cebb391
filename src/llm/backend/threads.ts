import { Worker } from 'node:worker_threads'
import { startThread } from '../../engine/tensor/index.ts'
import { defined } from '../../defined.ts'
import type { ErrorData } from '../../error.ts'
import { AgogeError } from '../../error.ts'
import { isThreadOutOfMemory } from '../../memory-error.ts'
import type { TokenTexts } from '../grammar/cursor.ts'
import type { LossSettings, SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { LowRank } from '../model/low-rank.ts'
import type { BatchLimits } from '../model/memory.ts'
import type { Parameters } from '../model/parameters.ts'
import type { SamplingWeights } from '../sampling/quantised-weights.ts'
import type { LossSums } from './loss-report.ts'
import type { PackedRows, PackedSequences } from './packed-sequences.ts'

/** Start data of a thread. */
export interface WorkerData extends BatchLimits {
  config: TransformerConfig
  /** For its sampler. */
  cacheBytes: number
  samplingWeights?: SamplingWeights
  /** Shared memory: weights that the thread reads, and the gradient that it writes, of the weights or of the adapter. */
  weights: Float32Array
  gradient: Float32Array
  /** The adapter that it trains, whose data is shared memory, too. */
  lowRank?: LowRank
}

/** The requests that threads serve, by name, with their inputs and outputs. */
export interface Work {
  sample: {
    ask: {
      requests: SampleRequest[]
      options: Omit<SampleOptions, 'signal' | 'onToken'>
      weightVersion: number
      concurrent: boolean
      /** Whether to send each token as it is drawn. */
      listening: boolean
    }
    answer: SampleOutput[]
  }
  forward: {
    ask: {
      rows: PackedRows
      what?: 'logprobs' | 'entropies'
      /** Threads inside operators. */
      threads?: number
    }
    /** Of all rows, concatenated. */
    answer: Float32Array
  }
  /** Adds the gradient to the shared gradient. */
  forwardBackward: {
    ask: { sequences: PackedSequences; loss: LossSettings; threads?: number }
    answer: LossSums
  }
}

/** Each request has a number for its answer or abort. Only `concurrent` samples may overlap. */
export type ToWorker =
  | { [K in keyof Work]: { type: K; id: number } & Work[K]['ask'] }[keyof Work]
  | { type: 'weights' }
  | { type: 'clear' }
  | { type: 'texts'; texts: TokenTexts | undefined }
  | { type: 'abort'; id: number }

/** Row, token, log-probability. */
export type DrawnToken = readonly [number, number, number]

export type FromWorker = { id: number } & (
  | { answer: Work[keyof Work]['answer'] }
  | { error: unknown }
  | { refused: ErrorData }
  | { drawn: DrawnToken }
)

/**
 * A queue for two kinds of task. `alone` tasks run one at a time. `concurrent` tasks may overlap each other, but not an
 * `alone` task. First come, first served.
 */
interface TurnQueue {
  readonly alone: <T>(task: () => Promise<T>) => Promise<T>
  readonly concurrent: <T>(task: () => Promise<T>) => Promise<T>
}

/** A queue in which a failed task does not stop those after it. */
export function createTurnQueue(): TurnQueue {
  let lastAlone: Promise<unknown> = Promise.resolve()
  /** Of those that came after it. */
  const concurrent = new Set<Promise<unknown>>()
  return {
    alone(task) {
      const before = Promise.all([lastAlone, ...concurrent])
      concurrent.clear()
      const next = before.then(task)
      lastAlone = next.catch(() => {})
      return next
    },
    concurrent(task) {
      const next = lastAlone.then(task)
      const ended = next.catch(() => {}).then(() => void concurrent.delete(ended))
      concurrent.add(ended)
      return next
    },
  }
}

/** A helper thread. */
export interface Helper {
  /** The gradient that it accumulated since the last clear, as of a learner. */
  readonly gradient: Float32Array
  ask<K extends keyof Work>(
    type: K,
    what: Work[K]['ask'],
    signal?: AbortSignal,
    onToken?: (...drawn: DrawnToken) => void,
  ): Promise<Work[K]['answer']>
  post(message: ToWorker): void
  /** Whether the thread has ended, so that every call fails. */
  readonly ended: boolean
  end(): Promise<unknown>
}

interface ThreadsOptions extends BatchLimits {
  config: TransformerConfig
  parameters: Parameters
  /** The adapter to train, which the parameters include. */
  lowRank?: LowRank | undefined
  /** Number of threads that compute. */
  count: number
  /** Whether all of them are others than this one. Default: this one is among them. */
  apart?: boolean
  /** Of each thread. */
  cacheBytes: number
  /** Default: `float32`. */
  samplingWeights?: SamplingWeights
}

/**
 * The threads that share the rows of a call. For small operators, two threads side by side are faster than two threads
 * inside each operator.
 */
export interface Threads {
  readonly count: number
  /** Whether this thread computes nothing, so that it can answer others at any time. */
  readonly apart: boolean
  /**
   * The thread of a part, 0 to `count` - 1, with the current weights; undefined if that is this one, which it is of part 0 unless
   * `apart`. The first call starts all of them; one that ended since, for lack of memory, is started again.
   */
  helperOf(part: number): Helper | undefined
  /** Marks the weights of the helpers as outdated. */
  weightsChanged(): void
  /** Clears the caches of the helpers' samplers. */
  clear(): void
  dispose(): Promise<void>
}

export function createThreads(options: ThreadsOptions): Threads {
  const { config, parameters, lowRank, count, apart = false, ...others } = options
  const shared = ({ length }: Float32Array): Float32Array =>
    new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT))
  let helpers: Helper[] = []
  let weights: Float32Array | undefined
  let factors: LowRank | undefined
  let changed = true
  const here = apart ? 0 : 1
  const toAll = (message: ToWorker): void => helpers.forEach((helper) => helper.post(message))
  return {
    count,
    apart,
    helperOf(part) {
      if (part < here) return undefined
      const source = (weights ??= shared(parameters.data))
      factors ??= lowRank && { ...lowRank, data: shared(lowRank.data) }
      const gradient = (): Float32Array => shared((lowRank ?? parameters).data)
      const start = (): Helper =>
        startHelper({
          config,
          ...others,
          ...defined({ lowRank: factors }),
          weights: source,
          gradient: gradient(),
        })
      if (helpers.length === 0) helpers = Array.from({ length: count - here }, start)
      if (helpers[part - here].ended) {
        helpers[part - here] = start()
        helpers[part - here].post({ type: 'weights' })
      }
      if (changed) {
        source.set(parameters.data)
        if (lowRank) factors?.data.set(lowRank.data)
        toAll({ type: 'weights' })
        changed = false
      }
      return helpers[part - here]
    },
    weightsChanged() {
      changed = true
    },
    clear: () => toAll({ type: 'clear' }),
    async dispose() {
      const ending = helpers
      helpers = []
      changed = true
      await Promise.all(ending.map((helper) => helper.end()))
    },
  }
}

/**
 * Waits until all parts of a call have ended, so that nothing continues after a failure. Throws the error of the first
 * part that failed.
 */
export async function allParts(parts: readonly Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(parts)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

interface Asked {
  resolve: (answer: never) => void
  reject: (why: unknown) => void
  onToken: ((...drawn: DrawnToken) => void) | undefined
  /** What the listener threw. It is not called again, and the call fails with this error once the thread has finished. */
  fault?: { error: unknown }
}

/** Of a thread. Weights and caches of keys and values do not count. */
const heapMegabytes = 512

function outOfMemory(): AgogeError {
  return new AgogeError('a thread of the model ran out of memory', {
    code: 'worker-ended',
    given: `more than ${heapMegabytes} MB, weights and caches not counted`,
    expected: 'grammars that are smaller, or fewer of them at a time',
    hint: 'the next call starts the thread again',
  })
}

/** @param data `weights` and `gradient` are shared memory; the thread reads the weights at the first message `weights`. */
export function startHelper(data: WorkerData): Helper {
  const worker = startThread(Worker, import.meta.url, 'worker', data, { heapMegabytes })
  worker.unref()
  const asked = new Map<number, Asked>()
  let lastId = 0
  let ended: AgogeError | undefined

  function take(id: number): Asked | undefined {
    const found = asked.get(id)
    asked.delete(id)
    // An active call keeps the process alive; an idle thread does not.
    if (asked.size === 0) worker.unref()
    return found
  }
  /** Throwing here would be an uncaught error and end the process. */
  function tell(id: number, drawn: DrawnToken): void {
    const listening = asked.get(id)
    if (listening === undefined || listening.fault !== undefined) return
    try {
      listening.onToken?.(...drawn)
    } catch (error) {
      listening.fault = { error }
      post({ type: 'abort', id })
    }
  }
  const post = (message: ToWorker): void => worker.postMessage(message)
  const failAll = (why: unknown): void => {
    for (const id of asked.keys()) take(id)?.reject(why)
  }
  worker.on('message', (message: FromWorker) => {
    if ('drawn' in message) return tell(message.id, message.drawn)
    const ended = take(message.id)
    if (ended?.fault !== undefined) ended.reject(ended.fault.error)
    else if ('answer' in message) ended?.resolve(message.answer as never)
    else if ('error' in message) ended?.reject(message.error)
    else ended?.reject(new AgogeError(message.refused.message, message.refused.details))
  })
  worker.on('error', (error) => failAll(isThreadOutOfMemory(error) ? outOfMemory() : error))
  worker.on('exit', (code) => {
    ended = new AgogeError('a thread of the model ended', {
      code: 'worker-ended',
      given: `exit code ${code}`,
      expected: 'a thread that answers',
      hint: 'AGOGE_THREADS=1 does everything in the main thread',
    })
    failAll(ended)
  })
  return {
    gradient: data.gradient,
    post,
    get ended() {
      return ended !== undefined
    },
    async ask<K extends keyof Work>(
      type: K,
      what: Work[K]['ask'],
      signal?: AbortSignal,
      onToken?: (...drawn: DrawnToken) => void,
    ) {
      if (ended !== undefined) throw ended
      const id = ++lastId
      const abort = (): void => post({ type: 'abort', id })
      signal?.addEventListener('abort', abort)
      const answer = new Promise<Work[K]['answer']>((resolve, reject) => {
        asked.set(id, { resolve, reject, onToken })
        worker.ref()
        post({ type, id, ...what } as ToWorker)
      })
      return answer.finally(() => signal?.removeEventListener('abort', abort))
    },
    end: () => worker.terminate(),
  }
}
