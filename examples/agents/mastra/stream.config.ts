// The same, with the answer streamed. In this folder: npx agoge eval --config stream.config.ts
import { RequestContext } from '@mastra/core/request-context'
import { defineConfig } from 'agoge'
import { clerk } from './agent.ts'
import config from './agoge.config.ts'

export default defineConfig({
  ...config,
  agent: async ({ prompt }, { model, signal }) => {
    const requestContext = new RequestContext([['model', model]])
    const { textStream } = await clerk.stream(prompt, {
      requestContext,
      abortSignal: signal,
      maxSteps: 4,
      modelSettings: { temperature: 0 },
    })
    let text = ''
    for await (const delta of textStream) text += delta
    return text
  },
})
