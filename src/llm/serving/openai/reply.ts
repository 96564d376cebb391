import { AgogeError } from '../../../error.ts'

/** An error for the client in OpenAI's format. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message)
    this.name = 'RequestError'
    this.status = status
    this.code = code
    this.param = param
  }
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** The body of an error in OpenAI's format. An aborted request failed for the reason of its `signal`. */
function errorBody(error: unknown, signal?: AbortSignal): string {
  const { status, code, message, param } = asRequestError(error, signal)
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return JSON.stringify({ error: { message, type, param, code } })
}

/** The response to a failed request. */
export function errorResponse(error: unknown, signal?: AbortSignal): Response {
  const { status } = asRequestError(error, signal)
  return new Response(errorBody(error, signal), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '1' } : {}),
      // Does not read the rest of a body that is too long.
      ...(status === 413 ? { connection: 'close' } : {}),
    },
  })
}

/** Error codes caused by the request. */
const requestCodes = new Set([
  'bad-sampling-options',
  'bad-grammar',
  'grammar-too-large',
  'unsupported-schema',
  'unsupported-pattern',
])

function asRequestError(given: unknown, signal?: AbortSignal): RequestError {
  const error: unknown = signal?.reason instanceof RequestError ? signal.reason : given
  if (error instanceof RequestError) return error
  if (AgogeError.isInstance(error) && error.code === 'overloaded') {
    return new RequestError(
      429,
      'overloaded',
      `${error.message} ${String(error.given)} do; expected ${error.expected}`,
    )
  }
  if (AgogeError.isInstance(error) && requestCodes.has(error.code)) {
    return new RequestError(400, 'invalid_value', `${error.message}: expected ${error.expected ?? 'others'}`)
  }
  return new RequestError(500, 'internal_error', error instanceof Error ? error.message : String(error))
}

/** An error about a field. */
export function badField(param: string, given: unknown, expected: string): RequestError {
  const shown = JSON.stringify(given)
  return new RequestError(
    400,
    'invalid_value',
    `${param}: expected ${expected}, given ${shown === undefined ? 'nothing' : shown.slice(0, 200)}`,
    param,
  )
}

/** How a response is sent: as one body, or as events. */
export interface Reply {
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  json(body: unknown): void
  /** Opens a stream of server-sent events. Each call of the returned function sends one event. */
  events(): { send: (body: unknown) => void; end: () => void }
}

/**
 * Runs `answer`. Resolves with the response at its body or first event, so that an earlier error keeps its status. A later error
 * becomes the last event of the stream.
 */
export function respond(signal: AbortSignal, answer: (reply: Reply) => Promise<void>): Promise<Response> {
  const encoder = new TextEncoder()
  let events: ReadableStreamDefaultController<Uint8Array> | undefined
  const write = (text: string): void => events?.enqueue(encoder.encode(text))
  const end = (text: string): void => {
    write(text)
    events?.close()
  }
  return new Promise((resolve, reject) => {
    const reply: Reply = {
      signal,
      json: (body) => resolve(Response.json(body)),
      events() {
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            events = controller
          },
          // The client has disconnected.
          cancel() {
            events = undefined
          },
        })
        resolve(
          new Response(stream, {
            headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
          }),
        )
        return {
          send: (body) => write(`data: ${JSON.stringify(body)}\n\n`),
          end: () => end('data: [DONE]\n\n'),
        }
      },
    }
    answer(reply).catch((error: unknown) => {
      if (events === undefined) reject(error)
      else end(`data: ${errorBody(error, signal)}\n\n`)
    })
  })
}
