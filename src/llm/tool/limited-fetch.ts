import type { FetchLike } from '@modelcontextprotocol/client'

/** Longest answer, and longest stream of events, that is read of a server over HTTP. */
const longestAnswer = 10_000_000
const longestStream = 100_000_000
/** Bytes that are read before others take their turn. */
const turn = 8192

/**
 * `fetch` for the servers of others: the body of an answer is read in turns, between which the event loop runs, and up to a
 * limit, after which reading it fails.
 */
export const limitedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init)
  const { body, status, statusText, headers } = response
  // A redirect is not followed, and the client looks at more of it than its body.
  if (body === null || (status >= 300 && status < 400)) return response
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  return new Response(body.pipeThrough(limited(isStream ? longestStream : longestAnswer)), {
    status,
    statusText,
    headers,
  })
}

function limited(most: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  return new TransformStream({
    async transform(chunk, controller) {
      length += chunk.length
      if (length > most) {
        controller.error(new Error(`it sent more than ${most} bytes`))
        return
      }
      for (let at = 0; at < chunk.length; at += turn) {
        controller.enqueue(chunk.subarray(at, at + turn))
        await new Promise(setImmediate)
      }
    },
  })
}
