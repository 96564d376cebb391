import { randomBytes } from 'node:crypto'
import type { CheckpointStore } from './checkpoints.ts'
import { type Fields, refuse } from './fields.ts'
import type { Futures } from './futures.ts'
import type { BaseModels, ServedModels } from './models.ts'
import type { Samplers } from './sampling.ts'
import type { WorkQueue } from './work-queue.ts'

/** What the handlers of a server share. */
export interface Context {
  base: BaseModels
  models: ServedModels
  samplers: Samplers
  sessions: Sessions
  store: CheckpointStore
  work: WorkQueue
  futures: Futures
  /** Requests for samples that were taken, by sampling session and number. */
  samples: Map<string, { digest: string; requestId: string }>
}

/** A request, read. */
export interface Call {
  context: Context
  body: Fields
  /** The same for the same request, sent again. */
  digest: string
  /** The parts of the path that the route names, decoded. */
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** Whether the answer may be protobuf. */
  protobuf: boolean
  /** Only of protobuf requests: no gradient is wanted. */
  forwardOnly: boolean
}

/** What a handler answers: JSON unless it is bytes. */
export interface Reply {
  /** Default 200. */
  status?: number
  json?: unknown
  bytes?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export type Handler = (call: Call) => Reply | Promise<Reply>

/** How a request that was taken is answered. */
export function taken(requestId: string, more: Record<string, unknown> = {}): Reply {
  return { json: { request_id: requestId, future_id: requestId, status: 'pending', ...more } }
}

interface Session {
  id: string
  seen: number
  /** Sampling sessions by the number that the client gave them, so that one that is asked for twice is made once. */
  samplers: Map<number, string>
  /** Models likewise: the request that makes each. */
  models: Map<number, { id: string; requestId: string }>
}

interface Sessions {
  open(): Session
  /** Throws `tinker-not-found`. Being looked for is a sign of life. */
  find(id: string): Session
  /** Whether nothing was heard of it for so long that its client can be taken for gone. */
  isZeroVariance(id: string): boolean
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
    isZeroVariance(id) {
      const session = sessions.get(id)
      return session === undefined || performance.now() - session.seen > aliveSeconds * 1000
    },
  }
}

/** Remembers a request under its number. One of the same number must be the same request, which is then not carried out again. */
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
