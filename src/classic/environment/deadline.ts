import { AgogeError } from '../../error.ts'

/**
 * Runs a call that may take at most `milliseconds` (Infinity: any time) and that `signal` cancels. The call gets a signal
 * of its own, aborted in both cases; the promise is settled even where the call ignores it.
 * @throws AgogeError `deadline` or `cancelled`, with what `what` says.
 */
export function withDeadline<T>(
  what: string,
  milliseconds: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = (error: AgogeError): void => {
      reject(error)
      controller.abort(error)
    }
    const cancel = (): void =>
      stop(new AgogeError(`${what} was cancelled`, { code: 'cancelled', cause: signal?.reason }))
    if (signal?.aborted === true) return cancel()
    const late = (): void =>
      stop(
        new AgogeError(`${what} took too long`, {
          code: 'deadline',
          given: `more than ${milliseconds} ms`,
          expected: `an answer within ${milliseconds} ms`,
        }),
      )
    const timer = Number.isFinite(milliseconds) ? setTimeout(late, milliseconds) : undefined
    signal?.addEventListener('abort', cancel, { once: true })
    Promise.resolve()
      .then(() => call(controller.signal))
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
      })
  })
}
