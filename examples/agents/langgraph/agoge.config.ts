// The agent of agent.ts, evaluated on the tasks of ../desk.jsonl. In this folder: npx agoge eval
import { answerMatches, defineConfig, run } from 'agoge'
import { clerk } from './agent.ts'

export default defineConfig({
  agent: async ({ prompt }, { endpoint, signal }) => {
    const { baseURL, apiKey, model } = await endpoint()
    const configurable = { model: { model, apiKey, configuration: { baseURL } } }
    const messages = [{ role: 'user', content: prompt }]
    const state = await clerk.invoke({ messages }, { configurable, signal, recursionLimit: 8 })
    return state.messages.at(-1)?.text ?? ''
  },
  tasks: '../desk.jsonl',
  score: answerMatches(),
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
