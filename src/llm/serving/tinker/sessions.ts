import { randomBytes } from 'node:crypto'
import { refuse } from './refusal.ts'

export interface Session {
  id: string
  seen: number
  /** Sampling sessions by the number that the client gave them, so that one that is asked for twice is made once. */
  samplers: Map<number, string>
  /** Models likewise: the request that makes each. */
  models: Map<number, { id: string; requestId: string }>
}

export interface Sessions {
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
