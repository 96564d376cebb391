import { expect, test } from 'vitest'
import { joinReports, readReport } from './loss-requests.ts'
import { gradientNorm } from './remote-model.ts'

const tokens = Int32Array.of(1, 2, 3)
const zeros = new Float32Array(3)
const row = {
  tokens,
  logprobs: Float32Array.of(0, -1, -2),
  advantages: Float32Array.of(0, 1, -1),
  weights: { rl: Float32Array.of(0, 1, 1), ce: zeros, kl: zeros },
}
const tensor = (data: number[]) => ({ data, dtype: 'float32', shape: [data.length] })

test('the report of a server that gives losses of tokens and no sums, as SkyRL’s', () => {
  const output = {
    loss_fn_outputs: [{ logprobs: tensor([-0.5, -2]), elementwise_loss: tensor([-1.5, 1]) }],
    metrics: {},
  }
  const report = readReport('host', output, [row], { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 })
  expect(report.loss).toBe(-0.5)
  expect(report.tokens).toBe(2)
  expect(report.meanRatio).toBeCloseTo((Math.exp(0.5) + 1) / 2, 6)
  expect(report.clipFraction).toBe(0.5)
  expect(report.maxRatio).toBeCloseTo(Math.exp(0.5), 6)
  expect(report.entropy).toBeNaN()
})

test('answers that violate the protocol are named', () => {
  const read = (output: Record<string, unknown>) => () => readReport('host', output, [row], { name: 'ppo' })
  expect(read({})).toThrow('no list "loss_fn_outputs"')
  expect(read({ loss_fn_outputs: [] })).toThrow('no output of datum 0')
  expect(read({ loss_fn_outputs: [{ logprobs: tensor([-1]) }] })).toThrow('each of the 2 targets')
  expect(read({ loss_fn_outputs: [{ logprobs: { data: ['x', 1] } }] })).toThrow('something else than numbers')
  expect(read({ loss_fn_outputs: [{ logprobs: tensor([-1, -1]) }] })).toThrow('no "loss:sum"')
})

test('reports of parts are merged', () => {
  const part = {
    loss: 1,
    tokens: 1,
    meanRatio: 1,
    clipFraction: 0,
    kl: 0,
    meanDifference: 0,
    maxRatio: 1,
    entropy: 2,
  }
  const joined = joinReports([part, { ...part, loss: 2, tokens: 3, meanRatio: 3, maxRatio: 5 }])
  expect(joined).toMatchObject({ loss: 3, tokens: 4, meanRatio: 2.5, maxRatio: 5, entropy: 2 })
})

test('the gradient norm is found under each of its names', () => {
  expect(gradientNorm({ grad_norm: 2 })).toBe(2)
  expect(gradientNorm({ 'skyrl.ai/learning_rate': 1, 'skyrl.ai/grad_norm': 3 })).toBe(3)
  expect(gradientNorm({ 'unclipped_grad_l2:mean': 4 })).toBe(4)
  expect(gradientNorm(null)).toBeUndefined()
})
