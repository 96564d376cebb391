import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createLocalBackend, loadLocalBackend } from '../../backend/local-backend.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { type LabelledAnswer, type PreferenceMethod, type PreferencePair, readSums } from './answers.ts'
import { answersOf, dpo, ipo, kto, orpo, simpo, generativeVerifier, verifierScores } from './methods.ts'
import { likedPairs, tinyBackend, tinyModel } from './testing/liked-tokens.ts'
import { learnPreferences, trainPreferences } from './train-preferences.ts'

type Numbers = Record<'prompt' | 'chosen' | 'rejected', number[]>
// Made by golden/make_step_golden.py.
const golden = JSON.parse(readFileSync(new URL('golden/step.json', import.meta.url), 'utf8')) as {
  pairs: Numbers[]
  methods: Record<
    string,
    { loss: number; gradientNorm: number; after: Record<'chosen' | 'rejected', number[]> }
  >
}
const goldenPairs = golden.pairs.map(({ prompt, chosen, rejected }): PreferencePair => ({
  prompt: Int32Array.from(prompt),
  chosen: Int32Array.from(chosen),
  rejected: Int32Array.from(rejected),
}))
const singles = (pairs: readonly PreferencePair[]): LabelledAnswer[] => [
  ...pairs.map(({ prompt, chosen }) => ({ prompt, tokens: chosen, desirable: true })),
  ...pairs.map(({ prompt, rejected }) => ({ prompt, tokens: rejected, desirable: false })),
]
const checkpoint = (name: string) =>
  loadLocalBackend(new URL(`../../golden/checkpoints/${name}`, import.meta.url).pathname, {
    threads: 1,
  })

const pairMethods = {
  dpo: dpo(),
  ipo: ipo(),
  orpo: orpo(),
  simpo: simpo(),
  desensitised: dpo({ lengthWeight: 0.5 }),
}

test.each([...Object.keys(pairMethods), 'kto'] as (keyof typeof pairMethods | 'kto')[])(
  'one step of %s gives the numbers of PyTorch',
  async (name) => {
    const backend = await checkpoint('llama3')
    const reference = await checkpoint('llama-bias')
    const learn = async <E>(method: PreferenceMethod<E>, examples: readonly E[]) => {
      const answers = method.answers(examples)
      const sums = await readSums(reference, answers.flat())
      const each = answers[0].length
      return learnPreferences(
        backend,
        method,
        examples.map((example, i) => ({
          example,
          answers: answers[i],
          reference: sums.subarray(i * each, (i + 1) * each),
        })),
      )
    }
    const { loss } = await (name === 'kto'
      ? learn(kto(), singles(goldenPairs))
      : learn(pairMethods[name], goldenPairs))
    const { gradientNorm } = await backend.optimStep({ learningRate: 1e-3, beta2: 0.999 })
    const expected = golden.methods[name]
    expect(Math.abs(loss - expected.loss)).toBeLessThan(1e-4)
    expect(gradientNorm / expected.gradientNorm).toBeCloseTo(1, 3)
    const after = await readSums(backend, goldenPairs.flatMap(answersOf))
    expected.after.chosen.forEach((sum, i) => expect(Math.abs(after[2 * i] - sum)).toBeLessThan(1e-4))
    expected.after.rejected.forEach((sum, i) => expect(Math.abs(after[2 * i + 1] - sum)).toBeLessThan(1e-4))
    await backend.dispose()
    await reference.dispose()
  },
)

test('the gradient through the model is that of finite differences', async () => {
  const backend = tinyBackend(3)
  const reference = tinyBackend(4)
  const method = dpo({ beta: 0.5, noise: 0.1 })
  const pairs = likedPairs(3, 1)
  const answers = method.answers(pairs)
  const sums = await readSums(reference, answers.flat())
  const batch = pairs.map((example, i) => ({
    example,
    answers: answers[i],
    reference: sums.subarray(2 * i, 2 * i + 2),
  }))
  const before = backend.parameters.data.slice()
  await learnPreferences(backend, method, batch)
  // One step of gradient descent shows the gradient: AdamW with beta 0 moves by rate * g / (|g| + epsilon).
  await backend.optimStep({ learningRate: 1, beta1: 0, beta2: 0, epsilon: 1e3 })
  const gradient = before.map((value, i) => (value - backend.parameters.data[i]) * 1e3)
  const random = createRandom('direction')
  for (let trial = 0; trial < 3; trial++) {
    const direction = gradient.map((g) => g + 0.02 * random.normal())
    const length = Math.hypot(...direction)
    const at = async (step: number): Promise<number> => {
      backend.parameters.data.set(before.map((value, i) => value + (step * direction[i]) / length))
      backend.weightsChanged()
      return (await learnPreferences(backend, method, batch)).loss
    }
    const derivative = ((await at(1e-2)) - (await at(-1e-2))) / 2e-2
    const exact = gradient.reduce((sum, g, i) => sum + (g * direction[i]) / length, 0)
    expect(Math.abs(derivative / exact - 1)).toBeLessThan(0.01)
  }
  await backend.dispose()
  await reference.dispose()
})

const train = likedPairs(160, 1)
const validation = likedPairs(64, 2)
const settings = { steps: 40, batch: 32, learningRate: 0.02, validateEvery: 10 }

test.each([dpo(), ipo(), orpo({ lambda: 2 }), simpo()])(
  '$name prefers on pairs that it was not shown',
  async (method) => {
    const backend = tinyBackend(1)
    const { steps, validations, best } = await trainPreferences({
      backend,
      method,
      examples: train,
      validation,
      ...settings,
    })
    expect(best.accuracy).toBeGreaterThan(0.85)
    expect(best.margin).toBeGreaterThan(validations[0].margin)
    expect(steps.at(-1)!.loss).toBeLessThan(steps[0].loss)
    expect(steps).toHaveLength(40)
    expect(validations.map(({ step }) => step)).toEqual([0, 10, 20, 30, 40])
    await backend.dispose()
  },
)

test('kto prefers too, from answers judged one by one', async () => {
  const backend = tinyBackend(1)
  const { best, steps } = await trainPreferences({
    backend,
    method: kto(),
    examples: singles(train),
    validation,
    ...settings,
    batch: 64,
  })
  expect(best.accuracy).toBeGreaterThan(0.85)
  expect(steps.at(-1)!.margin).toBeGreaterThan(0)
  await backend.dispose()
})

test('the best weights are kept, and the curve is the same again', async () => {
  const run = async () => {
    const backend = tinyBackend(2)
    // A learning rate so high that the model gets worse again.
    const schedule = await trainPreferences({
      backend,
      method: dpo(),
      examples: train,
      validation,
      steps: 10,
      batch: 8,
      learningRate: 0.15,
      final: 1,
      validateEvery: 1,
      seed: 3,
    })
    const sums = await readSums(backend, validation.flatMap(answersOf))
    await backend.dispose()
    return { schedule, sums }
  }
  const { schedule, sums } = await run()
  expect(schedule.best.accuracy).toBe(Math.max(...schedule.validations.map(({ accuracy }) => accuracy)))
  expect(schedule.best.accuracy).toBeGreaterThan(schedule.validations.at(-1)!.accuracy)
  const chosen = validation.reduce((sum, _, i) => sum + sums[2 * i], 0) / validation.length
  expect(chosen).toBeCloseTo(schedule.best.chosen!, 5)
  expect((await run()).schedule).toEqual(schedule)
})

test('a verifier scores answers that it did not see', async () => {
  const backend = tinyBackend(1)
  const asking = { yes: 5 }
  const options = { backend, method: generativeVerifier(asking), examples: train, validation, ...settings }
  const { best } = await trainPreferences(options)
  const answers = validation.flatMap(answersOf)
  const scores = await verifierScores(backend, answers, asking)
  const right = validation.filter((_, i) => scores[2 * i] > scores[2 * i + 1]).length
  expect(right / validation.length).toBe(best.accuracy)
  expect(best.accuracy).toBeGreaterThan(0.85)
  expect(Math.max(...scores)).toBeLessThanOrEqual(0)
  const { prompt, tokens } = answers[0]
  const [asked] = await verifierScores(backend, [answers[0]], { yes: 5, question: Int32Array.of(2, 3) })
  const [logprobs] = await backend.forward([Int32Array.of(...prompt, ...tokens, 2, 3, 5)])
  expect(asked).toBeCloseTo(logprobs.at(-1)!, 5)
  await backend.dispose()
})

test('mistakes are errors', async () => {
  const backend = createLocalBackend({ config: tinyModel, threads: 1 })
  const options = { backend, method: dpo(), examples: train, validation, ...settings }
  const empty = { ...train[0], rejected: Int32Array.of() }
  await expect(trainPreferences({ ...options, examples: [empty] })).rejects.toThrow(/cannot be trained on/)
  await expect(trainPreferences({ ...options, examples: [] })).rejects.toThrow(/examples 0/)
  await expect(trainPreferences({ ...options, validation: [] })).rejects.toThrow(/nothing to validate/)
  await expect(trainPreferences({ ...options, steps: 0 })).rejects.toThrow(/steps 0/)
  await expect(
    trainPreferences({ ...options, method: kto(), examples: singles(train).slice(0, 1) }),
  ).rejects.toThrow(/other prompts/)
  await expect(trainPreferences({ ...options, method: dpo({ beta: Number.NaN }) })).rejects.toThrow(/NaN/)
  await expect(
    trainPreferences({ ...options, signal: AbortSignal.abort(new Error('enough')) }),
  ).rejects.toThrow(/enough/)
  await backend.dispose()
})
