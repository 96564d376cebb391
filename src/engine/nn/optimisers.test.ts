import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { evaluate, constant } from '../tensor/index.ts'
import {
  adamWStep,
  clipScale,
  createAdam,
  createAdamMoments,
  createRAdam,
  createRmsProp,
  globalNorm,
} from './optimisers.ts'
import { createMuon, createOrthogonaliser, newtonSchulz } from './muon.ts'

const muon = createMuon()
const orthogonaliser = createOrthogonaliser()
afterAll(async () => {
  await muon.release()
  await orthogonaliser.release()
})

function expectClose(given: ArrayLike<number>, expected: readonly number[], tolerance: number): void {
  expect(given.length).toBe(expected.length)
  expected.forEach((value, i) =>
    expect(Math.abs(given[i] - value), `at ${i}: ${given[i]}`).toBeLessThan(tolerance),
  )
}

test('AdamW equals torch.optim.AdamW over five steps', () => {
  // torch 2.13: AdamW([p], lr=0.01, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1)
  const gradients = [
    [0.1, -0.2, 0.3, 0],
    [1, 2, -3, 0.5],
    [-0.5, 0.25, 0.125, 1e-4],
    [0, 0, 0, 0],
    [10, -10, 0.01, -1],
  ]
  const golden = [
    [0.9890001, -1.988, 0.4895, 2.997],
    [0.979978, -1.9927187, 0.4957171, 2.9865971],
    [0.9762645, -1.9966836, 0.5001615, 2.9778566],
    [0.9730381, -1.9995909, 0.5037276, 2.9701426],
    [0.9665371, -1.9931426, 0.5066593, 2.9702322],
  ]
  const options = { learningRate: 0.01, beta1: 0.9, beta2: 0.98, epsilon: 1e-6, weightDecay: 0.1 }
  const parameter = Float32Array.of(1, -2, 0.5, 3)
  const moments = createAdamMoments(4)
  const scaled = { parameter: parameter.slice(), moments: createAdamMoments(4) }
  gradients.forEach((gradient, i) => {
    adamWStep(parameter, Float32Array.from(gradient), moments, i + 1, options)
    expectClose(parameter, golden[i], 1e-6)
    const doubled = Float32Array.from(gradient, (g) => 2 * g)
    adamWStep(scaled.parameter, doubled, scaled.moments, i + 1, { ...options, gradientScale: 0.5 })
  })
  expect(scaled.parameter).toEqual(parameter)
})

test('AdamW updates each number independently of the others', () => {
  const random = createRandom('adamw')
  const draw = (): Float32Array => Float32Array.from({ length: 9001 }, () => random.normal())
  const [parameter, gradient] = [draw(), draw()]
  const before = parameter.slice()
  const options = { learningRate: 0.1, weightDecay: 0.2 }
  adamWStep(parameter, gradient, createAdamMoments(9001), 1, options)
  for (const at of [0, 1, 4095, 4096, 8191, 8192, 8999, 9000]) {
    const alone = before.slice(at, at + 1)
    adamWStep(alone, gradient.slice(at, at + 1), createAdamMoments(1), 1, options)
    expect(parameter[at]).toBe(alone[0])
  }
})

test.each([
  { rows: 2, columns: 3, golden: [0.992943, -1.971488, 0.486672, 2.891928, 0.259906, -0.997971] },
  { rows: 3, columns: 2, golden: [0.963315, -1.974762, 0.508516, 2.913386, 0.265146, -1.003247] },
])('Muon follows the formula in NumPy for $rows x $columns', async ({ rows, columns, golden }) => {
  // m = 0.95 m + g; u = newton_schulz(g + 0.95 m); p = p (1 - lr wd) - lr 0.2 sqrt(max(shape)) u; lr 0.1, wd 0.1
  const parameter = Float32Array.of(1, -2, 0.5, 3, 0.25, -1)
  // A second matrix of the same shape shares the stack and must not change the first.
  const other = { rows, columns, parameter: new Float32Array(6), momentum: new Float32Array(6) }
  const momentum = new Float32Array(6)
  for (const values of [
    [0.1, -0.2, 0.3, 0.4, -0.5, 0.6],
    [1, 2, -3, 0.5, 0.25, -0.125],
  ]) {
    const gradient = Float32Array.from(values)
    await muon.step(
      [
        { ...other, gradient: Float32Array.of(5, 4, 3, 2, 1, 0) },
        { rows, columns, parameter, gradient, momentum },
      ],
      { learningRate: 0.1, weightDecay: 0.1 },
    )
  }
  expectClose(parameter, golden, 2e-5)
})

test('orthogonalised matrices have singular values near one and equal the reference', async () => {
  const random = createRandom('orthogonalise')
  for (const [rows, columns] of [
    [16, 16],
    [8, 24],
    [24, 8],
  ]) {
    const stack = Float32Array.from({ length: 3 * rows * columns }, () => random.normal())
    const result = await orthogonaliser.run(stack, rows, columns)
    const traced = newtonSchulz(constant(stack, [3, rows, columns]), rows, columns)
    expectClose(result, [...evaluate({ traced }, {}).traced.data], 1e-4)
    // The squared Frobenius norm is the sum of the squared singular values, min(rows, columns) of them.
    for (let n = 0; n < 3; n++) {
      const part = result.subarray(n * rows * columns, (n + 1) * rows * columns)
      const meanSquare = globalNorm([part]) ** 2 / Math.min(rows, columns)
      expect(meanSquare).toBeGreaterThan(0.5)
      expect(meanSquare).toBeLessThan(1.5)
    }
  }
})

test('clipping scales the global norm to its limit and does not change smaller ones', () => {
  const gradients = [Float32Array.of(3, 0), Float32Array.of(4)]
  expect(globalNorm(gradients)).toBe(5)
  expect(clipScale(5, 1)).toBeCloseTo(0.2, 6)
  expect(clipScale(0.5, 1)).toBe(1)
  expect(clipScale(0, 1)).toBe(1)
  expect(clipScale(NaN, 1)).toBe(0)
  expect(clipScale(Infinity, 1)).toBe(0)
})

/** Five numbers that an optimiser updates. `step` takes one step; `state` returns its complete state. */
type Moved = () => { step: (gradient: Float32Array) => unknown; state: () => unknown }

const length = 5
const start = Float32Array.of(1, -2, 3, -4, 5)
const whole =
  (
    make: (length: number) => ReturnType<typeof createAdam | typeof createRAdam | typeof createRmsProp>,
  ): Moved =>
  () => {
    const optimiser = make(length)
    const parameters = start.slice()
    return {
      step: (gradient) => optimiser.step(parameters, gradient, 0.1),
      state: () => structuredClone([parameters, optimiser.state()]),
    }
  }
const inOwnMemory: Moved = () => {
  const adam = createAdam(length)
  const { parameters, gradient } = adam.own
  parameters.set(start)
  return {
    step(given) {
      gradient.set(given)
      adam.step(parameters, gradient, 0.1)
    },
    state: () => structuredClone([parameters.slice(), adam.state()]),
  }
}
const adamW =
  (scaleOf: (norm: number) => number): Moved =>
  () => {
    const parameter = start.slice()
    const moments = createAdamMoments(length)
    let steps = 0
    return {
      step(gradient) {
        const gradientScale = scaleOf(globalNorm([gradient]))
        const options = { learningRate: 0.1, weightDecay: 0.1, gradientScale }
        if (adamWStep(parameter, gradient, moments, steps + 1, options)) steps++
      },
      state: () => structuredClone([parameter, moments, steps]),
    }
  }
const byMuon =
  (scaleOf: (norm: number) => number): Moved =>
  () => {
    const of = (): { rows: number; columns: number; parameter: Float32Array; momentum: Float32Array } => ({
      rows: 1,
      columns: length,
      parameter: start.slice(),
      momentum: new Float32Array(length),
    })
    const [sound, other] = [of(), of()]
    const clean = Float32Array.of(1, 1, 1, 1, 1)
    return {
      step: (gradient) =>
        muon.step(
          [
            { ...sound, gradient: clean },
            { ...other, gradient },
          ],
          { learningRate: 0.1, weightDecay: 0.1, gradientScale: scaleOf(globalNorm([clean, gradient])) },
        ),
      state: () => structuredClone([sound, other]),
    }
  }
const unclipped = (): number => 1
const clipped = (norm: number): number => clipScale(norm, 0.5)

const optimisers: Record<string, Moved> = {
  createAdam: whole((n) => createAdam(n)),
  'createAdam, clipped': whole((n) => createAdam(n, { maxGradientNorm: 0.5 })),
  'createAdam in its own memory': inOwnMemory,
  createRAdam: whole((n) => createRAdam(n)),
  'createRAdam, clipped': whole((n) => createRAdam(n, { maxGradientNorm: 0.5 })),
  createRmsProp: whole((n) => createRmsProp(n)),
  'createRmsProp, clipped': whole((n) => createRmsProp(n, { maxGradientNorm: 0.5 })),
  adamWStep: adamW(unclipped),
  'adamWStep, clipped': adamW(clipped),
  createMuon: byMuon(unclipped),
  'createMuon, clipped': byMuon(clipped),
}

test.each(Object.entries(optimisers))(
  'a gradient that is not finite changes neither weights nor moments: %s',
  async (_, make) => {
    const [spoilt, clean] = [make(), make()]
    for (const bad of [Infinity, -Infinity, NaN])
      for (let at = 0; at < length; at++) {
        const gradient = Float32Array.of(0.3, -0.2, 0.1, 0.4, -0.5)
        await clean.step(gradient)
        await spoilt.step(gradient)
        const before = spoilt.state()
        expect(before).toEqual(clean.state())
        await spoilt.step(gradient.with(at, bad))
        expect(spoilt.state()).toEqual(before)
      }
  },
)

test('one entry that is not finite skips the whole gradient', () => {
  const parts = [Float32Array.of(1, 2), Float32Array.of(3, Infinity)]
  const gradientScale = clipScale(globalNorm(parts), 1)
  const parameter = Float32Array.of(1, 1)
  const moments = createAdamMoments(2)
  adamWStep(parameter, Float32Array.of(1, -1), moments, 1, { learningRate: 0.1 })
  const before = structuredClone([parameter, moments])
  expect(adamWStep(parameter, parts[0], moments, 2, { learningRate: 0.1, gradientScale })).toBe(false)
  expect([parameter, moments]).toEqual(before)
})
