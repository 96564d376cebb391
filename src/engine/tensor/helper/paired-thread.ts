import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { cells, giveUp, createBarrier } from './work.ts'
import type { PairedWorker } from './helper.ts'

/** What `startWorker` gives the thread. */
interface PairedWork {
  control: Int32Array
  port: MessagePort
  data: unknown
}

/** The other side of `startWorker`, in the thread that it starts. */
export type PairedSide = Pick<PairedWorker, 'barrier' | 'send' | 'receive'>

/**
 * Prepares, then does what is asked, in a thread that `startWorker` has started; what comes back from `prepare` is called with
 * each command. For ever: whoever started the thread ends it.
 */
export async function joinWorker(
  prepare: (data: unknown, side: PairedSide) => Promise<(command: number) => void | Promise<void>>,
): Promise<void> {
  const { control, port, data } = workerData as PairedWork
  const barrier = createBarrier(control, 1)
  const answer = await prepare(data, {
    barrier,
    send: (value) => port.postMessage(value),
    receive: () => receiveMessageOnPort(port)?.message,
  })
  parentPort?.postMessage('ready')
  try {
    for (;;) {
      barrier()
      await answer(Atomics.load(control, cells.command))
    }
  } catch (error) {
    console.error(error)
    giveUp(control, 1)
  }
}
