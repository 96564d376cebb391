import type { IncomingMessage } from 'node:http'
import { parseJsonBody } from '../parse-json.ts'
import { isRecord } from './fields.ts'
import type { Json } from './fields.ts'
import { RequestError } from './request-error.ts'

/** The JSON object that a request carries; throws `RequestError` (415, 413, 400) for anything else. */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Json> {
  // A page in a browser cannot send this type to another origin unasked.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new RequestError(415, 'unsupported_media_type', 'Send JSON, with content-type: application/json.')
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += (part as Buffer).length
    if (size > mostBytes)
      throw new RequestError(413, 'request_too_large', `The request is longer than ${mostBytes} bytes.`)
    parts.push(part as Buffer)
  }
  const body = parseJsonBody(Buffer.concat(parts), (problem, expected) => {
    throw new RequestError(400, 'invalid_json', `The request ${problem}: expected ${expected}.`)
  })
  if (!isRecord(body)) throw new RequestError(400, 'invalid_json', 'The request is not a JSON object.')
  return body
}
