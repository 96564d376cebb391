import { expect, test } from 'vitest'
import { createParameters, uniformValues, zeroParameters } from '../../engine/nn/index.ts'
import type { ParameterSet } from '../../engine/nn/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { constant, evaluateTensors } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { noisyParameters, valueNetwork } from './value-network.ts'

const random = createRandom('value-network')

const asTensors = ({ shapes, views }: ParameterSet): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, constant(views[name], shape as number[])]),
  )

const valueOf = (tensor: Tensor): number[] => Array.from(evaluateTensors({ tensor }, {})['tensor'].data)

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found.length).toBe(expected.length)
  for (let i = 0; i < expected.length; i++) expect(found[i]).toBeCloseTo(expected[i], 5)
}

test.each([
  { dueling: false, layerNorm: false, atoms: 1, initialise: 'torch' as const },
  { dueling: true, layerNorm: false, atoms: 1, initialise: 'torch' as const },
  { dueling: true, layerNorm: true, atoms: 3, initialise: 'orthogonal' as const },
  { dueling: false, layerNorm: true, atoms: 3, initialise: 'orthogonal' as const },
])('plain loops and traced operators agree: %o', (options) => {
  const network = valueNetwork({ inputs: 3, hidden: [7, 6], actions: 4, ...options })
  const parameters = createParameters(network.specs, random)
  // Biases and scales away from 0 and 1, so that a forgotten one shows.
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.1 * random.normal()
  const x = uniformValues(random, 5 * 3, 1)
  const out = new Float32Array(5 * network.outputs)
  network.forward(parameters, x, 5, out)
  expectClose(out, valueOf(network.trace(asTensors(parameters), constant(x, [5, 3]))))
})

test('the advantages of a dueling network have mean 0', () => {
  const network = valueNetwork({ inputs: 2, hidden: [], actions: 3, dueling: true })
  const parameters = zeroParameters({ '0.weight': [4, 2], '0.bias': [4] })
  parameters.views['0.bias'].set([10, 1, 2, 6])
  const out = new Float32Array(3)
  network.forward(parameters, new Float32Array(2), 1, out)
  expectClose(out, [8, 9, 13])
})

test('a noisy weight is mean plus deviation times the product of two factors, in both forms', () => {
  const network = valueNetwork({ inputs: 3, hidden: [5], actions: 2, layerNorm: true })
  const noisy = noisyParameters(network.specs)
  expect(noisy.noiseSize).toBe(3 + 5 + 5 + 2)
  const parameters = createParameters(noisy.specs, random)
  expect(parameters.views['1.weight.sigma'][0]).toBeCloseTo(0.5 / Math.sqrt(5))
  const noise = new Float32Array(noisy.noiseSize)
  noisy.drawNoise(random, noise)
  const applied = createParameters(network.specs, random)
  noisy.apply(parameters, noise, applied)
  const [o, i] = [1, 2]
  expect(applied.views['0.weight'][o * 3 + i]).toBeCloseTo(
    parameters.views['0.weight'][o * 3 + i] + (0.5 / Math.sqrt(3)) * noise[i] * noise[3 + o],
    6,
  )
  const found = noisy.trace(asTensors(parameters), constant(noise))
  for (const name of Object.keys(network.specs)) expectClose(valueOf(found[name]), applied.views[name])
  noisy.apply(parameters, undefined, applied)
  for (const name of Object.keys(network.specs)) expect(applied.views[name]).toEqual(parameters.views[name])
})
