import type { MessagePort } from 'node:worker_threads'
import { giveUp, createBarrier, cells } from './barrier.ts'
import { startThread } from './start-thread.ts'

/** Another thread that does its part of the same computation, in step with this one. */
export interface PairedWorker {
  /** Comes back once both threads have come to as many meetings. Throws AgogeError `thread-stopped`. */
  barrier: () => void
  /** Tells the other, which waits for it, what to do next; it begins at once. */
  ask(command: number): void
  /** Leaves a value, copied, for the other to `receive` after the next meeting. */
  send(value: unknown): void
  receive(): unknown
  dispose(): Promise<void>
}

/** What the other thread is given. */
export interface PairedWork {
  control: Int32Array
  port: MessagePort
  data: unknown
}

/** Longer than any step of a learner. */
const patience = 300_000

/** What this needs of the platform. Browsers have no process. */
const { process } = globalThis as { process?: NodeJS.Process }

/**
 * Starts a thread with the module that lies beside `from` (an `import.meta.url`) and calls `joinWorker`, and waits until it has.
 * Null where the platform has no threads that share memory, or this one does not start.
 */
export async function startWorker(from: string, module: string, data: unknown): Promise<PairedWorker | null> {
  // Not imported, since this file is for browsers too.
  const threads = process?.getBuiltinModule?.('node:worker_threads')
  if (threads === undefined) return null
  const control = new Int32Array(new SharedArrayBuffer(16))
  const { port1, port2 } = new threads.MessageChannel()
  const worker = startThread(threads.Worker, from, module, { control, port: port2, data }, [port2])
  const isThere = await new Promise<boolean>((resolve) => {
    worker.once('message', () => resolve(true))
    worker.once('error', () => resolve(false))
    worker.once('exit', () => resolve(false))
  })
  if (!isThere) return null
  // A program that ends does not wait for it.
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
