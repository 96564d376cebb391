// A thread that attacks are made in, so that one that never ends is a failure with a limit and not the end of the run.
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { ThreadData } from './in-thread.ts'

/** A thread that did not answer: it took too long, or it ended. */
export interface Broken {
  broken: string
  /** The input that it worked on. */
  place: number
}

export interface MeasuredThread<Task, Answer> {
  /** Gives the thread a task. A thread that breaks is replaced at the next task. */
  ask(task: Task): Promise<Answer | Broken>
  close(): Promise<void>
}

interface Running<Answer> {
  worker: Worker
  place: Int32Array
  /** Its number in the system. Undefined until it has started. */
  id?: string
  /** Called with what comes of the present task. */
  settle: (answer: Answer | Broken) => void
}

const pollMilliseconds = 200
/** Seconds after which a task that does not work either is given up. */
const mostWaiting = 600
/** Heap of a thread. More is what an attack that fills the memory needs. */
const heapMegabytes = 1024
/**
 * The loader defines the name of every function anew. After that V8 does not compile some loops any more, which take up to ten times as long
 * as in the built library (12 and 206 ms for a pattern of a tokenizer). Functions have these names anyway.
 */
const withoutNames = `{
  const define = Object.defineProperty
  Object.defineProperty = (target, key, given) =>
    typeof target === 'function' && key === 'name' && Object.keys(given).join() === 'value,configurable' ? target : define(target, key, given)
}`
/** As large as that of a main thread, which is smaller than that of a thread by default. */
const stackMegabytes = 1

/**
 * Opens a thread with a module that calls `answerTasks`.
 *
 * @param module its address: `new URL('worker.ts', import.meta.url).href`.
 * @param limitSeconds processor time after which one input counts as endless.
 */
export function openMeasuredThread<Task, Answer>(
  module: string,
  data: unknown,
  limitSeconds: number,
): MeasuredThread<Task, Answer> {
  let running: Running<Answer> | undefined

  async function ask(task: Task): Promise<Answer | Broken> {
    running ??= start<Answer>(module, data)
    const thread = running
    let poll: NodeJS.Timeout | undefined
    const answer = await new Promise<Answer | Broken>((resolve) => {
      thread.settle = resolve
      poll = watch(thread, limitSeconds)
      thread.worker.postMessage(task)
    })
    clearInterval(poll)
    if (typeof answer !== 'object' || answer === null || !('broken' in answer)) return answer
    running = undefined
    await thread.worker.terminate()
    return answer
  }

  return {
    ask,
    async close() {
      await running?.worker.terminate()
      running = undefined
    },
  }
}

/** Ends a task once one of its inputs has taken more processor time than the limit. */
function watch<Answer>(thread: Running<Answer>, limitSeconds: number): NodeJS.Timeout {
  let place = -1
  let began = 0
  let beganAt = 0
  return setInterval(() => {
    const now = timeOf(thread)
    if (now === undefined) return
    const at = Atomics.load(thread.place, 0)
    if (at !== place) [place, began, beganAt] = [at, now, performance.now()]
    if (now - began > limitSeconds * 1000)
      thread.settle({ broken: `no end in ${limitSeconds} s of processor time`, place: at })
    if (performance.now() - beganAt > mostWaiting * 1000)
      thread.settle({ broken: `no end in ${mostWaiting} s, and hardly any work`, place: at })
  }, pollMilliseconds)
}

function timeOf({ id }: Pick<Running<unknown>, 'id'>): number | undefined {
  if (process.platform !== 'linux') return performance.now()
  if (id === undefined) return undefined
  try {
    return Number(readFileSync(`/proc/self/task/${id}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6
  } catch {
    return undefined
  }
}

function start<Answer>(module: string, data: unknown): Running<Answer> {
  const place = new Int32Array(new SharedArrayBuffer(4))
  // Threads have no loader of TypeScript of their own.
  const loader = import.meta.resolve('tsx/esm/api')
  const code = `${withoutNames} import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(module)}) })`
  const worker = new Worker(code, {
    eval: true,
    execArgv: ['--conditions', 'agoge-source'],
    workerData: { place, data } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: stackMegabytes },
  })
  const thread: Running<Answer> = { worker, place, settle: () => {} }
  const end = (why: string): void => thread.settle({ broken: why, place: Atomics.load(place, 0) })
  worker.on('message', (message: { id: string } | { answer: Answer }) => {
    if ('id' in message) thread.id = message.id
    else thread.settle(message.answer)
  })
  worker.on('error', (error) => end(`the thread ended: ${error.message}`))
  worker.on('exit', (code) => end(`the thread ended with ${code}`))
  return thread
}
