// The agent of agent.ts, evaluated on the tasks of ../desk.jsonl. In this folder: npx agoge eval
import { answerMatches, defineConfig, run } from 'agoge'
import { createClerk } from './agent.ts'

export default defineConfig({
  agent: async ({ prompt }, { model, signal }) => {
    const { text } = await createClerk(model).generate({ prompt, abortSignal: signal })
    return text
  },
  tasks: '../desk.jsonl',
  score: answerMatches(),
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
