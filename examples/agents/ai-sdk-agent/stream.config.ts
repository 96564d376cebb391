// The same, with the answer streamed. In this folder: npx agoge eval --config stream.config.ts
import { defineConfig } from 'agoge'
import config from './agoge.config.ts'
import { createClerk } from './agent.ts'

export default defineConfig({
  ...config,
  agent: async ({ prompt }, { model, signal }) => {
    const { textStream } = await createClerk(model).stream({ prompt, abortSignal: signal })
    let text = ''
    for await (const delta of textStream) text += delta
    return text
  },
})
