import { expect, test } from 'vitest'
import { evaluateNodes } from '../evaluate.ts'
import { gradients } from '../gradients.ts'
import * as t from '../index.ts'
import { input } from '../operators/constant.ts'
import { cases, randomFeeds, testNumbers } from '../testing/cases.ts'
import type { Case } from '../testing/cases.ts'
import type { Feeds, Tensor } from '../node.ts'
import { smallProgram } from './small-program.ts'

/** Products of more than two axes, and rare operators. A graph with one of these runs on ONNX Runtime. */
const without = Object.keys(cases).filter((name) =>
  /^(pow|integer arithmetic|matmul, a|matmul, both|matmul in|matmul, batch|matmul of|sum$|rms|rotate|gather|conv|scatterRows|attention)/.test(
    name,
  ),
)

const traced = (inputs: Case['inputs']): Record<string, Tensor> =>
  Object.fromEntries(Object.entries(inputs).map(([key, { shape, dtype }]) => [key, input(key, shape, dtype)]))

test.each(Object.entries(cases))('%s', (name, { inputs, build }) => {
  const program = smallProgram(inputs, (given) => ({ y: build(given) }))
  expect(program === null).toBe(without.includes(name))
  // The first sizes again at the end: plans share their memory.
  for (const [B, T, P] of [
    [1, 1, 1],
    [2, 3, 2],
    [33, 2, 1],
    [1, 1, 1],
  ]) {
    const feeds = randomFeeds(inputs, { B, T, P }, 7 + B)
    const [wanted] = evaluateNodes([build(traced(inputs))], feeds)
    const found = program?.run(feeds)['y']
    if (found === undefined) return
    expect(found.shape).toEqual(wanted.shape)
    expect(found.data.length).toBe(wanted.data.length)
    const errors = Array.from(wanted.data, (value, i) => Math.abs(found.data[i] - value))
    expect(Math.max(...errors)).toBeLessThan(2e-5)
  }
})

const accurate: [string, (x: Tensor) => Tensor, (x: number) => number, number, number][] = [
  ['exp', t.exp, Math.exp, -87, 88],
  ['log', t.log, Math.log, 1e-30, 1e30],
  ['log near 1', t.log, Math.log, 0.9, 1.1],
  ['tanh', t.tanh, Math.tanh, -12, 12],
  ['tanh near 0', t.tanh, Math.tanh, -1e-3, 1e-3],
  ['sigmoid', t.sigmoid, (x) => 1 / (1 + Math.exp(-x)), -20, 20],
]
test.each(accurate)('%s is accurate to a few units in the last place', (name, apply, exact, low, high) => {
  const count = 10_000
  const at = (i: number): number =>
    name === 'log' ? low * (high / low) ** (i / count) : low + ((high - low) * i) / count
  const x = Float32Array.from({ length: count }, (_, i) => at(i))
  const { y } = smallProgram({ x: { shape: ['B'] } }, (given) => ({ y: apply(given['x']) }))!.run({
    x: { data: x, shape: [count] },
  })
  const errors = Array.from(x, (value, i) => {
    const wanted = exact(value)
    return Math.abs(y.data[i] - wanted) / Math.max(Math.abs(wanted), 1e-30)
  })
  expect(Math.max(...errors)).toBeLessThan(6e-7)
})

test('NaN and infinity are preserved', () => {
  const x = Float32Array.of(NaN, Infinity, -Infinity, 0, -1)
  const program = smallProgram({ x: { shape: ['B'] } }, (given) => ({
    exp: t.exp(given['x']),
    log: t.log(given['x']),
    tanh: t.tanh(given['x']),
  }))!
  const { exp, log, tanh } = program.run({ x: { data: x, shape: [5] } })
  expect([...exp.data].slice(0, 4)).toEqual([NaN, Infinity, 0, 1])
  expect([...log.data]).toEqual([NaN, Infinity, NaN, -Infinity, NaN])
  expect([...tanh.data].slice(0, 1)).toEqual([NaN])
  expect(tanh.data[1]).toBeCloseTo(1, 6)
})

/** A network with softmax at its end: widths that fill no vector, rows on both sides of what is transposed. */
function network(widths: readonly number[]) {
  const inputs: Record<string, Case['inputs'][string]> = {
    x: { shape: ['B', widths[0]] },
    i: { shape: ['B'], dtype: 'int32', low: 0, high: widths.at(-1)! },
  }
  widths.slice(1).forEach((to, layer) => {
    inputs[`w${layer}`] = { shape: [to, widths[layer]], low: -0.5, high: 0.5 }
    inputs[`b${layer}`] = { shape: [to] }
  })
  const trained = Object.keys(inputs).filter((name) => /^[wb]/.test(name))
  const loss = (given: Record<string, Tensor>): Tensor => {
    let h = given['x']
    for (let layer = 0; layer < widths.length - 1; layer++) {
      const product = t.matmul(layer === 0 ? h : t.tanh(h), given[`w${layer}`], { transposeB: true })
      h = t.add(product, given[`b${layer}`])
    }
    return t.neg(t.mean(t.takeAlong(t.logSoftmax(h), given['i'])))
  }
  const build = (given: Record<string, Tensor>): Record<string, Tensor> => {
    const found = loss(given)
    const by = gradients(
      found,
      trained.map((name) => given[name]),
    )
    return { loss: found, ...Object.fromEntries(trained.map((name, k) => [name, by[k]])) }
  }
  return { inputs, trained, loss, build }
}

test.each([
  [[3, 5, 7, 2], 5],
  [[4, 64, 64, 2], 70],
  [[9, 30, 1, 6], 33],
])('a network of widths %j and its gradient, %d rows', (widths, B) => {
  const { inputs, trained, loss, build } = network(widths)
  const program = smallProgram(inputs, build)!
  const feeds = randomFeeds(inputs, { B }, 3)
  const found = program.run(feeds)
  const given = traced(inputs)
  const wanted = build(given)
  const reference = evaluateNodes(Object.values(wanted), feeds)
  Object.keys(wanted).forEach((name, k) => {
    const errors = Array.from(reference[k].data, (value, i) => Math.abs(found[name].data[i] - value))
    expect(Math.max(...errors)).toBeLessThan(1e-5)
  })
  // Finite differences of the reference, a few of them.
  const next = testNumbers(B)
  const at = (name: string, index: number, shift: number): number => {
    const data = Float32Array.from(feeds[name].data)
    data[index] += shift
    const moved: Feeds = { ...feeds, [name]: { ...feeds[name], data } }
    return evaluateNodes([loss(given)], moved)[0].data[0]
  }
  for (const name of trained) {
    const index = Math.floor(next() * feeds[name].data.length)
    const gradient = (at(name, index, 1 / 256) - at(name, index, -1 / 256)) * 128
    expect(Math.abs(found[name].data[index] - gradient)).toBeLessThan(1e-4)
  }
  const into = { w0: { ...found['w0'], data: new Float32Array(found['w0'].data.length) } }
  const again = program.run(feeds, into)
  expect(into.w0.data).toEqual(found['w0'].data)
  expect(again['b0']).toEqual(found['b0'])
  expect(again['w0']).toBeUndefined()
})

test('a sum of more arrays than the parameter limit is split', () => {
  const names = Array.from({ length: 1500 }, (_, i) => `x${i}`)
  const specs = Object.fromEntries(names.map((name) => [name, { shape: [2] }]))
  const program = smallProgram(specs, (given) => ({
    y: names.map((name) => given[name]).reduce((sum, x) => t.add(sum, x)),
  }))
  const feeds = Object.fromEntries(
    names.map((name, i) => [name, { data: Float32Array.of(i, 1), shape: [2] }]),
  )
  expect([...program!.run(feeds)['y'].data]).toEqual([1_124_250, 1500])
})

test('large parameters run on ONNX Runtime', async () => {
  const inputs = { w: { shape: [129, 128] } }
  const build = ({ w }: Record<string, Tensor>): Record<string, Tensor> => ({ y: t.sum(w) })
  expect(smallProgram(inputs, build)).toBeNull()
  const w = { data: new Float32Array(129 * 128).fill(1), shape: [129, 128] }
  expect(smallProgram(inputs, build, { largest: Infinity })!.run({ w })['y'].data[0]).toBe(129 * 128)
  const program = await t.compileForSize(inputs, build)
  const total = { data: new Float32Array(1), shape: [] }
  expect(await program.run({ w }, { y: total })).toEqual({})
  expect(total.data[0]).toBe(129 * 128)
  await program.release()
})

test('an error names incompatible shapes', () => {
  const program = smallProgram({ x: { shape: ['B', 2] } }, ({ x }) => ({ y: t.exp(x) }))!
  expect(() => program.run({ x: { data: new Float32Array(3), shape: [3] } })).toThrow(/the input x is/)
})

test('equal graphs share one compiled module, and each has its own memory', () => {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Module: new (bytes: Uint8Array) => object }
  }
  const { Module } = WebAssembly
  let compiled = 0
  WebAssembly.Module = class extends Module {
    constructor(bytes: Uint8Array) {
      super(bytes)
      compiled++
    }
  }
  const feeds = (value: number): Feeds => ({ x: { data: Float32Array.of(value, value), shape: [2] } })
  const make = (factor: number) =>
    smallProgram({ x: { shape: ['B'] } }, ({ x }) => ({ y: t.mul(t.tanh(x), t.add(t.exp(x), factor)) }))!
  try {
    const [first, second, other] = [make(0.625), make(0.625), make(0.75)]
    const before = first.run(feeds(1))['y']
    expect(compiled).toBe(1)
    expect(second.run(feeds(2))['y'].data[0]).toBeCloseTo(Math.tanh(2) * (Math.exp(2) + 0.625), 5)
    expect(compiled).toBe(1)
    expect(first.run(feeds(1))['y']).toEqual(before)
    other.run(feeds(1))
    expect(compiled).toBe(2)
  } finally {
    WebAssembly.Module = Module
  }
})
