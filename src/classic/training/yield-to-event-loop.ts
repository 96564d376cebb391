/** Milliseconds for which nothing else is heard. */
export const patience = 50

/**
 * Lets whatever waits (messages, timers, signals) have its turn, in Node and in browsers. Browsers hold a timer that
 * follows a timer back for 4 ms; a message comes at once.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', () => {
      port1.close()
      resolve()
    })
    port1.start()
    port2.postMessage(null)
  })
}
