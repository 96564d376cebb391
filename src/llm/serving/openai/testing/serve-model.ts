import OpenAI from 'openai'
import { onTestFinished } from 'vitest'
import { createTemplateFormat } from '../../../agent/chat-format/template-format.ts'
import { tinyTemplate, tinyTokenizer } from '../../../agent/testing/tiny-checkpoint.ts'
import type { ServedModel } from '../generate.ts'
import { serveOpenAI } from '../serve.ts'
import type { ServeOptions } from '../serve.ts'

export const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })

/** A model of a window of 1000 tokens with the chat template of Qwen. */
export const servedModel = (backend: ServedModel['backend']): ServedModel => ({
  name: 'tiny',
  backend,
  tokenizer,
  format,
  window: 1000,
})

/** Serves a model until the test ends, with a client of it. */
export async function start(
  served: ServedModel,
  options: Partial<ServeOptions> = {},
): Promise<{ client: OpenAI; url: string }> {
  const { url, close } = await serveOpenAI({ model: served, ...options })
  onTestFinished(() => close(0))
  return { url, client: new OpenAI({ baseURL: url, apiKey: options.key ?? 'none', maxRetries: 0 }) }
}

/** Posts a chat, as JSON or as the text that is given. */
export const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

/** Allows for a busy machine. */
export const patient = { timeout: 600_000 }
export const hi = [{ role: 'user' as const, content: 'Hi' }]
