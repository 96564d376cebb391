import type { ServerResponse } from 'node:http'

/** How an answer goes back: one body, or events as they come. */
export interface Reply {
  /** Aborted once the client has hung up. */
  signal: AbortSignal
  json(body: unknown): void
  /** Opens a stream of server-sent events; each call of what it returns is one event. */
  events(): { send: (body: unknown) => void; end: () => void }
}

export function createReply(response: ServerResponse, signal: AbortSignal): Reply {
  return {
    signal,
    json(body) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    },
    events() {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
      return {
        send: (body) => {
          response.write(`data: ${JSON.stringify(body)}\n\n`)
        },
        end: () => {
          response.end('data: [DONE]\n\n')
        },
      }
    },
  }
}
