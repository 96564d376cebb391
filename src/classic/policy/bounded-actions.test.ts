import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { box } from '../environment/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import { compile, concat, gradients, mul, sum } from '../../engine/tensor/index.ts'
import type { HostTensor } from '../../engine/tensor/index.ts'
import { boundedActions, squashedGaussian } from './bounded-actions.ts'

// Made by golden/squashed-gaussian.py by the formulas of PyTorch, in float64.
const golden = JSON.parse(
  readFileSync(new URL('golden/squashed-gaussian.json', import.meta.url), 'utf8'),
) as Record<string, number[]>

const k = 3
const rows = golden['means'].length / k
const space = box([k], golden['low'], golden['high'])
const distribution = squashedGaussian(space)

const host = (name: string, columns?: number): HostTensor => ({
  data: Float32Array.from(golden[name]),
  shape: columns === undefined ? [rows] : [rows, columns],
})

function expectClose(actual: ArrayLike<number>, name: string, digits = 4): void {
  expect(actual).toHaveLength(golden[name].length)
  golden[name].forEach((value, i) => expect(actual[i], `${name} ${i}`).toBeCloseTo(value, digits))
}

test("samples, log-probabilities, their gradients and the entropy equal those of PyTorch's formulas", async () => {
  const program = await compile(
    {
      means: { shape: ['B', k] },
      logs: { shape: ['B', k] },
      noise: { shape: ['B', k] },
      given: { shape: ['B', k] },
      weights: { shape: ['B'] },
    },
    ({ means, logs, noise, given, weights }) => {
      const parameters = concat([means, logs], 1)
      const { actions, logprobs } = distribution.sample(parameters, noise)
      const [gradMeans, gradLogs] = gradients(sum(mul(logprobs, weights)), [means, logs])
      return {
        actions,
        sampledLogprobs: logprobs,
        logprobs: distribution.logprob(parameters, given),
        entropy: distribution.entropy(parameters),
        gradMeans,
        gradLogs,
      }
    },
  )
  const found = await program.run({
    means: host('means', k),
    logs: host('logs', k),
    noise: host('noise', k),
    given: host('actions', k),
    weights: { data: Float32Array.from({ length: rows }, (_, i) => i + 1), shape: [rows] },
  })
  await program.release()
  for (const [name, { data }] of Object.entries(found)) expectClose(data, name, name === 'logprobs' ? 3 : 4)
})

test('samples agree with the traced form, stay within the bounds, and equal the mean without randomness', () => {
  const parameters = new Float32Array(rows * 2 * k)
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < k; i++) {
      parameters[r * 2 * k + i] = golden['means'][r * k + i]
      parameters[r * 2 * k + k + i] = golden['logs'][r * k + i]
    }
  }
  const actions = new Float32Array(rows * k)
  let next = 0
  const random = { ...createRandom('draws', 1), normal: () => golden['noise'][next++] }
  const logprobs = Array.from({ length: rows }, (_, r) => distribution.draw(parameters, r, actions, random))
  expectClose(actions, 'actions')
  expectClose(logprobs, 'sampledLogprobs')
  for (let r = 0; r < rows; r++) distribution.draw(parameters, r, actions, undefined)
  for (let i = 0; i < rows * k; i++) {
    const [low, high] = [space.low[i % k], space.high[i % k]]
    expect(actions[i]).toBeCloseTo(low + ((high - low) * (1 + Math.tanh(golden['means'][i]))) / 2, 5)
  }
})

test('extreme means and deviations give finite samples within the bounds', () => {
  const random = createRandom('far', 1)
  const actions = new Float32Array(k)
  for (const mean of [-1e3, -20, 0, 20, 1e3]) {
    for (const log of [-50, 0, 50]) {
      const parameters = Float32Array.of(mean, mean, mean, log, log, log)
      expect(distribution.draw(parameters, 0, actions, random)).not.toBeNaN()
      for (let i = 0; i < k; i++) {
        expect(actions[i]).toBeGreaterThanOrEqual(space.low[i])
        expect(actions[i]).toBeLessThanOrEqual(space.high[i])
      }
    }
  }
})

test('a space without bounds is refused', () => {
  expect(() => squashedGaussian(box([2], [-1, -Infinity], 1))).toThrowError(
    expect.objectContaining({ code: 'unbounded-action' }) as Error,
  )
})

test('conversion to units of the environment and back is the identity', () => {
  const definition = { name: 'w', action: space } as unknown as Parameters<typeof boundedActions>[0]
  const bounds = boundedActions(definition)
  const unit = Float32Array.of(-1, 0, 1, 0.5, -0.5, 0.25)
  const actions = new Float32Array(6)
  const back = new Float32Array(6)
  bounds.toDefinition(unit, 2, actions)
  bounds.toUnit(actions, 2, back)
  expect(actions[0]).toBe(-2)
  expect(actions[1]).toBe(1)
  expect(actions[2]).toBe(1)
  unit.forEach((value, i) => expect(back[i]).toBeCloseTo(value, 6))
})
