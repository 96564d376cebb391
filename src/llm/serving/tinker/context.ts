import { randomBytes } from 'node:crypto'
import type { AgogeError } from '../../../error.ts'
import type { CheckpointStore } from './checkpoints.ts'
import { type Fields, refuse } from './fields.ts'
import type { Futures } from './futures.ts'
import type { LossRequest } from './losses.ts'
import type { BaseModels, ServedModels } from './models.ts'
import type { BodyReader } from './request-body.ts'
import type { Samplers } from './sampling.ts'
import type { WorkQueue } from './work-queue.ts'

/** State that the handlers of a server share. */
export interface Context {
  base: BaseModels
  bodies: BodyReader
  models: ServedModels
  samplers: Samplers
  sessions: Sessions
  store: CheckpointStore
  work: WorkQueue
  futures: Futures
  /** Accepted sampling requests, by sampling session and number. */
  samples: Map<string, { digest: string; requestId: string }>
}

/** A parsed request. */
export interface Call {
  context: Context
  body: Fields
  /** The same for a repeated request. */
  digest: string
  /** The path parameters of the route, decoded. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Whether the client accepts protobuf. */
  protobuf: boolean
  /** Only in requests that compute a loss: its input and whether no gradient is wanted, or why it cannot be used. */
  loss?: { request: LossRequest; forwardOnly: boolean } | { refused: AgogeError }
}

/** The response of a handler: JSON, or bytes. */
export interface Reply {
  /** Default: 200. */
  status?: number
  json?: unknown
  bytes?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export type Handler = (call: Call) => Reply | Promise<Reply>

/** The response to an accepted request. */
export function taken(requestId: string, more: Record<string, unknown> = {}): Reply {
  return { json: { request_id: requestId, future_id: requestId, status: 'pending', ...more } }
}

interface Session {
  id: string
  seen: number
  /** Sampling sessions by the client's number, so that a repeated request creates only one. */
  samplers: Map<number, string>
  /** Models by the client's number: the request that creates each. */
  models: Map<number, { id: string; requestId: string }>
}

interface Sessions {
  open(): Session
  /** Throws `tinker-not-found`. Also marks the session as alive. */
  find(id: string): Session
  /** Whether the client has been silent for so long that it is considered gone. */
  isGone(id: string): boolean
}

/** The SDK sends a heartbeat every ten seconds. */
const aliveSeconds = 120

export function createSessions(): Sessions {
  const sessions = new Map<string, Session>()
  return {
    open() {
      const id = `s${randomBytes(6).toString('hex')}`
      const session = { id, seen: performance.now(), samplers: new Map(), models: new Map() }
      sessions.set(id, session)
      return session
    },
    find(id) {
      const session = sessions.get(id)
      if (session === undefined) {
        const hint = 'The server may have been restarted: begin a new session.'
        throw refuse('tinker-not-found', 'There is no such session', { given: id, hint })
      }
      session.seen = performance.now()
      return session
    },
    isGone(id) {
      const session = sessions.get(id)
      return session === undefined || performance.now() - session.seen > aliveSeconds * 1000
    },
  }
}

/** Remembers a request by its number. A repeated number must be the same request, which is not executed again. */
export function once<K>(
  known: Map<K, { digest: string; requestId: string }>,
  key: K | undefined,
  digest: string,
  make: () => string,
): string {
  if (key === undefined) return make()
  const before = known.get(key)
  if (before !== undefined) {
    if (before.digest === digest) return before.requestId
    throw refuse('tinker-conflict', 'Another request came under the same number', {
      given: key,
      expected: 'a new number for every request, and the same for one that is sent again',
    })
  }
  const requestId = make()
  known.set(key, { digest, requestId })
  const [oldest] = known.keys()
  if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest)
  return requestId
}

const mostRemembered = 4096
