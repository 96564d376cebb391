import { assert, double, integer, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { compile, evaluateTensors, gradients, quantisedMatmul, quantiseMatrix, sum } from './index.ts'
import { input } from './operators/constant.ts'
import { testNumbers } from './testing/cases.ts'

const specs = (inner: number, outputs: number) =>
  ({
    x: { shape: ['B', inner] },
    codes: { shape: [inner, outputs], dtype: 'int8' },
    scales: { shape: [outputs] },
  }) as const

function numbers(count: number, seed: number, size = 1): Float32Array {
  const next = testNumbers(seed)
  return Float32Array.from({ length: count }, () => size * (2 * next() - 1))
}

function quantised(matrix: Float32Array, outputs: number) {
  const [codes, scales] = [new Int8Array(matrix.length), new Float32Array(outputs)]
  quantiseMatrix(matrix, codes, scales)
  return { codes, scales }
}

test('the error of every weight is at most half a step of its row, for all sizes of matrices and numbers', () => {
  assert(
    property(
      tuple(integer({ min: 1, max: 150 }), integer({ min: 1, max: 150 })),
      double({ min: -20, max: 20, noNaN: true }),
      integer({ min: 0, max: 1000 }),
      ([outputs, inner], exponent, seed) => {
        const matrix = numbers(outputs * inner, seed, 2 ** exponent)
        const { codes, scales } = quantised(matrix, outputs)
        expect(Math.max(...codes)).toBeLessThanOrEqual(64)
        expect(Math.min(...codes)).toBeGreaterThanOrEqual(-64)
        const off = Array.from(matrix, (value, at) => {
          const [o, i] = [Math.floor(at / inner), at % inner]
          return Math.abs(codes[i * outputs + o] * scales[o] - value) / scales[o]
        })
        expect(Math.max(...off)).toBeLessThanOrEqual(0.50001)
      },
    ),
    { seed: 4, numRuns: 40 },
  )
})

test('rows of zeros stay zeros, and NaN stays NaN', () => {
  const { codes, scales } = quantised(Float32Array.of(0, 0, 1, NaN, 1, Infinity, 2, -1), 4)
  expect([...scales]).toEqual([0, NaN, Infinity, 2 / 64])
  expect([codes[0], codes[4]]).toEqual([0, 0])
  expect([codes[3], codes[7]]).toEqual([64, -32])
})

test('the runtime agrees with the reference, and both approximate the float product', async () => {
  for (const [rows, inner, outputs] of [
    [1, 4, 3],
    [7, 33, 65],
    [40, 128, 352],
  ]) {
    const program = await compile(specs(inner, outputs), ({ x, codes, scales }) => ({
      y: quantisedMatmul(x, codes, scales),
    }))
    const matrix = numbers(inner * outputs, 2)
    const { codes, scales } = quantised(matrix, outputs)
    const x = numbers(rows * inner, 3, 5)
    // One row that is far larger, and one of nothing.
    for (let i = 0; i < inner; i++) x[i] *= 1e4
    if (rows > 1) x.fill(0, inner, 2 * inner)
    const feeds = {
      x: { data: x, shape: [rows, inner] },
      codes: { data: codes, shape: [inner, outputs] },
      scales: { data: scales, shape: [outputs] },
    }
    const traced = [input('x', ['B', inner]), input('codes', [inner, outputs], 'int8')] as const
    const reference = quantisedMatmul(...traced, input('scales', [outputs]))
    const expected = evaluateTensors({ y: reference }, feeds).y.data
    const { y } = await program.run(feeds)
    expect(y.shape).toEqual([rows, outputs])
    const worst = { evaluation: 0, floats: 0 }
    for (let r = 0; r < rows; r++) {
      const most = Math.max(...x.subarray(r * inner, (r + 1) * inner).map(Math.abs))
      for (let o = 0; o < outputs; o++) {
        const found = y.data[r * outputs + o]
        let product = 0
        for (let i = 0; i < inner; i++) product += x[r * inner + i] * matrix[o * inner + i]
        const fromEvaluation = Math.abs(found - expected[r * outputs + o]) / (1e-3 + most)
        // At most half a step of both factors at each term.
        const fromFloats = Math.abs(found - product) / (inner * most + 1e-9)
        worst.evaluation = Math.max(worst.evaluation, fromEvaluation)
        worst.floats = Math.max(worst.floats, fromFloats)
      }
    }
    expect(worst.evaluation).toBeLessThan(1e-5)
    expect(worst.floats).toBeLessThan(0.51 / 64 + 0.51 / 127)
    await program.release()
  }
})

test('the largest sums of codes are exact on every CPU, and rows are independent', async () => {
  const [inner, outputs] = [512, 32]
  const program = await compile(specs(inner, outputs), ({ x, codes, scales }) => ({
    y: quantisedMatmul(x, codes, scales),
  }))
  const rows = 5
  const x = numbers(rows * inner, 8)
  x.fill(1, 0, inner)
  const feeds = (data: Float32Array) => ({
    x: { data, shape: [data.length / inner, inner] },
    codes: { data: new Int8Array(inner * outputs).fill(64), shape: [inner, outputs] },
    scales: { data: new Float32Array(outputs).fill(1 / 64), shape: [outputs] },
  })
  const batched = (await program.run(feeds(x))).y.data
  for (let o = 0; o < outputs; o++) expect(batched[o]).toBeCloseTo(inner, 3)
  for (let r = 0; r < rows; r++) {
    const { y } = await program.run(feeds(x.slice(r * inner, (r + 1) * inner)))
    expect(y.data).toEqual(batched.slice(r * outputs, (r + 1) * outputs))
  }
  const bytes = { ...feeds(x), codes: { data: new Uint8Array(inner * outputs), shape: [inner, outputs] } }
  await expect(program.run(bytes)).rejects.toThrow(expect.objectContaining({ code: 'shape-mismatch' }))
  await program.release()
})

test('errors name gradients, other devices and wrong weight shapes as unsupported', async () => {
  const inputs = [input('x', ['B', 4]), input('codes', [4, 3], 'int8'), input('scales', [3])] as const
  const y = sum(quantisedMatmul(...inputs))
  expect(() => gradients(y, [inputs[0]])).toThrow(expect.objectContaining({ code: 'no-gradient' }))
  const elsewhere = compile(
    specs(4, 3),
    ({ x, codes, scales }) => ({ y: quantisedMatmul(x, codes, scales) }),
    { device: 'webgpu' },
  )
  await expect(elsewhere).rejects.toThrow(
    expect.objectContaining({ code: 'unsupported-device', given: 'webgpu', expected: 'cpu' }),
  )
  expect(() => quantisedMatmul(inputs[0], input('floats', [4, 3]), inputs[2])).toThrow(
    expect.objectContaining({ code: 'shape-mismatch', expected: expect.stringContaining('int8 [in, out]') }),
  )
})
