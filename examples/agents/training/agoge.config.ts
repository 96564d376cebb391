// An agent of the AI SDK whose model is trained on the tasks of tasks.ts. In this folder: npx agoge train
import { generateText } from 'ai'
import { answerMatches, defineConfig, run } from 'agoge'
import { makeTasks } from './tasks.ts'

export default defineConfig({
  agent: async (task, { model, signal }) => {
    const { text } = await generateText({ model, prompt: task.prompt, temperature: 0, abortSignal: signal })
    return text
  },
  tasks: () => makeTasks(600),
  score: answerMatches(),
  // The small model that comes with Agoge.
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
