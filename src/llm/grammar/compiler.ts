import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { AgogeError } from '../../error.ts'
import type { ErrorData } from '../../error.ts'
import { startThread } from '../../engine/tensor/index.ts'
import type { CompiledGrammar, Grammar } from './compile.ts'
import type { PackedExpressions } from './packed-algebra.ts'
import type { TokenTexts } from './cursor.ts'

/** Compiles untrusted grammars in a thread of its own, so that other requests do not wait for them. */
export interface GrammarCompiler {
  /**
   * Returns the grammar in a form that is fast to sample with. Compiles grammars one after another, once for all
   * callers that wait for the same one, and caches the most recent.
   *
   * @param signal aborts the wait of this caller. If no other caller waits for the grammar, its compilation stops
   * @throws AgogeError for a grammar that is invalid, too large (`grammarLimits`) or matches nothing; `overloaded` if
   * too many are waiting; the signal's reason
   */
  compile(grammar: Grammar, signal: AbortSignal): Promise<CompiledGrammar>
  dispose(): Promise<void>
}

export interface CompileTask {
  grammar: Grammar
}

export type CompileAnswer = { expressions: PackedExpressions } | { refused: ErrorData }

interface Waiting {
  resolve: (compiled: CompiledGrammar) => void
  reject: (why: unknown) => void
}

interface Job {
  key: string
  grammar: Grammar
  waiting: Set<Waiting>
}

/** Most waiting grammars. */
const mostJobs = 64
/** Most cached grammars, and most numbers in all of them. */
const mostKept = 64
const mostWords = 2_000_000

export function createGrammarCompiler({ markers }: Pick<TokenTexts, 'markers'>): GrammarCompiler {
  const ids = Array.from(markers.keys()).filter((id) => markers[id] === 1)
  const kept = new Map<string, CompiledGrammar>()
  const jobs = new Map<string, Job>()
  let running: Job | undefined
  let worker: Worker | undefined

  function keep(compiled: CompiledGrammar): void {
    kept.set(compiled.compiled, compiled)
    let words = 0
    for (const { expressions } of kept.values()) words += expressions.words.length
    for (const [oldest, { expressions }] of kept) {
      if (kept.size <= mostKept && words <= mostWords) break
      kept.delete(oldest)
      words -= expressions.words.length
    }
  }

  function end(job: Job, settle: (one: Waiting) => void): void {
    jobs.delete(job.key)
    running = undefined
    for (const one of job.waiting) settle(one)
    next()
  }

  function start(): Worker {
    const thread = startThread(Worker, import.meta.url, 'compile-worker', { markers: ids })
    thread.on('message', (answer: CompileAnswer) => {
      const job = running
      if (job === undefined || thread !== worker) return
      if ('refused' in answer) {
        const { message, details } = answer.refused
        return end(job, ({ reject }) => reject(new AgogeError(message, details)))
      }
      const compiled = { compiled: job.key, expressions: answer.expressions }
      keep(compiled)
      end(job, ({ resolve }) => resolve(compiled))
    })
    thread.on('error', (error) => {
      if (thread !== worker) return
      worker = undefined
      if (running !== undefined) end(running, ({ reject }) => reject(error))
    })
    return thread
  }

  function next(): void {
    if (running !== undefined) return
    const [job] = jobs.values()
    if (job === undefined) return worker?.unref()
    running = job
    worker ??= start()
    worker.ref()
    worker.postMessage({ grammar: job.grammar } satisfies CompileTask)
  }

  /** Only ending the thread can interrupt it. */
  function drop(job: Job): void {
    jobs.delete(job.key)
    if (running !== job) return
    running = undefined
    const ending = worker
    worker = undefined
    void ending?.terminate()
    next()
  }

  return {
    async compile(grammar, signal) {
      signal.throwIfAborted()
      const key = createHash('sha256').update(JSON.stringify(grammar)).digest('base64')
      const found = kept.get(key)
      if (found !== undefined) {
        // The most recently used grammar is evicted last.
        kept.delete(key)
        kept.set(key, found)
        return found
      }
      if (jobs.size >= mostJobs && !jobs.has(key)) throw overloaded(jobs.size)
      const job = jobs.get(key) ?? { key, grammar, waiting: new Set() }
      jobs.set(key, job)
      return new Promise((resolve, reject) => {
        const one = {
          resolve: (compiled: CompiledGrammar) => {
            signal.removeEventListener('abort', abort)
            resolve(compiled)
          },
          reject: (why: unknown) => {
            signal.removeEventListener('abort', abort)
            reject(why)
          },
        }
        const abort = (): void => {
          job.waiting.delete(one)
          if (job.waiting.size === 0) drop(job)
          one.reject(signal.reason)
        }
        signal.addEventListener('abort', abort)
        job.waiting.add(one)
        next()
      })
    },
    async dispose() {
      const ending = worker
      worker = undefined
      const why = new AgogeError('the grammar compiler was disposed of', { code: 'disposed' })
      for (const job of jobs.values()) for (const { reject } of job.waiting) reject(why)
      jobs.clear()
      running = undefined
      await ending?.terminate()
    },
  }
}

function overloaded(waiting: number): AgogeError {
  return new AgogeError('Too many grammars wait to be compiled.', {
    code: 'overloaded',
    given: waiting,
    expected: `at most ${mostJobs} that wait or are being compiled`,
  })
}
