import { expect, test } from 'vitest'
import { evaluateNodes } from './evaluate.ts'
import {
  add,
  compile,
  evaluateTensors,
  gradients,
  matmul,
  mul,
  sin,
  softmax,
  stopGradient,
  sum,
} from './index.ts'
import { constant, input } from './operators/constant.ts'
import { cases, randomFeeds } from './testing/cases.ts'
import type { Feeds, Tensor } from './node.ts'

const step = 2 ** -9

/** d scalar / d feeds[name][at] by central differences, in double precision but for the feed itself. */
function derivative(scalar: Tensor, feeds: Feeds, name: string, at: number): number {
  const shifted = (shift: number) => {
    const data = Float32Array.from(feeds[name].data)
    data[at] += shift
    const [value] = evaluateNodes([scalar], { ...feeds, [name]: { ...feeds[name], data } })
    return [data[at], value.data[0]]
  }
  const [right, above] = shifted(step)
  const [left, below] = shifted(-step)
  return (above - below) / (right - left)
}

const differentiable = Object.entries(cases).filter(([name, { inputs, build }]) => {
  const traced = trace(inputs)
  return build(traced).dtype === 'float32' && name !== 'sign' && name !== 'cast from bool'
})

function trace(inputs: (typeof cases)[string]['inputs']): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype }]) => [name, input(name, shape, dtype)]),
  )
}

test.each(differentiable)(
  '%s: first and second gradients match finite differences',
  async (_, { inputs, build }) => {
    const names = Object.keys(inputs).filter((name) => (inputs[name].dtype ?? 'float32') === 'float32')
    // sin makes every case non-linear, so that second gradients are not trivially zero
    const objectives = (traced: Record<string, Tensor>) => {
      const scalar = sum(sin(build(traced)))
      const first = gradients(
        scalar,
        names.map((name) => traced[name]),
      )
      const squares = first.map((g) => sum(mul(g, mul(g, 0.5)))).reduce((a, b) => add(a, b))
      const second = gradients(
        squares,
        names.map((name) => traced[name]),
      )
      return { scalar, squares, first, second }
    }
    const feeds = randomFeeds(inputs, { B: 2, T: 3, P: 2 }, 5)
    const traced = trace(inputs)
    const { scalar, squares, first, second } = objectives(traced)
    const outputs = Object.fromEntries([...first, ...second].map((node, i) => [`g${i}`, node]))
    const reference = evaluateTensors(outputs, feeds)
    for (const [objective, from] of [
      [scalar, 0],
      [squares, names.length],
    ] as const)
      names.forEach((name, i) => {
        const gradient = reference[`g${from + i}`]
        expect(gradient.shape).toEqual(feeds[name].shape)
        const count = gradient.data.length
        for (const at of new Set([0, Math.floor(count / 2), count - 1])) {
          const expected = derivative(objective, feeds, name, at)
          expect(Math.abs(gradient.data[at] - expected)).toBeLessThan(5e-3 * (1 + Math.abs(expected)))
        }
      })
    // the same gradients through simplification and the runtime
    const program = await compile(inputs, (own) => {
      const made = objectives(own)
      return Object.fromEntries([...made.first, ...made.second].map((node, i) => [`g${i}`, node]))
    })
    const results = await program.run(feeds)
    for (const [name, { data, shape }] of Object.entries(reference)) {
      expect(results[name].shape).toEqual(shape)
      const largest = Math.max(1, ...[...data].map(Math.abs))
      for (let i = 0; i < data.length; i++)
        expect(Math.abs(results[name].data[i] - data[i])).toBeLessThan(2e-5 * largest)
    }
    await program.release()
  },
)

test('no gradient flows through stopGradient, nor to what the scalar does not depend on', () => {
  const x = input('x', [2])
  const other = input('other', [3])
  const [dx, dOther] = gradients(sum(mul(x, stopGradient(x))), [x, other])
  const { a, b } = evaluateTensors(
    { a: dx, b: dOther },
    { x: { data: Float32Array.of(2, 3), shape: [2] }, other: { data: new Float32Array(3), shape: [3] } },
  )
  expect([...a.data]).toEqual([2, 3])
  expect([...b.data]).toEqual([0, 0, 0])
})

test('gradients of a tensor that is not a scalar are refused', () => {
  const x = input('x', ['B', 2])
  expect(() => gradients(softmax(matmul(x, constant([1, 2, 3, 4], [2, 2]))), [x])).toThrow(
    /gradients.*\[B, 2\]/,
  )
})
