// The same, with the answer streamed. In this folder: npx agoge eval --config stream.config.ts
import { Runner } from '@openai/agents'
import { aisdk } from '@openai/agents-extensions/ai-sdk'
import { defineConfig } from 'agoge'
import { clerk } from './agent.ts'
import config from './agoge.config.ts'

export default defineConfig({
  ...config,
  agent: async ({ prompt }, { model, signal }) => {
    const runner = new Runner({ modelProvider: { getModel: () => aisdk(model) }, tracingDisabled: true })
    const streamed = await runner.run(clerk, prompt, { signal, maxTurns: 4, stream: true })
    for await (const _ of streamed.toTextStream()) continue
    await streamed.completed
    return streamed.finalOutput ?? ''
  },
})
