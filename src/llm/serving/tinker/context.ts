import type { BaseModels } from './base-models.ts'
import type { CheckpointStore } from './checkpoints.ts'
import type { Fields } from './fields.ts'
import type { Futures } from './futures.ts'
import type { Samplers } from './samplers.ts'
import type { ServedModels } from './served-models.ts'
import type { Sessions } from './sessions.ts'
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
