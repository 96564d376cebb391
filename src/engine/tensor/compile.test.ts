import { expect, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import * as t from './index.ts'
import { evaluateNodes } from './evaluate.ts'
import { input } from './operators/constant.ts'
import { matmulOperator } from './operators/matmul.ts'
import { topologicalOrder } from './node.ts'
import { simplify } from './simplify.ts'

const vector = (...values: number[]) => ({ data: Float32Array.from(values), shape: [values.length] })

test('one program runs with all sizes of its symbols', async () => {
  const program = await t.compile({ x: { shape: ['B', 'T'] } }, ({ x }) => ({
    total: t.sum(x, { axes: [1] }),
  }))
  for (const [rows, columns] of [
    [1, 1],
    [2, 3],
    [4, 2],
    [0, 3],
  ]) {
    const x = { data: new Float32Array(rows * columns).fill(1), shape: [rows, columns] }
    const { total } = await program.run({ x })
    expect(total.shape).toEqual([rows])
    expect([...total.data]).toEqual(Array.from({ length: rows }, () => columns))
  }
  await program.release()
})

test('an input may also be an output, and an unused input may be fed', async () => {
  const program = await t.compile({ x: { shape: ['N'] }, unused: { shape: [1] } }, ({ x }) => ({
    x,
    same: x,
    one: t.constant(1),
  }))
  const result = await program.run({ x: vector(3, 4), unused: vector(0) })
  expect([...result.x.data, ...result.same.data, ...result.one.data]).toEqual([3, 4, 3, 4, 1])
  await program.release()
})

test('runs may overlap and do not change their feeds', async () => {
  const program = await t.compile({ x: { shape: ['N'] } }, ({ x }) => ({ y: t.mul(t.exp(x), 2) }))
  const feeds = Array.from({ length: 8 }, (_, i) => ({ x: vector(i, i + 1) }))
  const results = await Promise.all(feeds.map((feed) => program.run(feed)))
  results.forEach(({ y }, i) => expect(y.data[0]).toBeCloseTo(2 * Math.exp(i), 1))
  expect([...feeds[3].x.data]).toEqual([3, 4])
  await program.release()
})

test('outputs are written to the given arrays in every run', async () => {
  const program = await t.compile({ x: { shape: ['N'] } }, ({ x }) => ({ y: t.mul(x, 2), z: t.add(x, 1) }))
  const y = { data: new Float32Array(2), shape: [2] }
  for (const value of [1, 5]) {
    const results = await program.run({ x: vector(value, 3) }, { y })
    expect(results.y).toBe(y)
    expect([...y.data]).toEqual([2 * value, 6])
    expect([...results.z.data]).toEqual([value + 1, 4])
  }
  await expect(program.run({ x: vector(1, 2, 3) }, { y })).rejects.toThrow(/shape|dims|size/i)
  await program.release()
})

test('a reused feed is read again', async () => {
  const program = await t.compile({ x: { shape: ['N'] } }, ({ x }) => ({ y: t.mul(x, 2) }))
  const x: { data: Float32Array; shape: number[] } = vector(1)
  const y = async () => [...(await program.run({ x })).y.data]
  expect(await y()).toEqual([2])
  x.data[0] = 4
  expect(await y()).toEqual([8])
  x.data = Float32Array.of(1, 2)
  x.shape = [2]
  expect(await y()).toEqual([2, 4])
  await program.release()
})

test('equal graphs share a session until the last one is released', async () => {
  const make = () => t.compile({ x: { shape: ['N'] } }, ({ x }) => ({ y: t.tanh(t.add(x, 7)) }))
  const [first, second] = await Promise.all([make(), make()])
  await first.release()
  await first.release()
  expect((await second.run({ x: vector(0) })).y.data[0]).toBeCloseTo(Math.tanh(7), 5)
  await expect(first.run({ x: vector(0) })).rejects.toThrow(/released/)
  await second.release()
  await expect(second.run({ x: vector(0) })).rejects.toThrow(/released/)
})

test('shape errors name the operator and the shapes, where they are made', async () => {
  const inputs = {
    a: { shape: ['B', 3] },
    b: { shape: [4, 2] },
    i: { shape: ['B'], dtype: 'int32' as const },
  }
  const attempt = async (build: (inputs: Record<string, t.Tensor>) => t.Tensor) =>
    t
      .compile(inputs, (traced) => ({ result: build(traced) }))
      .then(
        () => 'compiled',
        (error: unknown) =>
          AgogeError.isInstance(error) ? `${error.code}: ${error.message}` : String(error),
      )
  expect(await attempt(({ a, b }) => t.matmul(a, b))).toMatch(/shape-mismatch: matmul.*\[B, 3\].*\[4, 2\]/)
  expect(await attempt(({ a, b }) => t.add(a, b))).toMatch(/shape-mismatch: add.*\[B, 3\].*\[4, 2\]/)
  expect(await attempt(({ a, i }) => t.mul(a, i))).toMatch(/shape-mismatch: mul.*int32\[B\]/)
  expect(await attempt(({ a }) => t.reshape(a, ['B', 4]))).toMatch(/shape-mismatch: reshape/)
  expect(await attempt(({ a }) => t.sum(a, { axes: [2] }))).toMatch(/shape-mismatch: sum/)
  expect(await attempt(({ a }) => t.takeAlong(a, a))).toMatch(/shape-mismatch: takeAlong/)
  expect(await attempt(({ a }) => t.slice(a, { axis: 1, start: 2, end: 5 }))).toMatch(/shape-mismatch: slice/)
  expect(await attempt(({ a }) => t.mul(t.broadcastTo(t.sum(a), ['Q']), 2))).toMatch(/unknown-size.*Q/)
  expect(() => t.constant([1, 2, 3], [2, 2])).toThrow(/3 values/)
})

test('feeds that do not fit are refused before the runtime sees them', async () => {
  const program = await t.compile(
    { x: { shape: ['B', 'T'] }, w: { shape: ['T', 2] }, flat: { shape: ['B*T'] } },
    ({ x, w, flat }) => ({ y: t.matmul(t.add(x, t.reshape(flat, ['B', 'T'])), w) }),
  )
  const x = { data: new Float32Array(6), shape: [2, 3] }
  const w = { data: new Float32Array(6), shape: [3, 2] }
  const flat = { data: new Float32Array(6), shape: [6] }
  expect((await program.run({ x, w, flat })).y.shape).toEqual([2, 2])
  await expect(program.run({ x, flat })).rejects.toThrow(/input w is missing/)
  await expect(program.run({ x, w: { data: new Float32Array(8), shape: [4, 2] }, flat })).rejects.toThrow(
    /\[4, 2\]/,
  )
  await expect(program.run({ x: { data: new Int32Array(6), shape: [2, 3] }, w, flat })).rejects.toThrow(
    /int32/,
  )
  await expect(program.run({ x: { data: new Float32Array(5), shape: [2, 3] }, w, flat })).rejects.toThrow(
    /5 values/,
  )
  await expect(program.run({ x, w, flat: { data: new Float32Array(5), shape: [5] } })).rejects.toThrow(
    /B\*T = 6/,
  )
  await program.release()
})

test('an index out of range is an error that names the program', async () => {
  const program = await t.compile(
    { table: { shape: [3, 2] }, ids: { shape: ['N'], dtype: 'int32' } },
    ({ table, ids }) => ({ rows: t.gather(table, ids) }),
    { name: 'lookup' },
  )
  const table = { data: new Float32Array(6), shape: [3, 2] }
  const failure = await program
    .run({ table, ids: { data: Int32Array.of(7), shape: [1] } })
    .catch((error: unknown) => error)
  expect(AgogeError.isInstance(failure) && failure.message).toMatch(/lookup.*out of/)
  expect((await program.run({ table, ids: { data: Int32Array.of(2), shape: [1] } })).rows.shape).toEqual([
    1, 2,
  ])
  await program.release()
})

test('simplification folds, merges and drops', () => {
  const x = input('x', ['B', 4])
  const names = (node: t.Tensor) =>
    topologicalOrder(simplify([node]))
      .map((inner) => inner.op.name)
      .filter((name) => name !== 'constant')
  expect(names(t.add(t.mul(x, 1), 0))).toEqual(['input'])
  expect(names(t.mul(t.broadcastTo(t.constant(1), ['B', 4]), x))).toEqual(['input'])
  expect(names(t.neg(t.neg(x)))).toEqual(['input'])
  expect(names(t.transpose(t.transpose(x)))).toEqual(['input'])
  expect(names(t.reshape(t.reshape(x, [4, 'B']), ['B', 4]))).toEqual(['input'])
  expect(names(t.mul(t.exp(x), t.exp(x)))).toEqual(['input', 'exp', 'mul'])
  expect(names(t.mul(x, t.add(t.constant(2), t.exp(t.constant(0)))))).toEqual(['input', 'mul'])
  const scaled = simplify([t.div(t.matmul(x, t.transpose(x)), 4)])[0]
  expect(scaled.op).toBe(matmulOperator)
  expect(scaled.attributes).toMatchObject({ scale: 0.25, transposeB: true })
})

test('simplification does not merge nodes that only look equal', () => {
  const x = input('x', ['B', 4])
  const values = simplify([
    t.mul(t.constant([1, 1]), t.constant([[2], [3]].flat())),
    t.sub(0, x),
    t.div(1, x),
  ])
  const [product, negative, inverse] = evaluateNodes(values, {
    x: { data: Float32Array.of(1, 2, 4, 8), shape: [1, 4] },
  })
  expect([...product.data]).toEqual([2, 3])
  expect([...negative.data]).toEqual([-1, -2, -4, -8])
  expect([...inverse.data]).toEqual([1, 0.5, 0.25, 0.125])
})
