import * as ai from 'ai'
// Version 7 asks for Node 22, but what is called here runs on Node 20 too. Its types are those of version 6.
import * as ai7 from 'ai-7'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AgogeConfig, AnyLanguageModel } from './config.ts'
import { evaluate } from './evaluate.ts'
import { answerMatches } from './scorers.ts'
import { scripted } from './testing/scripted-model.ts'

type Fields = Record<string, unknown>

/** A model object that calls a tool and then answers, with results as another version of the specification has them. */
function inVersion(specificationVersion: 'v2' | 'v3' | 'v4'): AnyLanguageModel {
  const model = scripted(({ prompt }) =>
    prompt.some(({ role }) => role === 'tool') ? 'It is 7.' : { tool: 'sum', input: { a: 3, b: 4 } },
  )
  const change = (part: Fields): Fields =>
    specificationVersion === 'v2' && 'finishReason' in part
      ? {
          ...part,
          finishReason: (part['finishReason'] as { unified: string }).unified,
          usage: { inputTokens: 20, outputTokens: 5, totalTokens: 25 },
        }
      : part
  return {
    ...model,
    specificationVersion,
    doGenerate: async (options: never) => change(await model.doGenerate(options)),
    async doStream(options: never) {
      const { stream } = await model.doStream(options)
      const changed = new TransformStream<Fields, Fields>({
        transform: (part, controller) => controller.enqueue(change(part)),
      })
      return { stream: (stream as unknown as ReadableStream<Fields>).pipeThrough(changed) }
    },
  }
}

const agentOf = (
  { streamText, generateText, ...sdk }: typeof ai,
  isStreaming: boolean,
): AgogeConfig['agent'] => {
  const sum = sdk.tool({
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  })
  return async ({ prompt }, { model }) => {
    const settings = { model, prompt, tools: { sum }, stopWhen: sdk.stepCountIs(3) }
    return isStreaming ? streamText(settings).text : (await generateText(settings)).text
  }
}

test.each([
  { sdk: ai, name: 'AI SDK 6', version: 'v2' },
  { sdk: ai, name: 'AI SDK 6', version: 'v3' },
  { sdk: ai7 as unknown as typeof ai, name: 'AI SDK 7', version: 'v3' },
  { sdk: ai7 as unknown as typeof ai, name: 'AI SDK 7', version: 'v4' },
] as const)(
  '$name with a model object of $version: calls and tokens are counted',
  async ({ sdk, version }) => {
    for (const isStreaming of [false, true]) {
      const { records } = await evaluate({
        agent: agentOf(sdk, isStreaming),
        tasks: [{ id: 'sum', prompt: 'What is 3 + 4?', expected: { answer: 7 } }],
        score: answerMatches(),
        models: [inVersion(version)],
      }).result
      expect(records).toEqual([
        expect.objectContaining({
          status: 'ok',
          success: true,
          modelCalls: 2,
          usage: { promptTokens: 40, sampledTokens: 10, calls: 1, invalidCalls: 0 },
          cost: { tokens: 50, dollars: 0 },
        }),
      ])
    }
  },
)
