import { setMaxListeners } from 'node:events'

/** Says that as many may wait on this signal as episodes run at the same time; Node warns of a leak from the eleventh on. */
export function manyWaiters(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}
