/**
 * Counts the time in which any call of a wave waits for a server, its state or its rate. Every episode of a wave waits
 * for all others, so that this time is none of its own.
 */
export interface WaitClock {
  /** Begins a wait of one call, and returns what ends it; ending it again changes nothing. */
  begin(): () => void
  milliseconds(): number
}

export function createWaitClock(): WaitClock {
  let waiting = 0
  let since = 0
  let total = 0
  return {
    begin() {
      if (waiting++ === 0) since = performance.now()
      let over = false
      return () => {
        if (over) return
        over = true
        if (--waiting === 0) total += performance.now() - since
      }
    },
    milliseconds: () => total + (waiting > 0 ? performance.now() - since : 0),
  }
}
