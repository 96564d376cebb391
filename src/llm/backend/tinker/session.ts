import { createAnswerReader } from './answers.ts'
import type { Fields } from './answers.ts'
import type { Transport } from './transport.ts'

export interface TinkerSession {
  id: string
  /** Whether the server is Agoge's, see `AgogeExtension`. */
  extended: boolean
  /** What one request may hold, as the server says or as the SDK takes for granted. */
  chunk: { rows: number; bytes: number }
  /** Models of a session are counted from 0. */
  nextModel(): number
  /** So are its samplers, those of all models together. */
  nextSampler(): number
  close(): void
}

const heartbeatSeconds = 10

/** Opens a session and keeps it alive until it is closed; a server lets go of models of silent sessions. */
export async function openSession(
  transport: Transport,
  patienceSeconds: number,
  signal?: AbortSignal,
): Promise<TinkerSession> {
  const abort = { patienceSeconds, ...(signal === undefined ? {} : { signal }) }
  const config = await clientConfig(transport, abort)
  const path = 'create_session'
  const { body } = await transport.call({
    path,
    body: { type: 'create_session', tags: [], user_metadata: {}, sdk_version: 'agoge' },
    ...abort,
  })
  const read = createAnswerReader(transport.host, path)
  const id = read.text(read.fields(body, 'object'), 'session_id')
  const timer = setInterval(() => {
    // A heartbeat that is lost is no matter: the next request will tell what is wrong.
    const beat = { path: 'session_heartbeat', body: { type: 'session_heartbeat', session_id: id } }
    transport.call({ ...beat, patienceSeconds: 0 }).catch(() => {})
  }, heartbeatSeconds * 1000)
  timer.unref()
  let models = 0
  let samplers = 0
  const size = (name: string, otherwise: number): number => {
    const value = config[name]
    return typeof value === 'number' && value > 0 ? value : otherwise
  }
  return {
    id,
    extended: isAgoge(config),
    chunk: {
      rows: size('fwdbwd_max_chunk_len', 1024),
      bytes: size('fwdbwd_max_chunk_bytes_count', 5_000_000),
    },
    nextModel: () => models++,
    nextSampler: () => samplers++,
    close: () => clearInterval(timer),
  }
}

const isAgoge = (config: Fields): boolean => typeof config['agoge'] === 'object' && config['agoge'] !== null

/** Whether a server's answer to `client/config` says that it is Agoge's. */
export async function isAgogeConfig(
  transport: Transport,
  abort: { patienceSeconds: number; signal?: AbortSignal },
): Promise<boolean> {
  return isAgoge(await clientConfig(transport, abort))
}

/** Servers older than the call know nothing of it, which is an answer too. */
async function clientConfig(
  transport: Transport,
  abort: { patienceSeconds: number; signal?: AbortSignal },
): Promise<Fields> {
  const body = { sdk_version: 'agoge' }
  const answer = await transport.call({ path: 'client/config', body, accept: [404, 405], ...abort })
  if (answer.status >= 400) return {}
  return createAnswerReader(transport.host, 'client/config').fields(answer.body, 'object')
}
