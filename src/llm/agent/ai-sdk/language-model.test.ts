import type { LanguageModelV3 } from '@ai-sdk/provider'
import * as sdk6 from 'ai'
import * as sdk7 from 'ai-7'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { saying } from '../testing/saying.ts'
import { createTemplateFormat } from '../chat-format/template-format.ts'
import { tinyTemplate, tinyTokenizer } from '../testing/tiny-checkpoint.ts'
import { createLanguageModel } from './language-model.ts'
import type { TokenMetadata } from './read-call.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const modelOf = (backend: ReturnType<typeof saying>) =>
  createLanguageModel({ backend, tokenizer, format, window: 2000 })
const call =
  '<think>\nhm\n</think>\n\nOne moment.\n<tool_call>\n{"name": "price", "arguments": {"of": "tea"}}\n</tool_call><|im_end|>'
const answers = (prompt: string) => (prompt.includes('<tool_response>') ? 'Tea is 3.<|im_end|>' : call)
test('the object is a LanguageModelV3 by its type, which both versions of the SDK take', () => {
  const model: LanguageModelV3 = modelOf(saying(tokenizer, answers))
  const taken: [sdk6.LanguageModel, sdk7.LanguageModel] = [model, model]
  expect(taken).toHaveLength(2)
})

// Version 7 requires Node 22, but the functions used here run on Node 20 too. Their types are those of version 6.
const versions = [
  { version: 6, sdk: sdk6 },
  { version: 7, sdk: sdk7 as unknown as typeof sdk6 },
]

describe.each(versions)('AI SDK $version', ({ sdk }) => {
  const { generateObject, generateText, stepCountIs, streamText, tool } = sdk
  const tools = {
    price: tool({ inputSchema: z.object({ of: z.string() }), execute: ({ of }) => ({ [of]: 3 }) }),
  }

  test('generateText runs tools through it', async () => {
    const model = modelOf(saying(tokenizer, answers))
    const { text, steps } = await generateText({
      model,
      tools,
      prompt: 'What is tea?',
      stopWhen: stepCountIs(3),
    })
    expect(text).toBe('Tea is 3.')
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(steps[0]).toMatchObject({ text: 'One moment.', reasoningText: 'hm' })
    expect(steps[0].toolResults[0].output).toEqual({ tea: 3 })
    const metadata = steps[1].providerMetadata as unknown as { agoge: TokenMetadata }
    const { tokenIds, promptTokenIds, logprobs, weightVersion } = metadata.agoge
    expect(tokenizer.decode(tokenIds)).toBe('Tea is 3.<|im_end|>')
    expect(tokenizer.decode(promptTokenIds)).toContain('<tool_response>\n{"tea":3}\n</tool_response>')
    expect([logprobs.length, weightVersion]).toEqual([tokenIds.length, 3])
    expect(steps[1].usage).toMatchObject({
      inputTokens: promptTokenIds.length,
      outputTokens: tokenIds.length,
    })
  })

  test('streamText hears the text as it is drawn, and the calls', async () => {
    const result = streamText({
      model: modelOf(saying(tokenizer, answers)),
      tools,
      prompt: 'What is tea?',
      stopWhen: stepCountIs(3),
    })
    const kinds: string[] = []
    let [text, reasoning] = ['', '']
    for await (const part of result.fullStream) {
      kinds.push(part.type)
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'reasoning-delta') reasoning += part.text
    }
    expect([text, reasoning]).toEqual(['One moment.Tea is 3.', 'hm'])
    expect(kinds.filter((kind) => kind === 'text-delta').length).toBeGreaterThan(4)
    expect(kinds).toContain('tool-result')
    expect((await result.steps).length).toBe(2)
  })

  test('calls made at the same time are one batch; a seed repeats; a schema holds', async () => {
    const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 300 }
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    const batches: number[] = []
    const counted = {
      sample: (...given: Parameters<typeof backend.sample>) => {
        batches.push(given[0].length)
        return backend.sample(...given)
      },
    }
    try {
      const model = createLanguageModel({ backend: counted, tokenizer, format, window: 300, maxTokens: 8 })
      const ask = (seed: number) => generateText({ model, prompt: 'Hi', seed }).then(({ text }) => text)
      const [a, b, again] = await Promise.all([ask(1), ask(2), ask(1)])
      expect(batches).toEqual([3])
      expect(again).toBe(a)
      expect(b).not.toBe(a)
      const schema = z.object({ n: z.int().min(1).max(9) })
      const { object } = await generateObject({ model, schema, prompt: 'Hi', maxOutputTokens: 20 })
      expect(schema.safeParse(object).success).toBe(true)
      await expect(generateText({ model, prompt: 'x'.repeat(500), maxRetries: 0 })).rejects.toThrow(
        /does not fit/,
      )
      const controller = new AbortController()
      controller.abort()
      await expect(generateText({ model, prompt: 'Hi', abortSignal: controller.signal })).rejects.toThrow(
        /abort/i,
      )
    } finally {
      await backend.dispose()
    }
  })

  test('options without effect become warnings, unreadable input is an error', async () => {
    const model = modelOf(saying(tokenizer, () => 'x STOP y<|im_end|>'))
    const { text, warnings } = await generateText({
      model,
      prompt: 'Hi',
      presencePenalty: 1,
      stopSequences: ['STOP'],
    })
    expect(text).toBe('x ')
    expect(warnings).toEqual([{ type: 'unsupported', feature: 'presencePenalty' }])
    const image = { type: 'image' as const, image: new Uint8Array([137, 80, 78, 71]) }
    const ask = generateText({ model, messages: [{ role: 'user', content: [image] }], maxRetries: 0 })
    await expect(ask).rejects.toThrow(/reads only text/)
  })
})

test('a stream that is cancelled samples no further', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 2000 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  let drawn = 0
  const ends: string[] = []
  const counted = {
    sample: (requests: Parameters<typeof backend.sample>[0], options: Parameters<typeof backend.sample>[1]) =>
      backend
        .sample(requests, {
          ...options,
          onToken(...token) {
            drawn++
            options.onToken?.(...token)
          },
        })
        .finally(() => ends.push(options.signal?.aborted === true ? 'aborted' : 'done')),
  }
  const model = createLanguageModel({ backend: counted, tokenizer, format, window: 2000 })
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }]
  // An answer that ends by itself is never cancelled: with this seed, the whole answer is far longer.
  const call = { prompt, maxOutputTokens: 400, seed: 2 }
  const whole = await model.doGenerate(call)
  expect(whole.usage.outputTokens.total).toBe(400)
  ends.length = 0
  drawn = 0
  const { stream } = await model.doStream(call)
  const reader = stream.getReader()
  for (;;) {
    const { value } = await reader.read()
    if (value?.type === 'text-delta' || value?.type === 'reasoning-delta') break
  }
  await reader.cancel('enough')
  await expect.poll(() => ends).toEqual(['aborted'])
  expect(drawn).toBeLessThan(200)
  await backend.dispose()
})
