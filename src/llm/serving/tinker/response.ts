import { ownTurn } from '../turns.ts'
import type { Reply } from './context.ts'

/** Characters of a piece. */
const pieceLength = 2 ** 16

/** A long result is sent in pieces, so that other requests do not wait for its text. */
export async function toResponse({ status = 200, json, bytes, headers = {} }: Reply): Promise<Response> {
  if (bytes !== undefined) return new Response(bytes, { status, headers })
  if (json === undefined) return new Response(null, { status, headers })
  const sent = { status, headers: { 'content-type': 'application/json', ...headers } }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return new Response(JSON.stringify(json, asList), sent)
  const pieces = jsonPieces(json as Readonly<Record<string, unknown>>)
  const { value, done } = await pieces.next()
  return new Response(done === true ? value : ReadableStream.from(encoded(value, pieces)), sent)
}

/** Typed arrays as lists; JSON would make them objects. */
function asList(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value
}

/** The JSON of an object, piece by piece. The last one is returned. */
export async function* jsonPieces(json: Readonly<Record<string, unknown>>): AsyncGenerator<string, string> {
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
      await ownTurn()
    }
    text += ']'
  }
  return `${text}}`
}

async function* encoded(first: string, rest: AsyncGenerator<string, string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(first)
  for (;;) {
    const { value, done } = await rest.next()
    yield encoder.encode(value)
    if (done === true) return
  }
}
