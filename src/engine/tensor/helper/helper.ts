import type { Feeds, HostData, HostTensor } from '../types.ts'
import { startThread } from './start-thread.ts'
import { setState, states, waitWhile } from './work.ts'
import type { HelperJob, HelperWork, SharedTensor } from './work.ts'

/** Another thread that runs a program, with the same bits as this one would get. */
export interface Helper {
  /** Tells it to run; false where it cannot, for it is not there yet or has failed. The feeds are copied. */
  start(feeds: Feeds): boolean
  /** Waits for what was started; false where it failed. Then the outputs are in the arrays that were given. */
  finish(): boolean
  dispose(): Promise<void>
}

/** What a helper needs of the platform. Browsers have no process. */
const { process } = globalThis as { process?: NodeJS.Process }

/** Zeros in memory that threads share; null where there is none, as in most pages of browsers. */
export function sharedArray(length: number): Float32Array | null {
  return typeof SharedArrayBuffer === 'undefined'
    ? null
    : new Float32Array(new SharedArrayBuffer(Math.max(4, length * 4)), 0, length)
}

/**
 * Starts a thread for a program and feeds of one set of sizes. Null where the platform has none.
 *
 * @param outputs arrays in shared memory, by name
 */
export function createHelper(
  job: HelperJob,
  feeds: Feeds,
  outputs: Readonly<Record<string, HostTensor>>,
): Helper | null {
  // Not imported, since this file is for browsers too.
  const threads = process?.getBuiltinModule?.('node:worker_threads')
  if (threads === undefined) return null
  const inputs = Object.entries(feeds).map(([name, { data, shape }]): SharedTensor => ({
    name,
    data: sharedCopy(data),
    shape,
  }))
  const control = new Int32Array(new SharedArrayBuffer(4))
  const work: HelperWork = {
    job,
    control,
    inputs,
    outputs: Object.entries(outputs).map(([name, tensor]) => ({ name, ...tensor })),
  }
  const worker = startThread(threads.Worker, import.meta.url, 'helper-thread', work)
  // A program that ends does not wait for its helpers.
  worker.unref()
  worker.on('error', () => setState(control, states.failed))
  return {
    start(given) {
      if (Atomics.load(control, 0) !== states.idle) return false
      for (const { name, data, shape } of inputs) {
        if (given[name].data.length !== data.length || given[name].shape.length !== shape.length) return false
        data.set(given[name].data)
      }
      setState(control, states.asked)
      return true
    },
    finish() {
      waitWhile(control, states.asked)
      return Atomics.load(control, 0) === states.idle
    },
    dispose: async () => void (await worker.terminate()),
  }
}

function sharedCopy(data: HostData): HostData {
  const memory = new SharedArrayBuffer(Math.max(4, data.byteLength))
  const Kind = data.constructor as new (memory: SharedArrayBuffer, at: number, length: number) => HostData
  return new Kind(memory, 0, data.length)
}
