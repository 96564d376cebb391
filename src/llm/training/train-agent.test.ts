import { generateText } from 'ai'
import { expect, test } from 'vitest'
import { createTemplateFormat } from '../agent/chat-format/template-format.ts'
import { tinyTemplate, tinyTokenizer } from '../agent/testing/tiny-checkpoint.ts'
import { createLocalBackend, type LocalBackend } from '../backend/local-backend.ts'
import { type AgentContext, demonstrateAgent } from '../rollout/agents/rollout-agent.ts'
import type { Episode } from '../episode/types.ts'
import { policyPresets } from '../algorithm/policy-optimisation/presets.ts'
import type { PolicyPresetName } from '../algorithm/policy-optimisation/presets.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { fineTune } from './fine-tune.ts'
import { trainAgent } from './train-agent.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 200 }
const model = (backend: LocalBackend) => ({ backend, tokenizer, format, window: 200 })
const program = {
  name: 'echo',
  run: async (_: { id: string }, { model: policy }: AgentContext) =>
    (await generateText({ model: policy, prompt: 'Say a', maxOutputTokens: 2 })).text,
  judge: (_: { id: string }, said: string) => Number(said.startsWith('a')),
}

test('an agent learns what it is rewarded for; the same seed gives the same curve', async () => {
  const run = async () => {
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    const { steps } = await trainAgent({
      ...model(backend),
      program,
      tasks: () => [{ id: 'a' }],
      groupSize: 48,
      steps: 12,
      learningRate: 0.03,
      reward: ({ nodes }) => (/^[a-z]/.test(nodes.at(-1)!.text) ? 1 : 0),
      seed: 1,
    })
    await backend.dispose()
    return steps.map(({ reward }) => reward)
  }
  const curve = await run()
  expect(await run()).toEqual(curve)
  expect(curve[0]).toBeLessThan(0.5)
  expect(Math.max(...curve.slice(-3))).toBeGreaterThan(curve[0] + 0.15)
})

test('sampled at temperature 0.7, an agent is where its sampler was before an update', async () => {
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  // Far from uniform, so that temperature matters.
  backend.parameters.data.forEach((value, i) => (backend.parameters.data[i] = 6 * value))
  backend.weightsChanged()
  const options = { ...model(backend), program, tasks: () => [{ id: 'a' }], groupSize: 24, steps: 1 }
  const {
    steps: [{ metrics }],
  } = await trainAgent({
    ...options,
    temperature: 0.7,
    learningRate: 0.001,
    reward: ({ nodes }) => nodes.at(-1)!.text.length % 3,
    seed: 1,
  })
  expect(Math.abs(metrics['meanRatio'] - 1)).toBeLessThan(1e-5)
  expect(metrics['kl']).toBeLessThan(1e-6)
  expect(metrics['clipFraction']).toBe(0)
  await backend.dispose()
})

test('SFT raises the probability of demonstrations, and failed demonstrations are refused', async () => {
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const shown = (text: string) =>
    demonstrateAgent({
      ...model(backend),
      program,
      name: 'shown',
      tasks: [{ id: '1' }, { id: '2' }],
      teacher: () => ({ text }),
    })
  const settings = { backend, epochs: 6, batch: 1, learningRate: 0.02, seed: 1 }
  const losses = await fineTune({ ...settings, demonstrations: await shown('a b') })
  expect(losses.length).toBe(12)
  expect(losses.at(-1)).toBeLessThan(losses[0] * 0.7)
  await expect(fineTune({ ...settings, demonstrations: await shown('no') })).rejects.toMatchObject({
    code: 'unsolvable-task',
  })
  await backend.dispose()
})

test('training stops with a reason if no episode can be judged', async () => {
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const broken = { ...program, run: () => Promise.reject(new Error('no network')) }
  const options = {
    ...model(backend),
    program: broken,
    tasks: () => [{ id: 'a' }],
    steps: 1,
    learningRate: 0.01,
    seed: 1,
  }
  await expect(trainAgent(options)).rejects.toMatchObject({
    code: 'environment-broken',
    given: '8 × no network',
  })
  await backend.dispose()
})

test.each(Object.keys(policyPresets) as PolicyPresetName[])('an agent trains by %s', async (algorithm) => {
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const demonstrationEpisodes = await demonstrateAgent({
    ...model(backend),
    program,
    name: 'shown',
    tasks: [{ id: '1' }],
    teacher: () => ({ text: 'a' }),
  })
  const { steps } = await trainAgent({
    ...model(backend),
    program,
    tasks: () => [{ id: 'a' }, { id: 'b' }],
    groupSize: 6,
    steps: 1,
    learningRate: 0.01,
    seed: 1,
    algorithm,
    demonstrationEpisodes,
    // Rare, so that the best of several differs too.
    reward: ({ nodes }) => Number(nodes.at(-1)!.text.charCodeAt(0) % 5 === 0),
  })
  expect(Number.isFinite(steps[0].metrics['loss'])).toBe(true)
  await backend.dispose()
})

test('an agent sampled during training gets the same weights as one sampled in between', async () => {
  const weightsOf = async (overlap: boolean): Promise<Float32Array> => {
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    const settings = { groupSize: 4, steps: 3, learningRate: 0.01, seed: 1, maxStaleness: 1, overlap }
    const reward = ({ nodes }: Episode) => nodes.at(-1)!.text.length % 3
    await trainAgent({ ...model(backend), program, tasks: () => [{ id: 'a' }], reward, ...settings })
    const weights = backend.parameters.data.slice()
    await backend.dispose()
    return weights
  }
  expect(await weightsOf(true)).toEqual(await weightsOf(false))
})
