import { expect, test } from 'vitest'
import { createParameters, parameterFeeds, type ParameterSet } from '../../engine/nn/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { compile, type HostTensor } from '../../engine/tensor/index.ts'
import { type ArraySpace, box, discrete, multiDiscrete } from '../environment/index.ts'
import { type Encoder, overObservations } from './encoder.ts'
import { mlpNetwork } from './mlp.ts'
import type { Network } from './mlp.ts'

const random = createRandom('bodies')

function over(space: ArraySpace, encoder: Encoder): { network: Network; parameters: ParameterSet } {
  const head = (inputs: number): Network => mlpNetwork({ inputs, hidden: [8], outputs: 3 })
  const network = overObservations(space, head, { encoder })
  const parameters = createParameters(network.specs, random.split('parameters'))
  // Biases and scales differ from their initial values, so that a missing one changes the result.
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.1 * random.normal()
  return { network, parameters }
}

async function traced(network: Network, parameters: ParameterSet, x: HostTensor): Promise<HostTensor> {
  const program = await compile(
    {
      ...Object.fromEntries(Object.entries(parameters.shapes).map(([name, shape]) => [name, { shape }])),
      x: { shape: ['B', network.inputs] },
    },
    ({ x: rows, ...weights }) => ({ y: network.trace(weights, rows) }),
  )
  const { y } = await program.run({ ...parameterFeeds(parameters), x })
  await program.release()
  return y
}

const cases: Record<string, [ArraySpace, Encoder, number]> = {
  'cnn over a view': [box([3, 7, 5], 0, 1), { kind: 'cnn' }, 1],
  'cnn over bytes, other layers': [
    box([6, 8], 0, 255, 'uint8'),
    {
      kind: 'cnn',
      layers: [
        { channels: 4, kernel: 4, stride: 2 },
        { channels: 5, kernel: 2, padding: 1 },
      ],
    },
    255,
  ],
  'gru over a window': [box([4, 3], -1, 1), { kind: 'gru', window: 4, size: 5 }, 1],
  'transformer over a window': [box([5, 2], -1, 1), { kind: 'transformer', window: 5 }, 1],
  'transformer of two layers': [
    box([5, 2], -1, 1),
    { kind: 'transformer', window: 5, size: 12, heads: 3, layers: 2 },
    1,
  ],
  'transformer over choices': [multiDiscrete([3, 3, 3]), { kind: 'transformer', window: 3 }, 3],
}

test.each(Object.entries(cases))('%s: direct and traced forms agree', async (_, [space, encoder, scale]) => {
  const { network, parameters } = over(space, encoder)
  const rows = 6
  const x = Float32Array.from({ length: rows * network.inputs }, () => scale * random.next())
  if (space.type !== 'box') x.forEach((value, i) => (x[i] = Math.floor(value)))
  // The direct form reuses memory. An earlier call with other rows must not change the result.
  const plain = new Float32Array(rows * 3)
  network.forward(parameters, x.slice().reverse(), rows, plain)
  network.forward(parameters, x, rows, plain)
  const y = await traced(network, parameters, { data: x, shape: [rows, network.inputs] })
  y.data.forEach((value, i) => expect(value).toBeCloseTo(plain[i], 4))
  // Every observation of a window counts.
  const before = plain.slice()
  const { length } = x
  for (let i = 0; i < length; i += network.inputs)
    x[i] = space.type === 'box' ? x[i] + 0.3 * scale : (x[i] + 1) % 3
  network.forward(parameters, x, rows, plain)
  for (let r = 0; r < rows; r++) expect(plain[3 * r]).not.toBe(before[3 * r])
})

test('an encoder with memory needs a window', () => {
  const encoder = { kind: 'gru' } as unknown as Encoder
  expect(() => over(box([3], 0, 1), encoder)).toThrow(/how many observations/)
})

test('convolutions over observations that are not images are refused', () => {
  expect(() => over(discrete(4), { kind: 'cnn' })).toThrow(/pictures/)
  expect(() => over(box([3], 0, 1), { kind: 'cnn' })).toThrow(/pictures/)
  const layers = [{ channels: 2, kernel: 8 }]
  expect(() => over(box([1, 5, 5], 0, 1), { kind: 'cnn', layers })).toThrow(/pictures/)
})

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
