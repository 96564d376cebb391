import { deserialize, serialize } from 'node:v8'
import { AgogeError } from '../error.ts'
import { deepestJson, parseForeignJson } from '../untrusted/foreign-json.ts'

/** Typed arrays that are stored as bytes. */
const views = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
}
type ViewName = keyof typeof views

/**
 * Encodes the state of a learner; equal states give equal bytes. `serialize` of node:v8 does not guarantee that: it has two
 * encodings of numbers. Numbers, strings, typed arrays, objects, arrays, maps and sets are encoded here; other values use
 * node:v8.
 *
 * Layout: the length of a JSON text as 32 bits, the text, and the bytes that it refers to. In the text, an array is a tag and
 * its content.
 */
export function encodeState(state: unknown): Uint8Array {
  const parts: Uint8Array[] = []
  let length = 0

  function bytes(tag: string, part: Uint8Array): unknown[] {
    parts.push(part)
    length += part.length
    return [tag, length - part.length, part.length]
  }

  function encode(value: unknown): unknown {
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
    if (typeof value === 'number')
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : ['number', Object.is(value, -0) ? '-0' : String(value)]
    if (typeof value === 'bigint') return ['bigint', String(value)]
    if (value === undefined) return ['undefined']
    if (Array.isArray(value)) return ['array', ...Array.from(value, encode)]
    if (value instanceof Map)
      return ['map', ...Array.from(value, ([key, each]) => [encode(key), encode(each)])]
    if (value instanceof Set) return ['set', ...Array.from(value, encode)]
    if (value instanceof ArrayBuffer) return bytes('ArrayBuffer', new Uint8Array(value))
    const name = Object.prototype.toString.call(value).slice(8, -1)
    if (ArrayBuffer.isView(value) && name in views)
      return bytes(name, new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    if (name === 'Object')
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encode(each)]))
    return bytes('v8', serialize(value))
  }

  function encodeAll(): unknown {
    try {
      return encode(state)
    } catch (error) {
      // A cyclic object would never end.
      if (!(error instanceof RangeError)) throw error
      parts.length = 0
      length = 0
      return bytes('v8', serialize(state))
    }
  }

  const text = Buffer.from(JSON.stringify(encodeAll()))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(text.length)
  return Buffer.concat([head, text, ...parts])
}

/**
 * Decodes the bytes of `encodeState`.
 *
 * @throws AgogeError `bad-run-folder` if they are invalid
 */
export function decodeState(stored: Uint8Array): unknown {
  try {
    return decodeAll(stored)
  } catch (cause) {
    throw new AgogeError('The state of a learner is damaged', {
      code: 'bad-run-folder',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'the bytes that a run of this version wrote',
      hint: 'Restore the file from a copy, or start a new run',
      cause,
    })
  }
}

function decodeAll(stored: Uint8Array): unknown {
  const file = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const start = 4 + file.readUInt32LE()

  function decode(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (!Array.isArray(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, decode(each)]))
    const [tag, ...rest] = value as [string, ...unknown[]]
    switch (tag) {
      case 'array':
        return rest.map(decode)
      case 'map':
        return new Map((rest as [unknown, unknown][]).map(([key, each]) => [decode(key), decode(each)]))
      case 'set':
        return new Set(rest.map(decode))
      case 'number':
        return Number(rest[0])
      case 'bigint':
        return BigInt(rest[0] as string)
      case 'undefined':
        return undefined
    }
    const [from, length] = rest as [number, number]
    const isInside = [from, length].every((at) => Number.isSafeInteger(at) && at >= 0)
    if (!isInside || start + from + length > file.length) throw new Error('a part is outside of the file')
    // Copied for alignment, and so that the file's buffer can be freed.
    const part = new Uint8Array(length)
    part.set(file.subarray(start + from, start + from + length))
    if (tag === 'v8') return deserialize(part)
    return tag === 'ArrayBuffer' ? part.buffer : new views[tag as ViewName](part.buffer)
  }

  return decode(parseForeignJson(file.toString('utf8', 4, start), 2 * deepestJson))
}
