import { serialize } from 'node:v8'
import { expect, test } from 'vitest'
import { decodeState, encodeState } from './state-bytes.ts'

const state = {
  numbers: [0, -0, 1.5, 1e300, NaN, Infinity, -Infinity, 2 ** 53, 0.1 + 0.2],
  words: 'snö "quoted" \ud800',
  big: 2n ** 100n,
  nothing: null,
  missing: undefined,
  yes: true,
  weights: Float32Array.of(0.1, -0, NaN),
  part: new Float64Array([1, 2, 3, 4]).subarray(1, 3),
  words64: BigUint64Array.of(2n ** 63n),
  memory: Uint8Array.of(7, 8).buffer,
  values: new Map<unknown, unknown>([
    ['a', [1, { b: Int32Array.of(5) }]],
    [3, new Set([1, 'x'])],
  ]),
  10: 'ten',
  when: new Date(0),
}

test('a decoded state equals the encoded one', () => {
  expect(decodeState(encodeState(state))).toEqual(state)
  expect(Object.is((decodeState(encodeState(state)) as typeof state).numbers[1], -0)).toBe(true)
  const loop: { self?: unknown; data: Float32Array } = { data: Float32Array.of(1) }
  loop.self = loop
  const found = decodeState(encodeState(loop)) as typeof loop
  expect(found.self).toBe(found)
  expect(found.data).toEqual(loop.data)
})

test('equal states have equal bytes, whatever the program did with such objects before', () => {
  const make = (sum: number): { sum: number; list: number[] } => {
    const made = { sum, list: [sum] }
    made.sum = made.list[0] = 3
    return made
  }
  // After it has held a fraction, the engine stores 3 differently.
  const [whole, fraction] = [make(3), make(0.5)]
  expect(serialize(whole).equals(serialize(fraction))).toBe(false)
  expect(encodeState(whole)).toEqual(encodeState(fraction))
})

test('bytes that are no state are refused', () => {
  const bytes = encodeState(state)
  for (const cut of [0, 3, 40]) expect(() => decodeState(bytes.subarray(0, cut))).toThrow()
})

test('bytes of a stranger are refused with an error that says so', () => {
  const withHead = (head: unknown): Uint8Array => {
    const text = Buffer.from(JSON.stringify(head))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(text.length)
    return Buffer.concat([length, text, Buffer.alloc(8)])
  }
  for (const head of [
    ['Float32Array', 0, 7],
    ['Float32Array', 0, 2 ** 40],
    ['Uint8Array', -1, 2],
    ['Uint8Array', 0.5, 2],
    ['Function', 0, 0],
    ['v8', 0, 8],
    ['bigint', 'x'],
    ['map', 1],
    [{}, 0, 0],
  ])
    expect(() => decodeState(withHead(head))).toThrow(expect.objectContaining({ code: 'bad-run-folder' }))
  expect(decodeState(withHead(['Uint8Array', 0, 8]))).toEqual(new Uint8Array(8))
})
