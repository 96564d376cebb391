import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { LossSettings } from '../model-backend.ts'
import { forwardBackward } from './custom-loss.ts'
import type { CustomLoss } from './custom-loss.ts'
import { parseConfig } from '../checkpoint/config-json.ts'
import { createLearner } from './learner.ts'
import { createLocalBackend } from './local-backend.ts'
import { initialiseParameters, parameterLayout } from '../model/parameters.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

interface Model {
  num_key_value_heads: number
  tie_word_embeddings: boolean
  tokens: number[][]
  weights: Record<string, { data: number[] }>
}

interface Golden {
  coefficient: number
  clipLow: number
  clipHigh: number
  cases: (Pick<Model, 'num_key_value_heads' | 'tie_word_embeddings'> & {
    name: 'ppo' | 'cross_entropy'
    loss: number
    gradientNorms: Record<string, number>
    projections: Record<string, number>
  })[]
}

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../golden/${file}`, import.meta.url), 'utf8'))
const models = read('llama.json') as { config: Record<string, number>; cases: Model[] }
// Made with torch; golden/make_entropy.py says how.
const golden = read('entropy.json') as Golden

/** One value per token; index 0 belongs to no prediction. */
const wave = (length: number, step: number, of: (value: number) => number) =>
  Float32Array.from({ length }, (_, t) => (t === 0 ? 0 : of(Math.sin(step * t))))

test.each(golden.cases)(
  'loss and gradients of $name with a bonus for entropy are those of torch, keys of $num_key_value_heads heads',
  async ({ name, num_key_value_heads, tie_word_embeddings, ...expected }) => {
    const model = models.cases.find((each) => each.num_key_value_heads === num_key_value_heads)!
    const config = parseConfig({ ...models.config, num_key_value_heads, tie_word_embeddings })
    const layout = parameterLayout(config)
    const data = new Float32Array(layout.size)
    for (const entry of layout.entries) data.set(model.weights[entry.name].data, entry.offset)
    const sequences = model.tokens.map((tokens, row): TrainingSequence => {
      const { length } = tokens
      const rl = wave(length, 1.3 + row, Math.abs)
      return {
        tokens: Int32Array.from(tokens),
        logprobs: wave(length, 2.1, (value) => -3.2 + 0.3 * value),
        advantages: wave(length, 0.9, (value) => value),
        weights: { rl, ce: wave(length, 0.7 + row, Math.abs), kl: new Float32Array(length) },
      }
    })
    const { coefficient: entropyCoefficient, clipLow, clipHigh } = golden
    for (const options of [{}, { recompute: true }, { packing: 20 }]) {
      const learner = createLearner({ config, parameters: { layout, data }, tokenBudget: 100, ...options })
      const sums = await learner.forwardBackward(sequences, { name, clipLow, clipHigh, entropyCoefficient })
      expect(Math.abs(sums.loss - expected.loss)).toBeLessThan(1e-4)
      expect(sums.entropyBonus).toBeGreaterThan(1)
      for (const entry of layout.entries) {
        const gradient = learner.gradient.subarray(entry.offset, entry.offset + entry.size)
        const norm = expected.gradientNorms[entry.name]
        expect(Math.abs(Math.hypot(...gradient) - norm), entry.name).toBeLessThan(1e-4 * norm)
        const projection = gradient.reduce((sum, value, i) => sum + value * Math.sin(i + 1), 0)
        expect(Math.abs(projection - expected.projections[entry.name]), entry.name).toBeLessThan(1e-4 * norm)
      }
      await learner.dispose()
    }
  },
)

const random = createRandom(8)
const sequences = [9, 21, 4].map((length, i): TrainingSequence => {
  const numbers = (of: () => number) => Float32Array.from({ length }, of)
  return {
    tokens: Int32Array.from({ length }, () => random.int(64)),
    logprobs: numbers(() => -4 - random.next()),
    advantages: numbers(() => random.normal()),
    weights: { rl: numbers(() => random.int(2)), ce: numbers(() => 0), kl: numbers(() => 0) },
    ...(i === 1 && { temperatures: numbers(() => 0.5 + random.next()) }),
  }
})

test('the gradient is the slope of the loss, and a coefficient of 0 changes no bit', async () => {
  const parameters = initialiseParameters(tinyConfig, 1)
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.2 * random.normal()
  const learner = createLearner({ config: tinyConfig, parameters, threads: 1, tokenBudget: 64 })
  const gradientOf = async (loss: LossSettings) => {
    learner.gradient.fill(0)
    const sums = await learner.forwardBackward(sequences, loss)
    return { sums, gradient: Float32Array.from(learner.gradient) }
  }
  expect(await gradientOf({ name: 'ppo', entropyCoefficient: 0 })).toEqual(await gradientOf({ name: 'ppo' }))
  const loss = { name: 'importance_sampling', entropyCoefficient: 2 } as const
  const { gradient } = await gradientOf(loss)
  const start = Float32Array.from(parameters.data)
  for (let trial = 0; trial < 3; trial++) {
    const direction = Float32Array.from(gradient, () => random.normal())
    const at = async (step: number) => {
      direction.forEach((value, i) => (parameters.data[i] = start[i] + step * value))
      return (await learner.forwardBackward(sequences, loss)).loss
    }
    const derivative = ((await at(1e-3)) - (await at(-1e-3))) / 2e-3
    parameters.data.set(start)
    const expected = gradient.reduce((sum, value, i) => sum + value * direction[i], 0)
    expect(Math.abs(derivative - expected)).toBeLessThan(0.02 * Math.hypot(...gradient))
  }
  await learner.dispose()
})

test('a custom loss with an entropy bonus agrees with the backend, also on two threads', async () => {
  const own: CustomLoss = (logprobs, rows) => {
    const gradients = rows.map(({ logprobs: sampled, advantages, weights }, i) =>
      logprobs[i].map((value, t) =>
        t === 0 ? 0 : -weights.rl[t] * advantages[t] * Math.exp(value - sampled[t]),
      ),
    )
    return {
      loss: gradients.reduce((sum, row) => sum + row.reduce((s, value) => s + value, 0), 0),
      gradients,
      entropyCoefficient: 0.5,
    }
  }
  const found: number[][] = []
  for (const loss of [{ name: 'importance_sampling', entropyCoefficient: 0.5 } as const, own]) {
    const backend = createLocalBackend({ config: tinyConfig, seed: 1, threads: 2 })
    const { loss: value, entropyBonus } = await forwardBackward(backend, sequences, loss)
    const { gradientNorm } = await backend.optimStep({ learningRate: 1e-3 })
    found.push([value, entropyBonus!, gradientNorm, backend.parameters.data.at(-1)!])
    await backend.dispose()
  }
  found[0].forEach((value, i) => expect(found[1][i] / value).toBeCloseTo(1, 4))
})

test('training on the entropy bonus alone raises the entropy', async () => {
  const backend = createLocalBackend({ config: tinyConfig, seed: 1, threads: 1 })
  for (let i = 0; i < backend.parameters.data.length; i++) backend.parameters.data[i] *= 4
  const entropies = []
  for (let step = 0; step < 8; step++) {
    const still = sequences.map((each) => ({ ...each, advantages: each.advantages.map(() => 0) }))
    const loss = { name: 'ppo', entropyCoefficient: 0.1 } as const
    entropies.push((await backend.forwardBackward(still, loss)).entropy)
    await backend.optimStep({ learningRate: 0.01 })
  }
  expect(entropies.at(-1)! - entropies[0]).toBeGreaterThan(0.3)
  await backend.dispose()
})
