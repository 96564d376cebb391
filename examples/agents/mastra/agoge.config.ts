// The agent of agent.ts, evaluated on the tasks of ../desk.jsonl. In this folder: npx agoge eval
import { RequestContext } from '@mastra/core/request-context'
import { answerMatches, defineConfig, run } from 'agoge'
import { clerk } from './agent.ts'

export default defineConfig({
  agent: async ({ prompt }, { model, signal }) => {
    const requestContext = new RequestContext([['model', model]])
    const { text } = await clerk.generate(prompt, {
      requestContext,
      abortSignal: signal,
      maxSteps: 4,
      modelSettings: { temperature: 0 },
    })
    return text
  },
  tasks: '../desk.jsonl',
  score: answerMatches(),
  models: [run('../../../models/base')],
  maxOutputTokens: 40,
})
