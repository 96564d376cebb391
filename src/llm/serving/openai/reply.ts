import { errorBody } from './request-error.ts'

/** How an answer goes back: one body, or events as they come. */
export interface Reply {
  /** Aborted once the client has hung up. */
  signal: AbortSignal
  json(body: unknown): void
  /** Opens a stream of server-sent events; each call of what it returns is one event. */
  events(): { send: (body: unknown) => void; end: () => void }
}

/**
 * Runs `answer`. Resolves with the response once there is a body or a first event, so that an error before is answered with its status;
 * in a stream that has begun it is the last event.
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
          // Nobody reads any more.
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
