import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  fromBfloat16,
  fromFloat16,
  readSafetensors,
  toBfloat16,
  toFloat16,
  writeSafetensors,
} from './safetensors.ts'

const values = [
  0,
  1,
  -1.5,
  65504,
  65519,
  65520,
  1e-8,
  6e-8,
  6.1e-5,
  0.1,
  1.5 * 2 ** -24,
  2 ** -25,
  1000.3,
  0.33325195,
]

test('half precision rounds as NumPy and PyTorch do', () => {
  const floats = [...Float32Array.from(values)]
  // numpy: values.astype(float16).view(uint16)
  expect(floats.map(toFloat16)).toEqual([
    0, 15360, 48640, 31743, 31743, 31744, 0, 1, 1023, 11878, 2, 0, 25553, 13653,
  ])
  // torch: values.to(bfloat16).view(int16)
  expect(floats.map(toBfloat16)).toEqual([
    0, 16256, 49088, 18304, 18304, 18304, 12844, 13185, 14464, 15821, 13248, 13056, 17530, 16043,
  ])
})

test('every half-precision number survives a round trip', () => {
  for (let bits = 0; bits < 65536; bits++) {
    const half = fromFloat16(bits)
    if (Number.isNaN(half)) expect(fromFloat16(toFloat16(half))).toBeNaN()
    else if (toFloat16(half) !== bits) expect(toFloat16(half)).toBe(bits)
    const brain = fromBfloat16(bits)
    if (Number.isNaN(brain)) expect(fromBfloat16(toBfloat16(brain))).toBeNaN()
    else if (toBfloat16(brain) !== bits) expect(toBfloat16(brain)).toBe(bits)
  }
})

// Written by safetensors.torch.save({'w': [[1.5, -2.25], [0.125, 1e-3]], 'b': [7.0]}, {'format': 'pt'}), w of the type named.
const header =
  'kAAAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJmb3JtYXQiOiJwdCJ9LCJiIjp7ImR0eXBlIjoiRjMyIiwic2hhcGUiOlsxXSwiZGF0YV9vZmZzZXRzIjpbMCw0XX0sInciOnsiZHR5cGUiOi'
const files = {
  F32: `${header}JGMzIiLCJzaGFwZSI6WzIsMl0sImRhdGFfb2Zmc2V0cyI6WzQsMjBdfX0gICAAAOBAAADAPwAAEMAAAAA+bxKDOg==`,
  F16: `${header}JGMTYiLCJzaGFwZSI6WzIsMl0sImRhdGFfb2Zmc2V0cyI6WzQsMTJdfX0gICAAAOBAAD6AwAAwGRQ=`,
  BF16: `${header}JCRjE2Iiwic2hhcGUiOlsyLDJdLCJkYXRhX29mZnNldHMiOls0LDEyXX19ICAAAOBAwD8QwAA+gzo=`,
}

test.each(Object.entries(files))('reads a file of %s that Python wrote', (_type, base64) => {
  const { tensors, metadata } = readSafetensors(Buffer.from(base64, 'base64'))
  expect(metadata).toEqual({ format: 'pt' })
  expect(Object.keys(tensors)).toEqual(['b', 'w'])
  expect(tensors.b).toEqual({ shape: [1], data: Float32Array.of(7) })
  expect(tensors.w.shape).toEqual([2, 2])
  expect([...tensors.w.data.subarray(0, 3)]).toEqual([1.5, -2.25, 0.125])
  expect(tensors.w.data[3]).toBeCloseTo(1e-3, 5)
})

test('writing after reading gives the same bytes, for all shapes', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ minLength: 1 }).filter((name) => name !== '__metadata__' && name !== '__proto__'),
        fc.float32Array({ noNaN: true, maxLength: 20 }),
      ),
      (arrays) => {
        const tensors = Object.fromEntries(
          Object.entries(arrays).map(([name, data]) => [
            name,
            { data: Float32Array.from(data), shape: [data.length, 1] },
          ]),
        )
        const read = readSafetensors(writeSafetensors(tensors, { metadata: { step: '3' } }))
        expect(read).toEqual({ tensors, metadata: { step: '3' } })
      },
    ),
  )
  const tensors = {
    a: { data: Float32Array.of(1.5, -2), shape: [2] },
    b: { data: Float32Array.of(0.5), shape: [] },
  }
  for (const type of ['F16', 'BF16'] as const) {
    expect(readSafetensors(writeSafetensors(tensors, { type })).tensors).toEqual(tensors)
  }
})

test('errors of damaged files name the tensor', () => {
  const good = writeSafetensors({ first: { data: Float32Array.of(1, 2), shape: [2] } })
  const withHeader = (json: unknown, dataBytes: number) => {
    const text = new TextEncoder().encode(JSON.stringify(json))
    const file = new Uint8Array(8 + text.length + dataBytes)
    new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true)
    file.set(text, 8)
    return () => readSafetensors(file, 'model.safetensors')
  }
  const entry = (from: number, to: number, shape = [1], dtype = 'F32') => ({
    dtype,
    shape,
    data_offsets: [from, to],
  })
  expect(() => readSafetensors(good.subarray(0, good.length - 1))).toThrow('the tensor first is cut off')
  expect(() => readSafetensors(new Uint8Array(4))).toThrow('too short')
  expect(() => readSafetensors(new TextEncoder().encode('<!doctype html><html>'))).toThrow(
    'longer than the file',
  )
  expect(withHeader({ a: entry(0, 4, [1], 'I64') }, 4)).toThrow('model.safetensors: the tensor a has a type')
  expect(withHeader({ a: entry(0, 4, [2]) }, 4)).toThrow('the tensor a does not have the length of its shape')
  expect(withHeader({ a: entry(0, 4, [-1]) }, 4)).toThrow('no valid shape')
  expect(withHeader({ a: entry(0, 4), b: entry(0, 4) }, 4)).toThrow('the tensor b does not begin')
  expect(withHeader({ a: entry(4, 8) }, 8)).toThrow('the tensor a does not begin')
  expect(withHeader({ a: entry(0, 4) }, 8)).toThrow('bytes after the last tensor')
  expect(() => writeSafetensors({ x: { data: Float32Array.of(1), shape: [2] } })).toThrow('tensor x')
})
