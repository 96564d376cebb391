import { generateText } from 'ai'
import { expect, test } from 'vitest'
import { createTemplateFormat } from '../agent/chat-format/template-format.ts'
import { tinyTemplate, tinyTokenizer } from '../agent/testing/tiny-checkpoint.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { demonstrateAgent } from '../rollout/agents/rollout-agent.ts'
import type { AgentContext } from '../rollout/agents/rollout-agent.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { trainAgent } from './train-agent.ts'
import { fineTune } from './fine-tune.ts'
import { interrupt } from './testing/exact-resume.ts'
import type { TrainToWeights } from './testing/exact-resume.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 200 }
const open = () => createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
type Backend = ReturnType<typeof open>
const model = (backend: Backend) => ({ backend, tokenizer, format, window: 200 })
const program = {
  name: 'echo',
  run: async (_: { id: string }, { model: policy }: AgentContext) =>
    (await generateText({ model: policy, prompt: 'Say a', maxOutputTokens: 2 })).text,
  judge: (_: { id: string }, said: string) => Number(/^[a-m]/.test(said)),
}

async function weightsOf(work: (backend: Backend) => Promise<unknown>): Promise<Float32Array[]> {
  const backend = open()
  await work(backend)
  const weights = backend.parameters.data.slice()
  await backend.dispose()
  return [weights]
}

const shown = (backend: Backend) =>
  demonstrateAgent({
    ...model(backend),
    program,
    name: 'shown',
    tasks: Array.from({ length: 6 }, (_, i) => ({ id: `${i}` })),
    teacher: ({ id }) => ({ text: `a ${id}` }),
  })

const agent = (
  algorithm: 'grpo' | 'dapo',
  settings: { validate?: boolean; maxStaleness?: number } = {},
): TrainToWeights => {
  const { validate = false, ...batch } = settings
  return (run) =>
    weightsOf(async (backend) => {
      const played = await trainAgent({
        ...model(backend),
        ...run,
        ...batch,
        program,
        tasks: (step) => [{ id: `${step}` }, { id: `${step}+` }],
        testTasks: [{ id: 't' }],
        ...(validate ? { validation: { tasks: [{ id: 'v' }, { id: 'w' }], every: 2 } } : {}),
        algorithm,
        groupSize: 4,
        steps: 5,
        learningRate: 0.01,
        seed: 1,
      })
      expect(played.steps.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4])
      expect(played.after?.success.n).toBe(1)
    })
}

const trainers: Record<string, TrainToWeights> = {
  'fine-tuning': (run) =>
    weightsOf(async (backend) => {
      const demonstrations = await shown(backend)
      const losses = await fineTune({
        backend,
        demonstrations,
        epochs: 2,
        batch: 2,
        learningRate: 0.02,
        seed: 1,
        ...run,
      })
      expect(losses.length).toBe(6)
    }),
  'fine-tuning that keeps the best weights': (run) =>
    weightsOf(async (backend) => {
      const demonstrations = await shown(backend)
      // Falls with every step, so that the first weights are the best.
      const score = () => -Math.hypot(...backend.parameters.data.map((value, i) => value - first[i]))
      const first = backend.parameters.data.slice()
      const settings = { demonstrations, epochs: 2, batch: 2, learningRate: 0.02, seed: 1 }
      await fineTune({ backend, ...settings, ...run, validation: { score, every: 2 } })
      if (run.resume !== true) expect(backend.parameters.data).toEqual(first)
    }),
  'an agent, by grpo with its reference': agent('grpo'),
  'an agent, by dapo with validation': agent('dapo', { validate: true }),
  'an agent, on stale batches': agent('dapo', { maxStaleness: 1 }),
}

test.each(Object.entries(trainers))(
  '%s: killed and resumed, it ends with the same weights',
  async (_, train) => {
    const { whole, ...others } = await interrupt(train, 3)
    expect(others).toEqual({ resumed: whole, reopened: whole, inMemory: whole })
  },
)
