import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { cells, giveUp, meeting } from './meeting.ts'
import type { Partner, PartnerWork } from './partner.ts'

/** The other side of `startPartner`, in the thread that it starts. */
export type PartnerSide = Pick<Partner, 'meet' | 'send' | 'receive'>

/**
 * Prepares, then does what is asked, in a thread that `startPartner` has started; what comes back from `prepare` is called with
 * each command. For ever: whoever started the thread ends it.
 */
export async function joinPartner(
  prepare: (data: unknown, side: PartnerSide) => Promise<(command: number) => void | Promise<void>>,
): Promise<void> {
  const { control, port, data } = workerData as PartnerWork
  const meet = meeting(control, 1)
  const answer = await prepare(data, {
    meet,
    send: (value) => port.postMessage(value),
    receive: () => receiveMessageOnPort(port)?.message,
  })
  parentPort?.postMessage('ready')
  try {
    for (;;) {
      meet()
      await answer(Atomics.load(control, cells.command))
    }
  } catch (error) {
    console.error(error)
    giveUp(control, 1)
  }
}
