import { setMaxListeners } from 'node:events'

/** A deadline that stands still while what it watches waits for something that is no fault of its own. */
interface PausableDeadline {
  /** Aborts with the reason when the time is used up. */
  readonly signal: AbortSignal
  /** Begins (true) and ends (false) a wait, which may be reported any number of times. */
  onWait(waiting: boolean): void
  /** Stops the clock for good. */
  clear(): void
}

/** Begins a deadline of so many seconds of work; `reason` makes the error that it aborts with. */
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

/** Says that as many may wait on this signal as episodes run at the same time; Node warns of a leak from the eleventh on. */
export function manyWaiters(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}
