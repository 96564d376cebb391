import { expect, test } from 'vitest'
import { evaluateNodes } from './evaluate.ts'
import { forRuntime, simplify } from './simplify.ts'
import { add, compile, gradients, matmul, mean, relu, square, sub } from './index.ts'
import { topologicalOrder } from './node.ts'
import type { Tensor } from './node.ts'
import { input } from './operators/constant.ts'
import { randomFeeds } from './testing/cases.ts'

const inputs = {
  x: { shape: ['B', 3] },
  y: { shape: ['B', 2] },
  w0: { shape: [5, 3] },
  b0: { shape: [5] },
  w1: { shape: [5, 2] },
  b1: { shape: [1, 2] },
}
function build(given: Record<string, Tensor>): Record<string, Tensor> {
  const { x, y, w0, b0, w1, b1 } = given
  const h = relu(add(matmul(x, w0, { transposeB: true }), b0))
  const loss = mean(square(sub(add(b1, matmul(h, w1)), y)))
  const trained = ['w0', 'b0', 'w1', 'b1']
  const found = gradients(
    loss,
    trained.map((name) => given[name]),
  )
  return { loss, ...Object.fromEntries(trained.map((name, i) => [name, found[i]])) }
}
const rewritten = (given: Record<string, Tensor>): Record<string, Tensor> => {
  const built = build(given)
  const outputs = forRuntime(simplify(Object.values(built)))
  return Object.fromEntries(Object.keys(built).map((name, i) => [name, outputs[i]]))
}

test('a rewritten network has the same values and gradients', async () => {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape }]) => [name, input(name, shape)]),
  )
  const outputs = Object.values(rewritten(traced))
  const names = topologicalOrder(outputs).map(({ op }) => op.name)
  expect(names.filter((name) => name === 'affine').length).toBe(2)
  expect(names).toContain('step')
  expect(names).not.toContain('greater')
  // That of the loss; those over rows are products.
  expect(names.filter((name) => name === 'sum').length).toBe(1)
  const feeds = randomFeeds(inputs, { B: 7 }, 5)
  const wanted = evaluateNodes(Object.values(build(traced)), feeds)
  const program = await compile(inputs, rewritten)
  const found = await program.run(feeds)
  const again = evaluateNodes(outputs, feeds)
  Object.keys(found).forEach((name, k) => {
    expect(found[name].shape).toEqual(wanted[k].shape)
    wanted[k].data.forEach((value, i) => {
      expect(Math.abs(found[name].data[i] - value)).toBeLessThan(1e-5)
      expect(Math.abs(again[k].data[i] - value)).toBeLessThan(1e-12)
    })
  })
  await program.release()
})

test('the mask of relu is 0 at 0 and 1 at the smallest normal number', async () => {
  const program = await compile({ x: { shape: ['B'] } }, ({ x }) => {
    const [gradient] = forRuntime(simplify([mean(relu(x)), ...gradients(mean(relu(x)), [x])])).slice(1)
    return { gradient }
  })
  const x = { data: Float32Array.of(-Infinity, -1, 0, 1.2e-38, 1e38, Infinity, -0, 3), shape: [8] }
  expect([...(await program.run({ x }))['gradient'].data].map((value) => value * 8)).toEqual([
    0, 0, 0, 1, 1, 1, 0, 1,
  ])
  await program.release()
})
