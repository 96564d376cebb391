import * as t from '../index.ts'
import { scatterAlong, scatterRows } from '../operators/gather.ts'
import type { DType, Feeds, HostData, Shape, Tensor } from '../node.ts'

interface CaseInput {
  shape: Shape
  dtype?: DType
  /** Range [low, high) of the random values. Integers are rounded down. Default: -2 to 2; for indices 0 to 3. */
  low?: number
  high?: number
}

/** A use of an operator with symbolic sizes B and T. Tests compare it with the reference and with finite differences. */
export interface Case {
  inputs: Readonly<Record<string, CaseInput>>
  build: (inputs: Record<string, Tensor>) => Tensor
}

const x: CaseInput = { shape: ['B', 'T', 4] }
const y: CaseInput = { shape: ['T', 4] }
const positive: CaseInput = { shape: ['B', 'T', 4], low: 0.5, high: 2 }
const index: CaseInput = { shape: ['B', 'T'], dtype: 'int32', low: 0, high: 3 }
const integers: CaseInput = { shape: ['B', 'T'], dtype: 'int32', low: -5, high: 5 }
const flags: CaseInput = { shape: ['B', 'T', 1], dtype: 'bool', low: 0, high: 2 }

const one = (input: CaseInput, apply: (x: Tensor) => Tensor): Case => ({
  inputs: { x: input },
  build: (i) => apply(i.x),
})
const two = (a: CaseInput, b: CaseInput, apply: (a: Tensor, b: Tensor) => Tensor): Case => ({
  inputs: { a, b },
  build: (i) => apply(i.a, i.b),
})

export const cases: Readonly<Record<string, Case>> = {
  neg: one(x, t.neg),
  exp: one(x, t.exp),
  log: one(positive, t.log),
  sqrt: one(positive, t.sqrt),
  rsqrt: one(positive, t.rsqrt),
  tanh: one(x, t.tanh),
  sigmoid: one(x, t.sigmoid),
  silu: one(x, t.silu),
  relu: one(x, t.relu),
  abs: one(x, t.abs),
  sign: one(x, t.sign),
  sin: one(x, t.sin),
  cos: one(x, t.cos),
  square: one(x, t.square),
  add: two(x, y, t.add),
  sub: two(y, x, t.sub),
  mul: two(x, y, t.mul),
  div: two(x, { ...y, low: 0.5 }, t.div),
  pow: two(positive, y, t.pow),
  'pow with a number': one(x, (a) => t.pow(a, 3)),
  maximum: two(x, y, t.maximum),
  minimum: two(y, x, t.minimum),
  'numbers on the left': one(positive, (a) => t.sub(1, t.div(2, a))),
  'integer arithmetic': two(integers, { ...integers, low: 1 }, (a, b) =>
    t.div(t.mul(t.add(a, b), t.sub(a, 3)), b),
  ),
  'integer max': one(integers, (a) => t.max(t.maximum(a, 0), { axes: [1] })),
  equal: two(integers, integers, t.equal),
  less: two(x, y, t.less),
  greater: two(x, y, t.greater),
  'and, not': two(flags, flags, (a, b) => t.and(a, t.not(b))),
  where: { inputs: { c: flags, a: x, b: y }, build: (i) => t.where(i.c, i.a, i.b) },
  'where with a number': two(flags, x, (c, a) => t.where(c, a, -1)),
  'cast from bool': one(flags, (a) => t.cast(a, 'float32')),
  'cast to int32': one(x, (a) => t.cast(a, 'int32')),
  'cast to bool': one(integers, (a) => t.cast(a, 'bool')),
  matmul: two(x, { shape: [4, 3] }, t.matmul),
  'matmul, b transposed': two(x, { shape: [3, 4] }, (a, b) => t.matmul(a, b, { transposeB: true })),
  'matmul, a transposed': two(x, { shape: ['B', 'T', 3] }, (a, b) => t.matmul(a, b, { transposeA: true })),
  'matmul, both transposed': two({ shape: [4, 'T'] }, { shape: [3, 4] }, (a, b) =>
    t.matmul(a, b, { transposeA: true, transposeB: true }),
  ),
  'matmul in batches': two({ shape: ['B', 2, 'T', 3] }, { shape: ['B', 2, 'T', 3] }, (a, b) =>
    t.mul(t.matmul(a, b, { transposeB: true }), 0.5),
  ),
  'matmul, batch broadcast': two({ shape: ['B', 2, 'T', 3] }, { shape: ['B', 1, 3, 2] }, t.matmul),
  'matmul, a of rank 2': two({ shape: [3, 4] }, { shape: ['B', 4, 2] }, t.matmul),
  'matmul of a transpose': two(x, x, (a, b) => t.matmul(a, t.transpose(b, [0, 2, 1]))),
  transpose: one({ shape: ['B', 'T', 2, 3] }, (a) => t.transpose(a, [0, 2, 1, 3])),
  'transpose of a transpose': one({ shape: ['B', 'T', 2, 3] }, (a) =>
    t.transpose(t.transpose(a, [2, 0, 3, 1]), [1, 0, 2, 3]),
  ),
  reshape: one(x, (a) => t.exp(t.reshape(a, ['B*T', 2, 2]))),
  'reshape with -1': one(x, (a) => t.exp(t.reshape(a, [-1, 4]))),
  'reshape at run time': one(x, (a) => t.exp(t.reshape(a, ['2*T', '2*B']))),
  'sum over all': one(x, (a) => t.sum(a)),
  sum: one(x, (a) => t.sum(a, { axes: [0, 2] })),
  'sum, kept': one(x, (a) => t.sum(a, { axes: [-1], keepDims: true })),
  mean: one(x, (a) => t.mean(a, { axes: [-1] })),
  'mean over a symbol': one(x, (a) => t.mean(a, { axes: [0, 1] })),
  max: one(x, (a) => t.max(a, { axes: [-1] })),
  rmsNormalise: one(x, (a) => t.rmsNormalise(a, 1e-5)),
  rmsNormaliseWithScale: one(x, (a) => {
    const { y, scale } = t.rmsNormaliseWithScale(a, 1e-5)
    return t.sub(y, scale)
  }),
  rotate: {
    inputs: {
      a: { shape: ['B', 'T', 8] },
      positions: { shape: ['B', 'T'], dtype: 'int32', low: 0, high: 9 },
    },
    build: (i) => {
      const table = (f: (x: number) => number) =>
        t.constant(
          Array.from({ length: 18 }, (_, at) => f(at * 0.7)),
          [9, 2],
        )
      return t.rotate(t.mul(i.a, i.a), i.positions, table(Math.cos), table(Math.sin))
    },
  },
  softmax: one(x, t.softmax),
  logSoftmax: one(x, t.logSoftmax),
  broadcastTo: two(x, y, (a, b) =>
    t.add(t.exp(t.broadcastTo(b, ['B', 'T', 4])), t.broadcastTo(t.sum(a), [2, 'B', 'T', 4])),
  ),
  concat: two(x, { shape: ['B', 'T', 2] }, (a, b) => t.concat([a, b], -1)),
  'concat of symbols': two({ shape: ['P', 3] }, { shape: ['T', 3] }, (a, b) => t.concat([a, b, a], 0)),
  slice: one(x, (a) => t.slice(a, { axis: 2, start: 1, end: -1 })),
  'slice by a symbol': two({ shape: ['P', 3] }, { shape: ['T', 3] }, (a, b) =>
    t.slice(t.concat([a, b], 0), { axis: 0, start: 'P' }),
  ),
  'slices that tile': one(x, (a) =>
    t.mul(t.slice(a, { axis: 2, start: 2 }), t.square(t.slice(a, { axis: 2, end: 2 }))),
  ),
  pad: one(x, (a) => t.pad(a, { axis: 1, before: 1, after: 2 })),
  gather: two({ shape: [3, 5] }, index, (a, i) => t.gather(a, i)),
  'gather along the last axis': two({ shape: [2, 3] }, index, (a, i) => t.gather(a, i, 1)),
  takeAlong: two(x, index, t.takeAlong),
  'likelihood of tokens': two(x, index, (a, i) => t.takeAlong(t.logSoftmax(a), i)),
  conv2d: two({ shape: ['B', 2, 4, 3] }, { shape: [3, 2, 2, 2] }, t.conv2d),
  'conv2d, padded': two({ shape: ['B', 2, 3, 4] }, { shape: [2, 2, 3, 3] }, (a, b) =>
    t.conv2d(a, b, { padding: 1 }),
  ),
  'conv2d with a stride that does not divide': two(
    { shape: ['B', 2, 6, 5] },
    { shape: [3, 2, 3, 2] },
    (a, b) => t.conv2d(a, b, { stride: 2, padding: 1 }),
  ),
  'conv2d, dilated': two({ shape: ['B', 1, 5, 6] }, { shape: [2, 1, 2, 2] }, (a, b) =>
    t.conv2d(a, b, { dilation: 2, stride: 3, padding: 1 }),
  ),
  convTranspose2d: two({ shape: ['B', 3, 2, 2] }, { shape: [3, 2, 3, 2] }, (a, b) =>
    t.convTranspose2d(a, b, [6, 5], { stride: 3, padding: 1 }),
  ),
  scatterRows: {
    inputs: {
      base: { shape: [3, 2] },
      i: { shape: ['T'], dtype: 'int32', low: 0, high: 3 },
      rows: { shape: ['T', 2] },
    },
    build: (i) => scatterRows(i.base, i.i, i.rows),
  },
  scatterAlong: {
    inputs: { base: x, i: index, values: { shape: ['B', 'T'] } },
    build: (i) => scatterAlong(i.base, i.i, i.values),
  },
  iota: one(x, (a) => t.mul(a, t.cast(t.reshape(t.iota('T'), ['T', 1]), 'float32'))),
  'moving integers': two(integers, integers, (a, b) =>
    t.concat(
      [
        t.transpose(t.pad(a, { axis: 0, before: 1 })),
        t.slice(t.transpose(t.concat([b, b], 0)), { axis: 1, start: 'B-1' }),
      ],
      1,
    ),
  ),
  'moving booleans': two(flags, flags, (a, b) =>
    t.where(t.equal(a, b), t.broadcastTo(a, ['B', 'T', 3]), t.pad(b, { axis: 2, before: 1, after: 1 })),
  ),
  'gathering integers': two({ ...integers, shape: [3, 2] }, index, (a, i) =>
    t.sum(t.gather(a, i), { axes: [1] }),
  ),
  'softmax of a vector': one({ shape: ['T'] }, (a) => t.add(t.softmax(a), t.exp(t.logSoftmax(a)))),
  'stopGradient of integers': one(integers, t.stopGradient),
  attention: {
    inputs: { q: { shape: ['B', 'T', 2] }, k: { shape: ['B', 'T', 2] }, v: { shape: ['B', 'T', 2] } },
    build: ({ q, k, v }) => t.matmul(t.softmax(t.mul(t.matmul(q, k, { transposeB: true }), 0.7)), v),
  },
  'RMS norm': two(x, { shape: [4] }, (a, gain) =>
    t.mul(t.mul(a, t.rsqrt(t.add(t.mean(t.square(a), { axes: [-1], keepDims: true }), 1e-5))), gain),
  ),
}

/** A small deterministic generator (Park-Miller). Tests need spread, not quality. */
export function testNumbers(seed: number): () => number {
  let state = (seed * 48_271 + 11) % 2_147_483_647
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

/** Random feeds for the given sizes of the symbols. */
export function randomFeeds(
  inputs: Case['inputs'],
  sizes: Readonly<Record<string, number>>,
  seed: number,
): Feeds {
  const next = testNumbers(seed)
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype = 'float32', low = -2, high = 2 }]) => {
      const own = shape.map((dim) => (typeof dim === 'number' ? dim : sizes[dim]))
      const length = own.reduce((a, b) => a * b, 1)
      const values = Array.from({ length }, () => low + (high - low) * next())
      const data: HostData =
        dtype === 'float32'
          ? Float32Array.from(values)
          : dtype === 'int32'
            ? Int32Array.from(values, Math.floor)
            : Uint8Array.from(values, Math.floor)
      return [name, { data, shape: own }]
    }),
  )
}
