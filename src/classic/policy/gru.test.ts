import { expect, test } from 'vitest'
import { parameterFeeds, zeroParameters } from '../../engine/nn/index.ts'
import { compile, concat, gradients, square, sum } from '../../engine/tensor/index.ts'
import { gruLayer } from './gru.ts'

// PyTorch 2.13, torch.nn.GRU(2, 3) in float64: every array is sin(0.7 i + 0.3), row-major, the first states half of it.
// The second sequence begins anew before its third step.
const golden: Record<string, number[]> = {
  states: [
    -0.042268, -0.274838, -0.497112, -0.659394, -0.597785, -0.622938, -0.750401, -0.691667, 0.145279,
    0.270134, 0.116992, 0.211852, 0.104909, -0.310592, -0.526889, -0.492155, -0.480159, -0.36121,
  ],
  x: [
    -0.011915, -0.608723, 0.341174, 0.320303, 0.129977, 0.300641, -0.577483, -0.337552, 0.389666, -0.023583,
    0.067982, -0.030214,
  ],
  h: [-0.663243, -0.626293, -0.182335, 0.625768, -0.125988, -0.072528],
  'gru.weight_ih': [
    0.151869, 0.086393, 0.010872, -0.019307, 0.014897, 0.07977, -0.711664, -0.604871, -0.662245, -1.029078,
    -0.344567, -0.68524, -0.535438, -0.448269, -0.108486, 0.07549, -0.454046, -0.892262,
  ],
  'gru.weight_hh': [
    -0.033381, -0.060655, -0.090466, -0.034943, -0.029151, -0.026752, 0.013614, 0.023613, 0.041954, 0.083122,
    0.109084, 0.174367, -0.095052, -0.175632, -0.159645, -0.060785, -0.183059, -0.212893, 0.009643, 0.030426,
    0.073953, 0.167543, 0.139432, 0.126196, -0.030667, -0.129479, -0.313961,
  ],
  'gru.bias_ih': [
    0.194554, 0.045335, 0.084735, -0.757657, -1.483084, -1.059284, -0.738118, -0.279865, -0.17542,
  ],
  'gru.bias_hh': [
    0.194554, 0.045335, 0.084735, -0.757657, -1.483084, -1.059284, -0.50971, -0.235936, -0.050958,
  ],
}

const wave = (length: number, scale = 1): Float32Array =>
  Float32Array.from({ length }, (_, i) => scale * Math.sin(0.7 * i + 0.3))

const layer = gruLayer({ inputs: 2, size: 3, prefix: '' })
const shapes = Object.fromEntries(Object.entries(layer.specs).map(([name, { shape }]) => [name, shape]))
const parameters = zeroParameters(shapes)
for (const view of Object.values(parameters.views)) view.set(wave(view.length))

test('states and gradients of sequences equal those of PyTorch', async () => {
  const names = Object.keys(shapes)
  const program = await compile(
    {
      x: { shape: ['B', 3, 2] },
      h: { shape: ['B', 3] },
      keep: { shape: ['B', 3] },
      ...Object.fromEntries(names.map((name) => [name, { shape: shapes[name] }])),
    },
    ({ x, h, keep, ...weights }) => {
      const states = concat(layer.trace(weights, x, h, keep), 1)
      const found = gradients(sum(square(states)), [x, h, ...names.map((name) => weights[name])])
      return { states, ...Object.fromEntries(['x', 'h', ...names].map((name, i) => [name, found[i]])) }
    },
  )
  const results = await program.run({
    x: { data: wave(12), shape: [2, 3, 2] },
    h: { data: wave(6, 0.5), shape: [2, 3] },
    keep: { data: Float32Array.of(1, 1, 1, 1, 1, 0), shape: [2, 3] },
    ...parameterFeeds(parameters),
  })
  await program.release()
  for (const [name, expected] of Object.entries(golden)) {
    expect(results[name].data, name).toHaveLength(expected.length)
    results[name].data.forEach((value, i) => expect(value, name).toBeCloseTo(expected[i], 5))
  }
})

test('single steps compute the same states as the traced sequence', () => {
  const x = wave(12)
  const h = wave(6, 0.5)
  for (let t = 0; t < 3; t++) {
    if (t === 2) h.fill(0, 3)
    const frame = Float32Array.from([0, 1, 6, 7], (at) => x[2 * t + at])
    layer.step(parameters, frame, h, 2)
    h.forEach((value, i) => {
      const [row, k] = [Math.floor(i / 3), i % 3]
      expect(value).toBeCloseTo(golden['states'][row * 9 + t * 3 + k], 5)
    })
  }
})
