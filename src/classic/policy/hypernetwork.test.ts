import { expect, test } from 'vitest'
import { createParameters, parameterFeeds } from '../../engine/nn/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { compile } from '../../engine/tensor/index.ts'
import { hyperNetwork } from './hypernetwork.ts'
import { mlpNetwork } from './mlp.ts'

const network = hyperNetwork({ inputs: 3, contexts: 2, hidden: [5], outputs: 2, over: [8] })
const parameters = createParameters(network.specs, createRandom('hyper', 1))
const random = createRandom('rows', 1)
const rows = 4
const x = Float32Array.from({ length: rows * 5 }, () => random.normal())

function plain(input: Float32Array): Float32Array {
  const out = new Float32Array(rows * 2)
  network.forward(parameters, input, rows, out)
  return out
}

test('direct and traced forms agree', async () => {
  const weights = Object.fromEntries(
    Object.entries(network.specs).map(([name, { shape }]) => [name, { shape }]),
  )
  const program = await compile({ ...weights, x: { shape: ['B', 5] } }, ({ x: input, ...all }) => ({
    y: network.trace(all, input),
  }))
  const { y } = await program.run({ ...parameterFeeds(parameters), x: { data: x, shape: [rows, 5] } })
  await program.release()
  plain(x).forEach((value, k) => expect(y.data[k]).toBeCloseTo(value, 5))
})

test('different contexts give different functions', () => {
  const other = x.map((value, k) => (k % 5 < 3 ? value : -value))
  const [before, after] = [plain(x), plain(other)]
  before.forEach((value, k) => expect(value).not.toBeCloseTo(after[k], 4))
  expect(network.inputs).toBe(5)
})

test('a zero context gives the usual initialisation', () => {
  const usual = mlpNetwork({ inputs: 3, hidden: [5], outputs: 2 })
  const made = parameters.views['hyper.1.bias']
  const from = createParameters(usual.specs, createRandom('hyper', 1).split('hyper.1.bias'))
  expect(made).toEqual(from.data)
})
