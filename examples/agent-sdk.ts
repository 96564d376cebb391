// Trains an agent written with the AI SDK by reinforcement learning. The agent has its own tools, and its code knows
// nothing of training.
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { demonstrateAgent, fineTune, loadModel, readChatFormat, rolloutAgent, trainAgent } from 'agoge'
import type { AgentContext } from 'agoge'

const steps = Number(process.env['STEPS'] ?? 20)
const articles = ['apple', 'lamp', 'chair', 'rope', 'plate', 'brush']
interface Task {
  id: string
  article: string
  left: number
}
const taskAt = (seed: number): Task => {
  const [article, left] = [articles[seed % articles.length], (seed * 7) % 23]
  return { id: `${article}-${left}`, article, left }
}

// The agent: a request, two tools, any number of calls.
async function clerk({ article, left }: Task, { model }: Pick<AgentContext, 'model'>): Promise<string> {
  const tools = {
    stock: tool({
      inputSchema: z.object({ article: z.string() }),
      execute: (given) => (given.article === article ? `${left} left` : 'unknown'),
    }),
    price: tool({ inputSchema: z.object({ article: z.string() }), execute: () => 'not for sale' }),
  }
  const { text } = await generateText({
    model,
    tools,
    prompt: `how many ${article}s are left`,
    maxOutputTokens: 40,
    stopWhen: stepCountIs(3),
  })
  return text
}

const program = {
  name: 'clerk',
  run: clerk,
  judge: ({ left }: Task, answer: string) => Number(answer === String(left)),
}
const { backend, tokenizer, folder } = await loadModel()
const format = await readChatFormat(folder, tokenizer)
const model = { backend, tokenizer, format, window: backend.config.max_position_embeddings }

// A few demonstrations, so that the agent sometimes succeeds before reinforcement learning starts.
const demonstrations = await demonstrateAgent({
  ...model,
  program,
  name: 'shown',
  tasks: Array.from({ length: 24 }, (_, i) => taskAt(i)),
  teacher: ({ article, left }, messages) =>
    messages.length === 1 ? { call: { name: 'stock', arguments: { article } } } : { text: String(left) },
})
await fineTune({
  backend,
  demonstrations,
  epochs: 3,
  batch: 8,
  learningRate: 0.002,
  optimizer: 'muon',
  clip: 1,
  seed: 1,
})

const evaluate = async (name: string): Promise<void> => {
  const tasks = Array.from({ length: 60 }, (_, i) => taskAt(1000 + i))
  const episodes = (
    await rolloutAgent({ ...model, program, tasks, name: 'test', seed: 1, temperature: 0 })
  ).flat()
  const done = episodes.filter(({ success }) => success === true).length
  console.log(`${name}: ${done} of ${tasks.length}`)
}
await evaluate('after demonstrations')
await trainAgent({
  ...model,
  program,
  tasks: (step) => Array.from({ length: 8 }, (_, i) => taskAt(100 + 8 * step + i)),
  steps,
  learningRate: 4e-4,
  clip: 1,
  seed: 1,
  onStep: ({ step, success }) =>
    console.log(`step ${step + 1}: ${'#'.repeat(Math.round(40 * success))} ${success.toFixed(2)}`),
})
await evaluate('after reinforcement')
await backend.dispose()
