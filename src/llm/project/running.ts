/** Work that has begun: its events in their order, and its result. */
export interface Running<Event, Result> extends AsyncIterable<Event> {
  readonly result: Promise<Result>
}

/**
 * Starts work at once. Its events need not be read, and each reader gets all of them. The iterator throws what `result` rejects with.
 *
 * @example
 * const running = startRunning<string, number>(async (emit) => (emit('begun'), 1))
 */
export function startRunning<Event, Result>(
  work: (emit: (event: Event) => void) => Promise<Result>,
): Running<Event, Result> {
  const events: Event[] = []
  let waiting: (() => void)[] = []
  let isOver = false
  const wake = (): void => {
    const woken = waiting
    waiting = []
    for (const one of woken) one()
  }
  const result = work((event) => {
    events.push(event)
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  // A caller may read the events only.
  result.catch(() => {})
  return {
    result,
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; at += 1) {
        while (at >= events.length) {
          if (isOver) {
            await result
            return
          }
          await new Promise<void>((ready) => waiting.push(ready))
        }
        yield events[at]
      }
    },
  }
}
