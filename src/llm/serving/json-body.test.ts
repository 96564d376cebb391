import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  jsonValue,
  oneof,
  string,
  tuple,
} from 'fast-check'
import { expect, test } from 'vitest'
import { noSecrets, redacted } from '../../untrusted/untrusted.ts'
import { createJsonReader } from './json-body.ts'

const limits = { parts: 1000, names: 1000, commas: 1000 }

/** What a reader makes of bytes that come in pieces. */
async function read(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  most = limits,
  atOnce?: number,
): Promise<unknown> {
  const refuse = (problem: string, expected: string): never => {
    throw new Error(`${problem}: ${expected}`)
  }
  const reader = createJsonReader(most, refuse, atOnce)
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  for (const [i, at] of [0, ...places].entries()) reader.push(bytes.subarray(at, places[i] ?? bytes.length))
  return redacted(await reader.end(), noSecrets)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('JSON that comes in any pieces is what JSON.parse says', async () => {
  const text = oneof(
    jsonValue().map((value) => JSON.stringify(value)),
    string(),
    array(constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', 'ü', '😀', '\\u0041', ' ', '\n')).map(
      (parts) => parts.join(''),
    ),
  )
  const atOnce = constantFrom(undefined, 1, 2, 3, 5, 8)
  await assert(
    asyncProperty(
      tuple(text, array(integer({ min: 0, max: 200 }), { maxLength: 5 }), atOnce),
      async ([json, cuts, most]) => {
        const found = read(bytesOf(json), cuts, limits, most)
        const expected = parsed(json)
        if (expected === undefined) await expect(found).rejects.toThrow('is not JSON')
        // As a text, for the order of names.
        else expect(JSON.stringify(await found)).toBe(JSON.stringify(expected))
      },
    ),
    { seed: 1, numRuns: 2000 },
  )
})

test('JSON with a wrong sign is refused where JSON.parse refuses it, whichever parts are parsed apart', async () => {
  const sign = constantFrom('', '{', '}', '[', ']', '"', ',', ':', '1', '0.', '-', 'null', '""', ' ')
  const change = tuple(integer({ min: 0 }), integer({ min: 0, max: 2 }), sign)
  const json = jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value))
  await assert(
    asyncProperty(json, change, constantFrom(1, 2, 4), async (text, [place, cut, put], most) => {
      const at = place % (text.length + 1)
      const changed = `${text.slice(0, at)}${put}${text.slice(at + cut)}`
      const found = await read(bytesOf(changed), [], limits, most).catch(String)
      const expected = parsed(changed)
      if (expected === undefined) expect(found).toMatch(/is not JSON|too deep|too many/)
      else expect(JSON.stringify(found)).toBe(JSON.stringify(expected))
    }),
    { seed: 2, numRuns: 5000 },
  )
})

test('long texts and names are what JSON.parse says, wherever they are cut', async () => {
  const sign = constantFrom(
    'a',
    'ü',
    '😀',
    '\\\\',
    '\\"',
    '\\n',
    '\\u0041',
    '\\ud83d',
    '\\ude00',
    '\\\\u',
    '/',
    '{',
    ',',
    ' ',
  )
  const long = array(sign, { minLength: 10, maxLength: 60 }).map((signs) => `"${signs.join('')}"`)
  const change = tuple(integer({ min: 0 }), constantFrom('', '"', '\\', '\n', '\\u00', ':', ',', 'x'))
  const shape = constantFrom(
    'T',
    '[T,T]',
    '{"a":T}',
    '{T:T}',
    '[{"a":[1,T]},T,{T:{}}]',
    '{"a":[T],"b":{"c":T}}',
  )
  await assert(
    asyncProperty(
      tuple(shape, array(long, { minLength: 5, maxLength: 5 }), change),
      constantFrom(1, 2, 3),
      array(integer({ min: 0, max: 400 }), { maxLength: 3 }),
      async ([outer, texts, [place, put]], most, cuts) => {
        let next = 0
        const json = outer.replaceAll('T', () => texts[next++])
        const at = place % json.length
        for (const text of [json, `${json.slice(0, at)}${put}${json.slice(at)}`]) {
          // A pair of surrogates that is parted is no UTF-8.
          const bytes = bytesOf(text)
          const found = await read(bytes, cuts, limits, most).catch(String)
          const expected = parsed(new TextDecoder().decode(bytes))
          if (expected === undefined) expect(found).toMatch(/is not JSON/)
          else expect(JSON.stringify(found)).toBe(JSON.stringify(expected))
        }
      },
    ),
    { seed: 3, numRuns: 2000 },
  )
})

test('a megabyte in one text is read, and a name of a megabyte is refused', async () => {
  const long = 'a\n😀'.repeat(250_000)
  expect(await read(bytesOf(JSON.stringify({ a: [long] })), [1_000, 70_001, 300_002])).toEqual({ a: [long] })
  const refused = read(bytesOf(JSON.stringify({ [long]: 1 })))
  await expect(refused).rejects.toThrow('has too long a name: at most 65536 characters')
})

test('a field named as the prototype is a field, and of two of a name the last counts', async () => {
  const text = '{"a":1,"__proto__":{"x":[1,2,3]},"2":[[],[]],"1":2,"a":{"b":[{},{}]},"toString":{"c":{}}}'
  const found = (await read(bytesOf(text), [], limits, 1)) as object
  expect(JSON.stringify(found)).toBe(JSON.stringify(parsed(text)))
  expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
  expect(Object.keys(found)).toEqual(Object.keys(parsed(text) as object))
})

test('a list or an object before a colon is refused, also where it is long', async () => {
  for (const text of ['[[[],[],[]]:1]', '{"a":{"b":[1,2,3]}:1}', '{[1,2,3,4]:1}'])
    for (const atOnce of [undefined, 1])
      await expect(read(bytesOf(text), [], limits, atOnce)).rejects.toThrow('is not JSON')
})

test('pieces of nothing but blanks part values, and in a text they are kept', async () => {
  expect(await read(bytesOf('[1,   2]'), [3, 6])).toEqual([1, 2])
  await expect(read(bytesOf('[1   2]'), [2, 5])).rejects.toThrow('is not JSON')
  expect(await read(bytesOf('"a   b"'), [2, 5])).toBe('a   b')
})

test('parts, values and levels have limits, and those in texts do not count', async () => {
  const most = { parts: 5, names: 2, commas: 3 }
  expect(await read(bytesOf('[1,2,3,4]'), [], most)).toEqual([1, 2, 3, 4])
  await expect(read(bytesOf('[1,2,3,4,5]'), [], most)).rejects.toThrow('too many values: at most 3')
  expect(await read(bytesOf('{"a":"[{[{,,,,\\"[["}'), [], most)).toEqual({ a: '[{[{,,,,"[[' })
  for (const text of ['[[],[],[],[[]]]', '{"a":{"b":"c"}} ""', '[{},{},"",""]'])
    await expect(read(bytesOf(text), [], { ...most, parts: 4 })).rejects.toThrow('too many parts: at most 4')
  await expect(read(bytesOf('{"a:":1,"b":2,"c":3}'), [], most)).rejects.toThrow('at most 2 names of fields')
  expect(await read(bytesOf('{"a:::":":"}'), [], most)).toEqual({ 'a:::': ':' })
  const nested = (depth: number): Uint8Array => bytesOf('['.repeat(depth) + ']'.repeat(depth))
  expect(JSON.stringify(await read(nested(256)))).toHaveLength(512)
  await expect(read(nested(257), [100])).rejects.toThrow('nested too deep: at most 256')
})

test('a mark of UTF-8 is left aside, and other bytes that are no text become U+FFFD', async () => {
  expect(await read(bytesOf('\ufeff{}'), [1, 2])).toEqual({})
  expect(await read(Uint8Array.of(0x22, 0xff, 0x22))).toBe('\ufffd')
  await expect(read(Uint8Array.of(0xef, 0x20, 0xbb, 0xbf, 0x31), [1, 2])).rejects.toThrow('is not JSON')
})
