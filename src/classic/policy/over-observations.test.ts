import { expect, test } from 'vitest'
import { discrete, multiDiscrete } from '../environment/index.ts'
import { createParameters, parameterFeeds } from '../../engine/nn/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { compile } from '../../engine/tensor/index.ts'
import { mlpNetwork } from './mlp.ts'
import { overObservations } from './over-observations.ts'

test.each([
  ['discrete', discrete(5, 2), [2, 6, 4]],
  ['multi-discrete', multiDiscrete([3, 2]), [0, 1, 2, 0, 1, 1]],
])('%s observations enter one-hot, plain and traced alike', async (_, space, rows) => {
  let width = 0
  const network = overObservations(space, (inputs) => {
    width = inputs
    return mlpNetwork({ inputs, hidden: [8], outputs: 2 })
  })
  expect(width).toBe(5)
  const parameters = createParameters(network.specs, createRandom(1))
  const x = Float32Array.from(rows)
  const count = rows.length / network.inputs
  const plain = new Float32Array(2 * count)
  network.forward(parameters, x, count, plain)
  const inputs = Object.fromEntries(
    Object.entries(network.specs).map(([name, { shape }]) => [name, { shape }]),
  )
  const program = await compile(
    { ...inputs, x: { shape: ['B', network.inputs] } },
    ({ x: rows_, ...weights }) => ({
      y: network.trace(weights, rows_),
    }),
  )
  const { y } = await program.run({
    ...parameterFeeds(parameters),
    x: { data: x, shape: [count, network.inputs] },
  })
  y.data.forEach((value, i) => expect(value).toBeCloseTo(plain[i], 5))
  // Rows that differ by one choice only do not lie on a line, as raw numbers would make them.
  expect(plain[0]).not.toBeCloseTo(plain[2], 4)
  await program.release()
})
