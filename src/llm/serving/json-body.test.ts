import { array, assert, constantFrom, integer, jsonValue, oneof, property, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { noSecrets, redacted } from '../../untrusted/untrusted.ts'
import { createJsonReader } from './json-body.ts'

const limits = { parts: 1000, names: 1000, commas: 1000 }

/** What a reader makes of bytes that come in pieces. */
function read(bytes: Uint8Array, cuts: readonly number[] = [], most = limits): unknown {
  const reader = createJsonReader(most, (problem, expected) => {
    throw new Error(`${problem}: ${expected}`)
  })
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  for (const [i, at] of [0, ...places].entries()) reader.push(bytes.subarray(at, places[i] ?? bytes.length))
  return redacted(reader.end(), noSecrets)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('JSON that comes in any pieces is what JSON.parse says', () => {
  const text = oneof(
    jsonValue().map((value) => JSON.stringify(value)),
    string(),
    array(constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', 'ü', '😀', '\\u0041', ' ', '\n')).map(
      (parts) => parts.join(''),
    ),
  )
  assert(
    property(tuple(text, array(integer({ min: 0, max: 200 }), { maxLength: 5 })), ([json, cuts]) => {
      const isJson = parsed(json) !== undefined
      if (isJson) expect(read(bytesOf(json), cuts)).toEqual(parsed(json))
      else expect(() => read(bytesOf(json), cuts)).toThrow('is not JSON')
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('pieces of nothing but blanks part values, and in a text they are kept', () => {
  expect(read(bytesOf('[1,   2]'), [3, 6])).toEqual([1, 2])
  expect(() => read(bytesOf('[1   2]'), [2, 5])).toThrow('is not JSON')
  expect(read(bytesOf('"a   b"'), [2, 5])).toBe('a   b')
})

test('parts, values and levels have limits, and those in texts do not count', () => {
  const most = { parts: 5, names: 2, commas: 3 }
  expect(read(bytesOf('[1,2,3,4]'), [], most)).toEqual([1, 2, 3, 4])
  expect(() => read(bytesOf('[1,2,3,4,5]'), [], most)).toThrow('too many values: at most 3')
  expect(read(bytesOf('{"a":"[{[{,,,,\\"[["}'), [], most)).toEqual({ a: '[{[{,,,,"[[' })
  for (const text of ['[[],[],[],[[]]]', '{"a":{"b":"c"}} ""', '[{},{},"",""]'])
    expect(() => read(bytesOf(text), [], { ...most, parts: 4 })).toThrow('too many parts: at most 4')
  expect(() => read(bytesOf('{"a:":1,"b":2,"c":3}'), [], most)).toThrow('at most 2 names of fields')
  expect(read(bytesOf('{"a:::":":"}'), [], most)).toEqual({ 'a:::': ':' })
  const nested = (depth: number): Uint8Array => bytesOf('['.repeat(depth) + ']'.repeat(depth))
  expect(JSON.stringify(read(nested(256)))).toHaveLength(512)
  expect(() => read(nested(257), [100])).toThrow('nested too deep: at most 256')
})

test('a mark of UTF-8 is left aside, and other bytes that are no text become U+FFFD', () => {
  expect(read(bytesOf('\ufeff{}'), [1, 2])).toEqual({})
  expect(read(Uint8Array.of(0x22, 0xff, 0x22))).toBe('\ufffd')
  expect(() => read(Uint8Array.of(0xef, 0x20, 0xbb, 0xbf, 0x31), [1, 2])).toThrow('is not JSON')
})
