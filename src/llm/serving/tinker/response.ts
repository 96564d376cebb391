import { yieldToEventLoop } from '../../../event-loop.ts'
import type { Reply } from './context.ts'

/** Lists of more items are sent in pieces, so that other requests do not wait for their text. */
const longList = 256
/** Characters of a piece. */
const pieceLength = 2 ** 16

export function toResponse({ status = 200, json, bytes, headers = {} }: Reply): Response {
  if (bytes !== undefined) return new Response(bytes, { status, headers })
  if (json === undefined) return new Response(null, { status, headers })
  const body = hasLongList(json)
    ? ReadableStream.from(encoded(jsonPieces(json)))
    : JSON.stringify(json, asList)
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } })
}

/** Typed arrays as lists; JSON would make them objects. */
function asList(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value
}

function hasLongList(json: unknown): json is Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false
  return Object.values(json).some((value) => Array.isArray(value) && value.length > longList)
}

/** The JSON of an object with long lists, piece by piece. */
export async function* jsonPieces(json: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let text = '{'
  const fields = Object.entries(json).filter(([, value]) => value !== undefined)
  for (const [at, [name, value]] of fields.entries()) {
    text += `${at === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (!Array.isArray(value)) {
      text += JSON.stringify(value, asList)
      continue
    }
    text += '['
    for (const [index, item] of (value as unknown[]).entries()) {
      text += `${index === 0 ? '' : ','}${JSON.stringify(item, asList)}`
      if (text.length < pieceLength) continue
      yield text
      text = ''
      await yieldToEventLoop()
    }
    text += ']'
  }
  yield `${text}}`
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const text of texts) yield encoder.encode(text)
}
