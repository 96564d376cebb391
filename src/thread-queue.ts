import type { Worker } from 'node:worker_threads'

export interface AskOptions {
  /** The parts of the question that are moved to the thread instead of copied. */
  transfer?: readonly ArrayBuffer[]
  /** Ends the wait, and the thread if it is at this question: nothing else can interrupt it. */
  signal?: AbortSignal
  /** Longest time for the answer in milliseconds, from when the thread begins. Default: none. */
  most?: number
}

/** A thread that answers one question after another. */
export interface ThreadQueue<Question, Answer> {
  /**
   * @throws the signal's reason; a `TimeoutError` (DOMException) after `most` milliseconds; the error that ended the thread. The next
   * question then gets a new thread.
   */
  ask(question: Question, options?: AskOptions): Promise<Answer>
  /** Ends the thread. Questions that wait are refused with `why`. */
  dispose(why: unknown): Promise<void>
}

interface Job<Question, Answer> {
  question: Question
  options: AskOptions
  settle: { resolve: (answer: Answer) => void; reject: (why: unknown) => void }
}

/**
 * Asks a thread, which is started by the first question and does not keep the process alive when it has none. It answers
 * each message with one message.
 *
 * @example
 * const queue = createThreadQueue<string, number>(() => startThread(Worker, import.meta.url, 'count-thread', undefined))
 * await queue.ask('how many?', { most: 10_000 })
 */
export function createThreadQueue<Question, Answer>(start: () => Worker): ThreadQueue<Question, Answer> {
  const jobs: Job<Question, Answer>[] = []
  let thread: Worker | undefined
  let running: Job<Question, Answer> | undefined
  let timer: NodeJS.Timeout | undefined

  function end(settle: (job: Job<Question, Answer>['settle']) => void): void {
    clearTimeout(timer)
    const job = running
    running = undefined
    if (job !== undefined) settle(job.settle)
    next()
  }

  function begin(): Worker {
    const begun = start()
    begun.on('message', (answer: Answer) => {
      if (begun === thread) end(({ resolve }) => resolve(answer))
    })
    begun.on('error', (error) => {
      if (begun !== thread) return
      thread = undefined
      end(({ reject }) => reject(error))
    })
    return begun
  }

  function next(): void {
    if (running !== undefined) return
    running = jobs.shift()
    if (running === undefined) return thread?.unref()
    thread ??= begin()
    thread.ref()
    const { question, options } = running
    thread.postMessage(question, options.transfer ?? [])
    if (options.most !== undefined)
      timer = setTimeout(
        () => interrupt(new DOMException(`no answer within ${options.most} ms`, 'TimeoutError')),
        options.most,
      )
  }

  function interrupt(why: unknown): void {
    void thread?.terminate()
    thread = undefined
    end(({ reject }) => reject(why))
  }

  function drop(job: Job<Question, Answer>, why: unknown): void {
    if (job === running) return interrupt(why)
    const at = jobs.indexOf(job)
    if (at < 0) return
    jobs.splice(at, 1)
    job.settle.reject(why)
  }

  return {
    async ask(question, options = {}) {
      const { signal } = options
      signal?.throwIfAborted()
      let abort = (): void => {}
      try {
        return await new Promise<Answer>((resolve, reject) => {
          const job = { question, options, settle: { resolve, reject } }
          abort = () => drop(job, signal?.reason)
          signal?.addEventListener('abort', abort)
          jobs.push(job)
          next()
        })
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
    async dispose(why) {
      const ending = thread
      thread = undefined
      clearTimeout(timer)
      for (const { settle } of [...(running === undefined ? [] : [running]), ...jobs.splice(0)])
        settle.reject(why)
      running = undefined
      await ending?.terminate()
    },
  }
}
