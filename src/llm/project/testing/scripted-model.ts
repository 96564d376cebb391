import { setTimeout as sleep } from 'node:timers/promises'
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Content } from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'

/** What a scripted model says: a text, or a call of a tool. */
export type Said = string | { tool: string; input: object }

export interface ScriptedOptions {
  modelId?: string
  /** Throws instead of answering where it returns an error. */
  fail?: (call: number) => Error | undefined
  /** Breaks a stream off in the middle where it returns true. */
  cut?: (call: number) => boolean
  /** Milliseconds of each answer. */
  delay?: number
  /** Milliseconds of single answers. */
  delayOf?: (call: number) => number
  usage?: { input: number; output: number }
}

type Content = Extract<LanguageModelV3Content, { type: 'text' | 'tool-call' }>

/** A service that answers by a script, as a model object of version 3. `calls` counts what was asked of it. */
export function scripted(
  say: (options: LanguageModelV3CallOptions) => Said,
  {
    modelId = 'scripted',
    fail,
    cut,
    delay = 0,
    delayOf = () => delay,
    usage = { input: 20, output: 5 },
  }: ScriptedOptions = {},
): LanguageModelV3 & { calls: LanguageModelV3CallOptions[] } {
  const calls: LanguageModelV3CallOptions[] = []
  async function answer(options: LanguageModelV3CallOptions): Promise<Content> {
    calls.push(options)
    const error = fail?.(calls.length)
    const wait = delayOf(calls.length)
    if (wait > 0) await sleep(wait, undefined, options.abortSignal && { signal: options.abortSignal })
    if (error !== undefined) throw error
    const said = say(options)
    return typeof said === 'string'
      ? { type: 'text', text: said }
      : {
          type: 'tool-call',
          toolCallId: `call-${options.prompt.length}`,
          toolName: said.tool,
          input: JSON.stringify(said.input),
        }
  }
  const counted = {
    inputTokens: { total: usage.input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: usage.output, text: undefined, reasoning: undefined },
  }
  return {
    specificationVersion: 'v3',
    provider: 'test',
    modelId,
    supportedUrls: {},
    calls,
    async doGenerate(options) {
      const content = await answer(options)
      const unified = content.type === 'text' ? ('stop' as const) : ('tool-calls' as const)
      return {
        content: [content],
        finishReason: { unified, raw: unified },
        usage: counted,
        warnings: [],
        response: {
          id: 'r',
          timestamp: new Date(0),
          modelId,
          headers: { secret: 'header' },
          body: { large: true },
        },
      }
    },
    async doStream(options) {
      const isCut = cut?.(calls.length + 1) === true
      const content = await answer(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] })
            if (content.type === 'text') {
              controller.enqueue({ type: 'text-start', id: 't' })
              for (const delta of content.text) controller.enqueue({ type: 'text-delta', id: 't', delta })
              controller.enqueue({ type: 'text-end', id: 't' })
            } else controller.enqueue(content)
            if (isCut) return controller.error(new Error('the connection was lost'))
            controller.enqueue({
              type: 'finish',
              finishReason: { unified: 'stop', raw: 'stop' },
              usage: counted,
            })
            controller.close()
          },
        }),
      }
    },
  }
}

/** The text of the last user message. */
export function request({ prompt }: LanguageModelV3CallOptions): string {
  const user = prompt.findLast(({ role }) => role === 'user')
  return typeof user?.content === 'object'
    ? user.content.map((part) => ('text' in part ? part.text : '')).join('')
    : ''
}

/** What a service answers with this HTTP status. */
export function httpError(statusCode: number, responseBody = ''): APICallError {
  return new APICallError({
    message: `status ${statusCode}`,
    url: 'https://api.example.com',
    requestBodyValues: {},
    statusCode,
    responseBody,
    responseHeaders: {},
  })
}
