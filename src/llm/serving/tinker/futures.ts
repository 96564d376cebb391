import { randomBytes } from 'node:crypto'
import { AgogeError } from '../../../error.ts'
import type { ForwardBackwardOutput, SampleResponse } from '../../backend/tinker/wire.ts'
import type { Handler } from './context.ts'
import { refusalText, refuse, statusOf, textOf } from './fields.ts'

/** The outcome of a request. */
type FutureState =
  | { state: 'pending' }
  | { state: 'done'; result: unknown; kind: ResultKind }
  /** `code` is that of our own errors, for our own client. */
  | { state: 'failed'; error: string; category: 'user' | 'server'; code?: string }

/** The protobuf message type of a result, if it has one. */
export type ResultKind = 'sample' | 'forward_backward' | 'other'

export interface Futures {
  /** Starts work and returns its id. The client polls for the outcome by this id. */
  add(kind: ResultKind, work: Promise<unknown>): string
  /** Waits up to this many seconds for the outcome. Throws for an unknown id, or one whose outcome was dropped. */
  take(id: string, seconds: number): Promise<FutureState>
  /** Releases everyone who waits. */
  close(): void
}

interface Entry {
  outcome: FutureState
  settled: Promise<void>
  /**
   * Time of completion or of the last delivery. Undelivered outcomes are kept long; delivered ones only for clients that missed
   * the response.
   */
  at: number
  sent: boolean
}

const keptSeconds = { sent: 120, unsent: 3600 }
/** Results can be large, so older ones are dropped earlier if there are many. */
const mostKept = 4096

export function createFutures(onFault: (error: unknown) => void): Futures {
  // A restarted server must not return an earlier server's result.
  const origin = randomBytes(5).toString('hex')
  const entries = new Map<string, Entry>()
  let made = 0
  let closed: () => void = () => {}
  const closing = new Promise<void>((resolve) => (closed = resolve))

  function sweep(): void {
    const now = performance.now() / 1000
    for (const [id, { outcome, at, sent }] of entries) {
      if (outcome.state === 'pending') continue
      const age = now - at
      if (age > (sent ? keptSeconds.sent : keptSeconds.unsent) || entries.size > mostKept) entries.delete(id)
    }
  }

  return {
    add(kind, work) {
      sweep()
      const id = `${origin}-${made++}`
      const entry: Entry = {
        outcome: { state: 'pending' },
        at: 0,
        sent: false,
        settled: work.then(
          (result) => {
            entry.outcome = { state: 'done', result, kind }
            entry.at = performance.now() / 1000
          },
          (error: unknown) => {
            const category = statusOf(error) === 500 ? 'server' : 'user'
            if (category === 'server') onFault(error)
            const code = AgogeError.isInstance(error) ? { code: error.code } : {}
            entry.outcome = { state: 'failed', error: refusalText(error), category, ...code }
            entry.at = performance.now() / 1000
          },
        ),
      }
      entries.set(id, entry)
      return id
    },
    async take(id, seconds) {
      const entry = entries.get(id)
      if (entry === undefined) {
        const [start, number] = id.split('-')
        const given = start === origin && Number(number) < made
        throw given
          ? refuse('tinker-gone', `The result of request ${id} was sent and is gone`)
          : refuse('tinker-not-found', `There is no request ${id}`, {
              hint: 'The server may have been restarted.',
            })
      }
      let timer: NodeJS.Timeout | undefined
      const pause = new Promise<void>((resolve) => (timer = setTimeout(resolve, seconds * 1000)))
      await Promise.race([entry.settled, pause, closing])
      clearTimeout(timer)
      if (entry.outcome.state !== 'pending') {
        entry.sent = true
        entry.at = performance.now() / 1000
      }
      return entry.outcome
    },
    close: () => closed(),
  }
}

/** Clients wait at least 45 s for a response. */
const holdSeconds = 20

/** Waits for the result of a request. Status 408: not done yet, ask again. */
export const retrieveFuture: Handler = async ({ context, body, protobuf }) => {
  const id = textOf(body, 'request_id')
  const outcome = await context.futures.take(id, holdSeconds)
  if (outcome.state === 'pending')
    return {
      status: 408,
      json: { type: 'try_again', request_id: id, queue_state: 'active', detail: 'not done yet' },
    }
  if (outcome.state === 'failed') {
    const { error, category, code } = outcome
    return { json: { error, category, ...(code === undefined ? {} : { agoge: { code } }) } }
  }
  const { result, kind } = outcome
  if (!protobuf || kind === 'other') return { json: result }
  const { writeForwardBackwardOutput, writeSampleResponse } = await import('./protobuf/messages.ts')
  const bytes =
    kind === 'sample'
      ? writeSampleResponse(result as SampleResponse)
      : writeForwardBackwardOutput(result as ForwardBackwardOutput)
  return { bytes, headers: { 'content-type': 'application/x-protobuf' } }
}
