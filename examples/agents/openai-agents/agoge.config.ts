// The agent of agent.ts, evaluated on the tasks of ../desk.jsonl. In this folder: npx agoge eval
import { Runner } from '@openai/agents'
import { aisdk } from '@openai/agents-extensions/ai-sdk'
import { answerMatches, defineConfig, run } from 'agoge'
import { clerk } from './agent.ts'

export default defineConfig({
  agent: async ({ prompt }, { model, signal }) => {
    // It takes the place of the model that each agent names. With tracing, the SDK sends what happens to OpenAI.
    const runner = new Runner({ modelProvider: { getModel: () => aisdk(model) }, tracingDisabled: true })
    const { finalOutput } = await runner.run(clerk, prompt, { signal, maxTurns: 4 })
    return finalOutput ?? ''
  },
  tasks: '../desk.jsonl',
  score: answerMatches(),
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
