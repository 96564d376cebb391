// An agent of the AI SDK, evaluated on the tasks of tasks.jsonl. In this folder: npx agoge eval
import { generateText } from 'ai'
import { answerMatches, defineConfig, run } from 'agoge'

export default defineConfig({
  agent: async (task, { model, signal }) => {
    const { text } = await generateText({ model, prompt: task.prompt, temperature: 0, abortSignal: signal })
    return text
  },
  tasks: './tasks.jsonl',
  score: answerMatches(),
  // The small model that comes with Agoge. Yours may be 'openai/gpt-5-mini', 'ollama/qwen3:4b' ...
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
