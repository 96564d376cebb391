import { AgogeError } from '../../../error.ts'
import type { InputSignature } from '../bindings.ts'
import type { DType, HostTensor, Feeds, HostData } from '../node.ts'
import type { Device } from '../onnx/session.ts'
import type { Plan } from '../wasm/plan.ts'

/** The shared buffer of both threads, [4]: how often each has reached the barrier, whether one has failed, the command. */
export const cells = { met: 0, failed: 2, command: 3 } as const

/** Number of polls before sleeping, about the time between two steps of a learner. */
const looks = 50_000

/**
 * Makes the barrier of one of two threads, `rank` 0 or 1. It returns when both threads have called it equally
 * often. One thread then sees all that the other wrote before the call.
 *
 * @param patience milliseconds
 * @throws AgogeError `thread-stopped` if the other thread has failed or does not arrive in time
 */
export function createBarrier(control: Int32Array, rank: 0 | 1, patience = Infinity): () => void {
  const other = cells.met + 1 - rank
  let times = Atomics.load(control, cells.met + rank)
  const isThere = (): boolean => Atomics.load(control, other) - times >= 0
  return () => {
    Atomics.store(control, cells.met + rank, ++times)
    Atomics.notify(control, cells.met + rank)
    for (let look = 0; look < looks && !isThere(); look++);
    for (;;) {
      const seen = Atomics.load(control, other)
      if (Atomics.load(control, cells.failed) !== 0) throw stopped('it has failed')
      if (seen - times >= 0) return
      if (Atomics.wait(control, other, seen, patience) === 'timed-out')
        throw stopped(`nothing was heard for ${patience / 1000} s`)
    }
  }
}

/** The other thread is not waited for any more. */
export function giveUp(control: Int32Array, rank: 0 | 1): void {
  Atomics.store(control, cells.failed, 1)
  Atomics.add(control, cells.met + rank, 1)
  Atomics.notify(control, cells.met + rank)
}

function stopped(given: string): AgogeError {
  return new AgogeError('The other thread of a learner has stopped', {
    code: 'thread-stopped',
    given,
    expected: 'an answer',
    hint: 'its error is on the standard error above; use --resume, or with one thread',
  })
}

/** A program as plain data: kernels with their plan for fixed sizes, or a model for the runtime. */
export type HelperJob =
  | { kind: 'kernels'; bytes: Uint8Array<ArrayBuffer>; plan: Plan }
  | {
      kind: 'runtime'
      device: Device
      model: Uint8Array
      inputs: readonly InputSignature[]
      outputs: readonly { name: string; dtype: DType }[]
    }

/** An array in shared memory. */
export interface SharedTensor extends HostTensor {
  name: string
}

/** The data of a helper thread. */
export interface HelperWork {
  job: HelperJob
  /** [1]: one of `states`. */
  control: Int32Array
  inputs: readonly SharedTensor[]
  outputs: readonly SharedTensor[]
}

export const states = { starting: 0, idle: 1, asked: 2, failed: 3 } as const

/** Waits until the state differs from `state`. */
export function waitWhile(control: Int32Array, state: number): void {
  for (let look = 0; look < looks; look++) if (Atomics.load(control, 0) !== state) return
  while (Atomics.load(control, 0) === state) Atomics.wait(control, 0, state)
}

export function setState(control: Int32Array, state: number): void {
  Atomics.store(control, 0, state)
  Atomics.notify(control, 0)
}

/** The arguments of a thread, as Node's `WorkerOptions`. */
interface ThreadOptions {
  workerData: unknown
  transferList: never[]
  execArgv: string[]
  eval?: boolean
  resourceLimits?: { maxOldGenerationSizeMb: number }
}

/**
 * Starts a thread with the module beside `from` (an `import.meta.url`). When running from TypeScript sources,
 * it registers a loader, because Node 20 gives threads none.
 *
 * @param Thread the platform's class (`Worker` of `node:worker_threads`). A parameter, because browsers load
 * this file too.
 * @param name the name of the module, without its extension
 * @param options.transferList the parts of `workerData` that are moved to the thread instead of copied
 * @param options.heapMegabytes limit of its heap. Far below the default, which is that of the machine, V8 also collects garbage
 * sooner. A thread that needs more ends with an error
 */
export function startThread<Thread>(
  Thread: new (script: string | URL, options: ThreadOptions) => Thread,
  from: string,
  name: string,
  workerData: unknown,
  { transferList = [], heapMegabytes }: { transferList?: readonly object[]; heapMegabytes?: number } = {},
): Thread {
  const given = {
    workerData,
    transferList: [...transferList] as never[],
    ...(heapMegabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } }),
  }
  // Without the loaders of the parent process.
  if (!from.endsWith('.ts')) return new Thread(new URL(`./${name}.js`, from), { ...given, execArgv: [] })
  const [loader, script] = [import.meta.resolve('tsx/esm/api'), new URL(`./${name}.ts`, from).href].map(
    (url) => JSON.stringify(url),
  )
  const code = `import(${loader}).then(({ register }) => { register(); return import(${script}) })`
  return new Thread(code, { eval: true, execArgv: ['--conditions', 'agoge-source'], ...given })
}

/** Another thread that runs a program, with bit-identical results. */
export interface Helper {
  /** Starts a run. Returns false if the thread is not ready or has failed. The feeds are copied. */
  start(feeds: Feeds): boolean
  /** Waits for the run. Afterwards the outputs are in the given arrays. Returns false if it failed. */
  finish(): boolean
  dispose(): Promise<void>
}

/** Undefined in browsers. */
const { process } = globalThis as { process?: NodeJS.Process }

/** Zeros in shared memory, or null if there is none, as in most web pages. */
export function sharedArray(length: number): Float32Array | null {
  return typeof SharedArrayBuffer === 'undefined'
    ? null
    : new Float32Array(new SharedArrayBuffer(Math.max(4, length * 4)), 0, length)
}

/**
 * Starts a thread for a program and feeds of fixed sizes. Null if the platform has no threads.
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
  // The thread does not keep the process alive.
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

/** Another thread that computes its part of the same computation, in lockstep with this one. */
export interface PairedWorker {
  /** The barrier: returns when both threads have reached it. Throws AgogeError `thread-stopped`. */
  barrier: () => void
  /** Sends a command to the other thread, which waits for it. */
  ask(command: number): void
  /** Leaves a copy of a value for the other thread to `receive` after the next barrier. */
  send(value: unknown): void
  receive(): unknown
  dispose(): Promise<void>
}

/** Longer than any step of a learner. */
const patience = 300_000

/**
 * Starts a thread with the module beside `from` (an `import.meta.url`), which calls `joinWorker`. Waits until
 * it has joined. Null if the platform has no threads with shared memory, or the thread does not start.
 */
export async function startWorker(from: string, module: string, data: unknown): Promise<PairedWorker | null> {
  // Not imported, since this file is for browsers too.
  const threads = process?.getBuiltinModule?.('node:worker_threads')
  if (threads === undefined) return null
  const control = new Int32Array(new SharedArrayBuffer(16))
  const { port1, port2 } = new threads.MessageChannel()
  const worker = startThread(
    threads.Worker,
    from,
    module,
    { control, port: port2, data },
    {
      transferList: [port2],
    },
  )
  const isThere = await new Promise<boolean>((resolve) => {
    worker.once('message', () => resolve(true))
    worker.once('error', () => resolve(false))
    worker.once('exit', () => resolve(false))
  })
  if (!isThere) return null
  // The thread does not keep the process alive.
  worker.unref()
  port1.unref()
  worker.on('error', () => giveUp(control, 1))
  const barrier = createBarrier(control, 0, patience)
  return {
    barrier,
    ask(command) {
      Atomics.store(control, cells.command, command)
      barrier()
    },
    send: (value) => port1.postMessage(value),
    receive: () => threads.receiveMessageOnPort(port1)?.message,
    async dispose() {
      port1.close()
      await worker.terminate()
    },
  }
}
