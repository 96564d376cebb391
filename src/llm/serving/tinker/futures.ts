import { randomBytes } from 'node:crypto'
import { AgogeError } from '../../../error.ts'
import type { ForwardBackwardOutput, SampleResponse } from '../../backend/tinker/index.ts'
import type { Handler } from './context.ts'
import { refusalText, refuse, statusOf, textOf } from './fields.ts'

/** What became of a request. */
type Outcome =
  | { state: 'pending' }
  | { state: 'done'; result: unknown; kind: ResultKind }
  /** `code` is that of our own errors, for our own client. */
  | { state: 'failed'; error: string; category: 'user' | 'server'; code?: string }

/** Which message a result is in protobuf, where there is one. */
export type ResultKind = 'sample' | 'forward_backward' | 'other'

export interface Futures {
  /** Takes work in; its id is for the client, who asks for the outcome with it. */
  add(kind: ResultKind, work: Promise<unknown>): string
  /** The outcome, waited for up to so many seconds. Throws for an id that was never given, or whose outcome was dropped. */
  take(id: string, seconds: number): Promise<Outcome>
  /** Lets everybody who waits go. */
  close(): void
}

interface Entry {
  outcome: Outcome
  settled: Promise<void>
  /** When it was done or last sent; what nobody asks for is kept long, what was sent only for clients that missed it. */
  at: number
  sent: boolean
}

const keptSeconds = { sent: 120, unsent: 3600 }
/** Results can be large, so old ones go earlier where there are many. */
const mostKept = 4096

export function createFutures(onFault: (error: unknown) => void): Futures {
  // A server that was started anew must not answer with another's result.
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

/** Clients wait 45 s or more for an answer. */
const holdSeconds = 20

/** The result of a request, waited for; 408 says that there is none yet, and to ask again. */
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
