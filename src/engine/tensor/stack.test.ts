import { expect, test } from 'vitest'
import { evaluateNodes } from './evaluate.ts'
import { gradients } from './gradients.ts'
import type { HostTensor, Shape, Tensor, Value } from './node.ts'
import {
  add,
  broadcastTo,
  cast,
  concat,
  constant,
  conv2d,
  div,
  equal,
  exp,
  greater,
  log,
  logSoftmax,
  matmul,
  max,
  maximum,
  mean,
  minimum,
  mul,
  neg,
  pad,
  reshape,
  slice,
  softmax,
  square,
  stopGradient,
  sub,
  sum,
  takeAlong,
  tanh,
  transpose,
  where,
} from './index.ts'
import { input } from './operators/constant.ts'
import { simplify } from './simplify.ts'
import { stackGraph } from './stack.ts'
import { sizeOf } from './shape.ts'

type Inputs = Record<string, { shape: Shape; values: HostTensor[] }>

const count = 3
const numbers = (shape: readonly number[], seed: number): HostTensor => ({
  data: Float32Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(1 + i * 1.7 + seed * 0.9)),
  shape,
})
const indices = (shape: readonly number[], below: number, seed: number): HostTensor => ({
  data: Int32Array.from({ length: sizeOf(shape) }, (_, i) => (i * 5 + seed) % below),
  shape,
})
const given = (make: (seed: number) => HostTensor, shape?: Shape) => {
  const values = Array.from({ length: count }, (_, i) => make(i))
  return { shape: shape ?? values[0].shape, values }
}

function joined(values: readonly HostTensor[]): HostTensor {
  const all = values.flatMap(({ data }) => Array.from(data))
  return {
    data: values[0].data instanceof Int32Array ? Int32Array.from(all) : Float32Array.from(all),
    shape: [values.length, ...values[0].shape],
  }
}

/** The outputs for each element by itself, and those of the stack, both as one list of numbers for each output. */
function both(inputs: Inputs, build: (inputs: Record<string, Tensor>) => Tensor[]) {
  const typeOf = ({ values }: Inputs[string]) => (values[0].data instanceof Int32Array ? 'int32' : 'float32')
  const nodes = Object.fromEntries(
    Object.entries(inputs).map(([name, each]) => [name, input(name, each.shape, typeOf(each))]),
  )
  const outputs = simplify(build(nodes))
  const stackedInputs = new Map(
    Object.entries(inputs).map(([name, each]) => [
      nodes[name],
      input(name, ['S', ...each.shape], typeOf(each)),
    ]),
  )
  const stacked = stackGraph(outputs, stackedInputs, 'S')!
  const asOutput = ({ data, shape }: Value): HostTensor => ({
    data: data instanceof Float64Array ? Float32Array.from(data) : data,
    shape,
  })
  const feeds = (at: number) =>
    Object.fromEntries(Object.entries(inputs).map(([name, { values }]) => [name, values[at]]))
  const alone = Array.from({ length: count }, (_, i) => evaluateNodes(outputs, feeds(i)).map(asOutput))
  const inOneGraph = evaluateNodes(
    stacked,
    Object.fromEntries(Object.entries(inputs).map(([name, { values }]) => [name, joined(values)])),
  )
  return {
    inOneGraph: inOneGraph.map(asOutput),
    alone: outputs.map((_, k) => joined(alone.map((each) => each[k]))),
  }
}

function expectSame(inputs: Inputs, build: (inputs: Record<string, Tensor>) => Tensor[]): void {
  const { alone, inOneGraph } = both(inputs, build)
  for (const [k, { data, shape }] of inOneGraph.entries()) {
    expect(shape).toEqual(alone[k].shape)
    expect(Array.from(data)).toEqual(Array.from(alone[k].data))
  }
}

test('a stack of a loss and its gradients equals the loss and the gradients of each element', () => {
  const inputs: Inputs = {
    x: given((seed) => numbers([5, 4], seed), ['B', 4]),
    a: given((seed) => numbers([3, 4], seed + 10)),
    b: given((seed) => numbers([3], seed + 20)),
    actions: given((seed) => indices([5], 3, seed), ['B']),
    clip: given((seed) => numbers([1], seed + 30)),
  }
  expectSame(inputs, ({ x, a, b, actions, clip }) => {
    const logits = logSoftmax(add(tanh(matmul(x, a, { transposeB: true })), b))
    const ratio = exp(takeAlong(logits, actions))
    const loss = sub(mean(minimum(ratio, maximum(ratio, sub(1, clip)))), mul(mean(square(logits)), 0.5))
    return [loss, ...gradients(loss, [a, b, x])]
  })
})

test('every operator with a rule', () => {
  const inputs: Inputs = {
    x: given((seed) => numbers([2, 3, 4], seed)),
    y: given((seed) => numbers([4], seed + 5)),
    i: given((seed) => indices([2, 3], 4, seed)),
    m: given((seed) => numbers([4, 2], seed + 7)),
  }
  expectSame(inputs, ({ x, y, i, m }) => {
    const positive = add(square(x), 1)
    const mask = greater(x, y)
    return [
      div(log(positive), add(y, 3)),
      where(mask, x, broadcastTo(y, [2, 3, 4])),
      cast(equal(i, 1), 'float32'),
      neg(stopGradient(x)),
      softmax(x),
      takeAlong(x, i),
      sum(x, { axes: [1] }),
      sum(x, { axes: [0, 2], keepDims: true }),
      mean(x),
      max(x, { axes: [2] }),
      reshape(x, [6, 4]),
      transpose(x, [2, 0, 1]),
      slice(x, { axis: 1, start: 1 }),
      pad(x, { axis: 2, before: 1 }),
      concat([x, broadcastTo(y, [2, 1, 4])], 1),
      concat([x, constant(new Float32Array(8), [2, 1, 4])], 1),
      matmul(x, m),
      matmul(constant(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), [2, 4]), m),
      constant(Float32Array.of(1, 2), [2]),
      ...gradients(sum(takeAlong(x, i)), [x]),
    ]
  })
})

test('a graph with an operator without a rule gives null', () => {
  const x = input('x', [1, 4, 4, 1])
  const w = input('w', [1, 1, 2, 2])
  const image = conv2d(reshape(x, [1, 1, 4, 4]), w)
  expect(stackGraph([image], new Map([[x, input('x', ['S', 1, 4, 4, 1])]]), 'S')).toBeNull()
})
