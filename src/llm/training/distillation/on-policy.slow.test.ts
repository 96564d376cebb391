import { expect, test } from 'vitest'
import { average } from '../../../statistics/statistics.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { answerSequence, sampleAnswers } from '../../rollout/sample-answers.ts'
import { plainSequence, rowOf } from '../preference/answers.ts'
import { end, likedPairs, liking, promptOf, tinyBackend } from '../preference/testing/liked-tokens.ts'
import { distil } from './on-policy.ts'

const prompts = Array.from({ length: 8 }, (_, i) => promptOf(i))
const speak = (model: ModelBackend, name: string) =>
  sampleAnswers(model, prompts, { name, groupSize: 8, maxTokens: 6, stop: [end], seed: 1 }).then((groups) =>
    groups.flat(),
  )
const likes = async (model: ModelBackend): Promise<number> =>
  average((await speak(model, 'test')).map(({ prompt, tokens }) => liking(prompt, tokens)))

/** Memorises the liked tokens. */
async function teacher() {
  const model = tinyBackend(9)
  const rows = likedPairs(64, 5).map(({ prompt, chosen }) => {
    const sequence = plainSequence(rowOf({ prompt, tokens: chosen }))
    const ce = Float32Array.from(sequence.tokens, (_, t) => (t < prompt.length ? 0 : 1 / 64 / chosen.length))
    return { ...sequence, weights: { ...sequence.weights, ce } }
  })
  for (let step = 0; step < 30; step++) {
    await model.forwardBackward(rows, { name: 'cross_entropy' })
    await model.optimStep({ learningRate: 0.02 })
  }
  return model
}

test('a student approaches its teacher on its own samples', async () => {
  const expert = await teacher()
  expect(await likes(expert)).toBeGreaterThan(0.65)
  for (const seed of [1, 2, 3]) {
    const student = tinyBackend(seed)
    const before = await likes(student)
    const steps = await distil({
      student,
      teacher: expert,
      steps: 50,
      learningRate: 0.03,
      collect: async (step) => (await speak(student, `distil/${step}`)).map(answerSequence),
    })
    expect(average(steps.slice(-5).map(({ reverseKl }) => reverseKl))).toBeLessThan(0.65 * steps[0].reverseKl)
    expect(await likes(student)).toBeGreaterThan(before + 0.08)
    await student.dispose()
  }
  await expert.dispose()
})

test('an equal teacher changes nothing, and empty samples are an error', async () => {
  const student = tinyBackend(1)
  const same = tinyBackend(1)
  const collect = async () => (await speak(student, 'once')).map(answerSequence)
  const options = { student, teacher: same, steps: 1, learningRate: 0.01, collect }
  const [step] = await distil(options)
  expect(Math.abs(step.reverseKl)).toBeLessThan(1e-5)
  expect(step.gradientNorm).toBeLessThan(1e-4)
  await expect(distil({ ...options, collect: () => Promise.resolve([]) })).rejects.toThrow(
    /no sample to learn from/,
  )
  await Promise.all([student.dispose(), same.dispose()])
})
