// The same, with the answer streamed. In this folder: npx agoge eval --config stream.config.ts
import { defineConfig } from 'agoge'
import { clerk } from './agent.ts'
import config from './agoge.config.ts'

export default defineConfig({
  ...config,
  agent: async ({ prompt }, { endpoint, signal }) => {
    const { baseURL, apiKey, model } = await endpoint()
    const configurable = { model: { model, apiKey, configuration: { baseURL } } }
    const settings = { configurable, signal, recursionLimit: 8, streamMode: 'messages' as const }
    let text = ''
    for await (const [chunk] of await clerk.stream(
      { messages: [{ role: 'user', content: prompt }] },
      settings,
    ))
      text = chunk.type === 'ai' ? text + chunk.text : ''
    return text
  },
})
