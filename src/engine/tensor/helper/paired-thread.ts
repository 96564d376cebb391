import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { cells, giveUp, createBarrier } from './helper.ts'
import type { PairedWorker } from './helper.ts'

/** The data that `startWorker` passes to the thread. */
interface PairedWork {
  control: Int32Array
  port: MessagePort
  data: unknown
}

/** The counterpart of `startWorker` inside the thread. */
export type PairedSide = Pick<PairedWorker, 'barrier' | 'send' | 'receive'>

/**
 * Calls `prepare`, then its result with each command, in a thread started by `startWorker`. Never returns; the
 * parent terminates the thread.
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
