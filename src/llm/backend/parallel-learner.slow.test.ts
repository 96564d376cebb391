import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import { createLearner } from './learner.ts'
import { lossReport } from './loss-report.ts'
import { createParallelLearner } from './parallel-learner.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createThreads } from './threads.ts'
import { tinyConfig as config } from '../testing/tiny-model.ts'

const limits = { tokenBudget: 64, cacheBytes: 2 ** 22 }
const random = createRandom(5)
const sequences = Array.from({ length: 9 }, (): TrainingSequence => {
  const length = 4 + random.int(30)
  const each = (of: () => number) => Float32Array.from({ length }, of)
  return {
    tokens: Int32Array.from({ length }, () => random.int(64)),
    logprobs: each(() => -4 - Math.abs(random.normal())),
    advantages: each(() => random.normal()),
    weights: { rl: each(() => random.int(2)), ce: each(() => 0.1), kl: each(() => 0) },
  }
})
const loss = { name: 'ppo', clipHigh: 0.3 } as const

function learners(apart = false) {
  const parameters = initialiseParameters(config, 3)
  const one = createLearner({ config, parameters, ...limits })
  const threads = createThreads({ config, parameters, count: 2, apart, ...limits })
  const two = createParallelLearner({ config, parameters, threads, ...limits })
  const dispose = () => Promise.all([one.dispose(), two.dispose(), threads.dispose()])
  return { parameters, one, two, threads, dispose }
}

test('two threads give the loss, gradient and log-probabilities of one, also with new weights', async () => {
  const { parameters, one, two, threads, dispose } = learners()
  const both = async (): Promise<void> => {
    const expected = lossReport([await one.forwardBackward(sequences, loss)])
    const found = await two.forwardBackward(sequences, loss)
    for (const [key, value] of Object.entries(found)) expect(value).toBeCloseTo(Reflect.get(expected, key), 3)
    const error = Math.hypot(...two.gradient.map((value, i) => value - one.gradient[i]))
    expect(error / Math.hypot(...one.gradient)).toBeLessThan(1e-5)
    const tokens = sequences.map((sequence) => sequence.tokens)
    const logprobs = await one.forward(tokens)
    for (const [i, row] of (await two.forward(tokens)).entries())
      row.forEach((value, at) => expect(value).toBeCloseTo(logprobs[i][at], 4))
  }
  await both()
  // Gradients go on adding up.
  await both()
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] *= 1.5
  threads.weightsChanged()
  one.gradient.fill(0)
  two.gradient.fill(0)
  await both()
  await two.forwardBackward(sequences.slice(0, 1), loss)
  await dispose()
})

test('two runs end with the same bits', async () => {
  const gradients = []
  for (let run = 0; run < 2; run++) {
    const { two, dispose } = learners()
    await two.forwardBackward(sequences, loss)
    gradients.push(two.gradient)
    await dispose()
  }
  expect(gradients[0]).toEqual(gradients[1])
})

test('threads apart from this one give the same bits, for one sequence and for several', async () => {
  const found = []
  for (const apart of [false, true]) {
    const { two, dispose } = learners(apart)
    // The third call adds to the gradient of the second.
    for (const [call, some] of [sequences, sequences.slice(0, 1), sequences].entries()) {
      if (call < 2) two.gradient.fill(0)
      const report = await two.forwardBackward(some, loss)
      found.push([report, two.gradient.slice(), await two.forward(some.map(({ tokens }) => tokens))])
    }
    await dispose()
  }
  expect(found.slice(3)).toEqual(found.slice(0, 3))
})

test('a failed or aborted call leaves no gradient in any thread', async () => {
  const { two, dispose } = learners()
  await two.forwardBackward(sequences, loss)
  const whole = two.gradient.slice()
  two.gradient.fill(0)
  const controller = new AbortController()
  const aborted = two.forwardBackward(sequences, loss, { signal: controller.signal })
  controller.abort()
  await expect(aborted).rejects.toThrow(/abort/i)
  expect(Math.hypot(...two.gradient)).toBe(0)
  const bad = { ...sequences[1], tokens: sequences[1].tokens.map(() => 64) }
  await expect(two.forwardBackward([sequences[0], bad], loss)).rejects.toThrow('sequence 1')
  await two.forwardBackward(sequences, loss)
  expect(two.gradient).toEqual(whole)
  await dispose()
})
