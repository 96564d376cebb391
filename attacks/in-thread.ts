// The side of a measured thread: it answers tasks one after another, and measures its own processor time.
import { readFileSync, readlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

/** What every measured thread is given. */
export interface ThreadData {
  /** The number of the input that it works on, for the thread that watches it. */
  place: Int32Array
  data: unknown
}

/** Milliseconds of processor time of the calling thread, so that other work on the machine does not count. */
export function threadTime(): number {
  if (process.platform !== 'linux') return performance.now()
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6
}

/**
 * Answers each task with what `handle` returns.
 *
 * @param handle is given a task, what the thread was opened with, and a function that says which input of the task is worked on
 */
export function answerTasks(
  handle: (task: never, data: never, setPlace: (place: number) => void) => Promise<unknown>,
): void {
  const port = parentPort
  if (port === null) throw new Error('not in a thread')
  const { place, data } = workerData as ThreadData
  const setPlace = (at: number): void => void Atomics.store(place, 0, at)
  port.on('message', (task: unknown) => {
    void handle(task as never, data as never, setPlace).then((answer) => port.postMessage({ answer }))
  })
  port.postMessage({
    id: process.platform === 'linux' ? readlinkSync('/proc/thread-self').split('/')[2] : '',
  })
}

const everyMilliseconds = 2

/** Runs work and returns the longest time between two turns of the event loop of this thread, in processor time. */
export async function withLongestSection<T>(
  work: () => T | Promise<T>,
): Promise<{ value: T | undefined; error: unknown; longest: number }> {
  let longest = 0
  let last = 0
  const look = (): void => {
    const now = threadTime()
    longest = Math.max(longest, now - last)
    last = threadTime()
  }
  const timer = setInterval(look, everyMilliseconds)
  try {
    last = threadTime()
    const value = await work()
    return { value, error: undefined, longest: (look(), longest) }
  } catch (error) {
    return { value: undefined, error, longest: (look(), longest) }
  } finally {
    clearInterval(timer)
  }
}
