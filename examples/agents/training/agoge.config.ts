// An agent of the AI SDK whose model is trained on the tasks of tasks.ts. In this folder: npx agoge train --steps 80
import { generateText } from 'ai'
import { defineConfig, run } from 'agoge'
import { makeTasks } from './tasks.ts'

export default defineConfig({
  agent: async (task, { model, signal }) => {
    const { text } = await generateText({ model, prompt: task.prompt, temperature: 0, abortSignal: signal })
    return text.trim()
  },
  tasks: () => makeTasks(600),
  // Exactly the answer. A scorer that also accepts a sentence around it would teach the model to ramble.
  score: function exact({ output, given }) {
    return Number(output === String(given.expected?.answer))
  },
  // The small model that comes with Agoge.
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
