import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { evaluateTensors, constant } from '../tensor/index.ts'
import {
  adamWStep,
  clipScale,
  createAdam,
  createAdamMoments,
  createRAdam,
  createRmsProp,
  globalNorm,
  constantSchedule,
  cosineDecay,
  linearDecay,
  warmUp,
  warmUpStableDecay,
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
    expectClose(result, [...evaluateTensors({ traced }, {}).traced.data], 1e-4)
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

test('warm-up rises linearly and then stays at the peak', () => {
  const schedule = warmUp(4)
  expect([0, 1, 2, 3, 4, 100].map(schedule)).toEqual([0.25, 0.5, 0.75, 1, 1, 1])
  expect(warmUp(0)(0)).toBe(1)
  expect(constantSchedule(17)).toBe(1)
})

test('decays start at the peak, end at the final fraction and stay there', () => {
  expect([0, 1, 2, 6, 10, 50].map(linearDecay({ steps: 10, warmUpSteps: 2 }))).toEqual([0.5, 1, 1, 0.5, 0, 0])
  const cosine = cosineDecay({ steps: 12, warmUpSteps: 2, final: 0.1 })
  expect(cosine(2)).toBe(1)
  expect(cosine(7)).toBeCloseTo(0.55, 12)
  expect(cosine(12)).toBeCloseTo(0.1, 12)
  expect(cosine(13)).toBeCloseTo(0.1, 12)
  // The cosine is above the line before its middle and below it after.
  const line = linearDecay({ steps: 12, warmUpSteps: 2, final: 0.1 })
  expect(cosine(4)).toBeGreaterThan(line(4))
  expect(cosine(10)).toBeLessThan(line(10))
})

test('warmUpStableDecay has its three phases', () => {
  const schedule = warmUpStableDecay({ steps: 10, warmUpSteps: 2, decaySteps: 4 })
  expect([0, 1, 5, 6, 8, 10, 11].map(schedule)).toEqual([0.5, 1, 1, 1, 0.5, 0, 0])
})

test('schedules that do not fit their steps are refused', () => {
  expect(() => linearDecay({ steps: 2, warmUpSteps: 2 })).toThrow('does not fit')
  expect(() => warmUpStableDecay({ steps: 5, warmUpSteps: 2, decaySteps: 4 })).toThrow('does not fit')
})

test('RMSprop equals the formula of torch.optim.RMSprop', () => {
  const parameters = Float32Array.of(1, -2, 0.5)
  const optimiser = createRmsProp(3, { decay: 0.9, epsilon: 1e-5 })
  const expected = [1, -2, 0.5]
  const square = [0, 0, 0]
  for (let step = 1; step <= 5; step++) {
    const gradient = expected.map((_, i) => Math.sin(step * (i + 1)))
    optimiser.step(parameters, Float32Array.from(gradient), 0.01)
    gradient.forEach((g, i) => {
      square[i] = 0.9 * square[i] + 0.1 * g * g
      expected[i] -= (0.01 * g) / (Math.sqrt(square[i]) + 1e-5)
    })
  }
  expected.forEach((value, i) => expect(parameters[i]).toBeCloseTo(value, 5))
})

test('RMSprop clips a long gradient and skips one that is NaN', () => {
  const parameters = Float32Array.of(0)
  const optimiser = createRmsProp(1, { maxGradientNorm: 1 })
  expect(optimiser.step(parameters, Float32Array.of(Number.NaN), 0.1)).toBeNaN()
  expect(parameters[0]).toBe(0)
  expect(optimiser.step(parameters, Float32Array.of(50), 0.1)).toBeCloseTo(50)
  expect(optimiser.state().square[0]).toBeCloseTo(0.01, 4)
})

test.each([1, 3, 8, 101])('Adam of %d numbers agrees with a loop in double precision', (length) => {
  const random = createRandom('adam', length)
  const draw = (): Float32Array => Float32Array.from({ length }, () => random.normal())
  const options = { beta1: 0.8, beta2: 0.99, epsilon: 1e-5 }
  const adam = createAdam(length, { ...options, maxGradientNorm: 0.5 })
  const found = draw()
  const wanted = Float64Array.from(found)
  const [first, second] = [new Float64Array(length), new Float64Array(length)]
  for (let step = 1; step <= 30; step++) {
    const gradient = draw()
    const norm = globalNorm([gradient])
    const scale = clipScale(norm, 0.5)
    const { beta1, beta2, epsilon } = options
    for (let i = 0; i < length; i++) {
      const g = gradient[i] * scale
      first[i] = beta1 * first[i] + (1 - beta1) * g
      second[i] = beta2 * second[i] + (1 - beta2) * g * g
      const mean = first[i] / (1 - beta1 ** step)
      wanted[i] -= (0.01 * mean) / (Math.sqrt(second[i] / (1 - beta2 ** step)) + epsilon)
    }
    expect(adam.step(found, gradient, 0.01)).toBeCloseTo(norm, 10)
  }
  found.forEach((value, i) => expect(Math.abs(value - wanted[i])).toBeLessThan(1e-6))
  const state = adam.state()
  expect([state.first.length, state.second.length, state.steps]).toEqual([length, length, 30])
})

test('a restored Adam resumes exactly', () => {
  const adam = createAdam(5)
  const other = createAdam(5)
  const gradient = Float32Array.of(1, -2, 3, 0, 0.5)
  const parameters = new Float32Array(5)
  adam.step(parameters, gradient, 0.1)
  other.restore(structuredClone(adam.state()))
  const again = parameters.slice()
  adam.step(parameters, gradient, 0.1)
  other.step(again, gradient, 0.1)
  expect(again).toEqual(parameters)
})

test('a tiny gradient changes nothing', () => {
  const parameters = new Float32Array(2)
  createAdam(2).step(parameters, Float32Array.of(1e-20, 1), 0.1)
  expect(parameters[0]).toBe(0)
  expect(parameters[1]).toBeCloseTo(-0.1)
})

test("parameters in the optimiser's own memory change in the same way, and the target copy follows", () => {
  const random = createRandom('own', 1)
  const length = 7
  const [adam, other] = [createAdam(length), createAdam(length)]
  const parameters = new Float32Array(length)
  const target = new Float32Array(length)
  for (let step = 0; step < 10; step++) {
    for (let i = 0; i < length; i++) adam.own.gradient[i] = random.normal()
    adam.step(adam.own.parameters, adam.own.gradient, 0.1)
    other.step(parameters, adam.own.gradient.slice(), 0.1)
    expect(adam.own.parameters).toEqual(parameters)
    adam.follow(0.25)
    target.forEach((value, i) => (target[i] = value + 0.25 * (parameters[i] - value)))
    target.forEach((value, i) => expect(adam.own.target[i]).toBeCloseTo(value, 6))
  }
  adam.follow(1)
  expect(adam.own.target).toEqual(parameters)
})
