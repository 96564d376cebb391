import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { AgogeError } from '../../error.ts'
import type { ErrorData } from '../../error.ts'
import { startThread } from '../../engine/tensor/index.ts'
import { createThreadQueue } from '../../thread-queue.ts'
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

/** A grammar that waits or is being compiled. */
interface Job {
  compiled: Promise<CompiledGrammar>
  /** How many callers wait for it. */
  callers: number
  abort: AbortController
}

/** Of the thread. A grammar of 3 of the 10 million steps that `grammarLimits.compiling` allows took 21 MB. */
const heapMegabytes = 256
/** Most waiting grammars. */
const mostJobs = 64
/** Most cached grammars, and most numbers in all of them. */
const mostKept = 64
const mostWords = 2_000_000

export function createGrammarCompiler({ markers }: Pick<TokenTexts, 'markers'>): GrammarCompiler {
  const ids = Array.from(markers.keys()).filter((id) => markers[id] === 1)
  const kept = new Map<string, CompiledGrammar>()
  const jobs = new Map<string, Job>()
  const thread = createThreadQueue<CompileTask, CompileAnswer>(() =>
    startThread(Worker, import.meta.url, 'compile-worker', { markers: ids }, { heapMegabytes }),
  )

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

  async function compileAnew(key: string, grammar: Grammar, signal: AbortSignal): Promise<CompiledGrammar> {
    const answer = await thread.ask({ grammar }, { signal })
    if ('refused' in answer) throw new AgogeError(answer.refused.message, answer.refused.details)
    const compiled = { compiled: key, expressions: answer.expressions }
    keep(compiled)
    return compiled
  }

  function jobOf(key: string, grammar: Grammar): Job {
    const found = jobs.get(key)
    if (found !== undefined) return found
    if (jobs.size >= mostJobs) throw overloaded(jobs.size)
    const abort = new AbortController()
    const job = { compiled: compileAnew(key, grammar, abort.signal), callers: 0, abort }
    jobs.set(key, job)
    return job
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
      const job = jobOf(key, grammar)
      job.callers++
      try {
        return await unlessAborted(job.compiled, signal)
      } finally {
        job.callers--
        if (job.callers === 0) {
          if (jobs.get(key) === job) jobs.delete(key)
          job.abort.abort()
        }
      }
    },
    dispose: () =>
      thread.dispose(new AgogeError('the grammar compiler was disposed of', { code: 'disposed' })),
  }
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function overloaded(waiting: number): AgogeError {
  return new AgogeError('Too many grammars wait to be compiled.', {
    code: 'overloaded',
    given: waiting,
    expected: `at most ${mostJobs} that wait or are being compiled`,
  })
}
