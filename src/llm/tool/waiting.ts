import { setMaxListeners } from 'node:events'

/** A deadline that pauses while the watched work waits for a shared resource. */
interface PausableDeadline {
  /** Aborts with the reason when the time is used up. */
  readonly signal: AbortSignal
  /** Starts (true) or ends (false) a pause. Repeated calls are harmless. */
  onWait(waiting: boolean): void
  /** Stops the clock permanently. */
  clear(): void
}

/**
 * Starts a deadline.
 *
 * @param seconds of work, without pauses.
 * @param reason makes the error of the abort.
 */
export function pausableDeadline(seconds: number, reason: () => Error): PausableDeadline {
  const controller = new AbortController()
  let left = seconds * 1000
  let since = 0
  let timer: NodeJS.Timeout | undefined
  const run = (): void => {
    since = performance.now()
    timer = setTimeout(() => controller.abort(reason()), left)
  }
  const stop = (): void => {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    left = Math.max(0, left - (performance.now() - since))
  }
  let over = false
  run()
  return {
    signal: controller.signal,
    onWait(waiting) {
      if (over) return
      stop()
      if (!waiting) run()
    },
    clear() {
      over = true
      stop()
    },
  }
}

/**
 * Removes the limit of listeners on this signal. All concurrent episodes wait on it, and Node warns of a leak from the
 * eleventh on.
 */
export function manyWaiters(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}
