import { randomUUID } from 'node:crypto'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { ToolCall } from '../../episode/types.ts'
import type { ModelBackend, SampleOptions, SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { ChatFormat, ChatOutput } from '../chat-format/types.ts'
import { createOutputStream, cutAtStop } from '../chat-format/template-output.ts'
import { createSampleQueue } from '../sample-queue.ts'
import {
  type ContentPart,
  type GenerateResult,
  type LanguageModel,
  type ModelCall,
  readCall,
  type StreamPart,
} from './read-call.ts'

/** The result of a call. */
export interface ModelAnswer {
  prompt: Int32Array
  output: Pick<SampleOutput, 'tokens' | 'logprobs' | 'finish' | 'weightVersion'>
  said: Omit<ChatOutput, 'calls'> & { calls: ToolCall[] }
}

/** Samples an answer. `onToken` receives every token as it is drawn. */
export type AnswerCall = (
  call: ModelCall,
  onToken?: NonNullable<SampleOptions['onToken']>,
) => Promise<ModelAnswer>

/** A model object for the AI SDK over any function that answers calls; see `createLanguageModel` and `rolloutAgent`. */
export function languageModelFrom(modelId: string, format: ChatFormat, answer: AnswerCall): LanguageModel {
  const responseOf = () => ({ id: randomUUID(), timestamp: new Date(), modelId })

  async function generate(
    call: ModelCall,
    onToken?: NonNullable<SampleOptions['onToken']>,
  ): Promise<GenerateResult> {
    const { prompt, output, said } = await answer(call, onToken)
    const { text, reasoning, calls } = said
    const content: ContentPart[] = [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, name, arguments: given }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: JSON.stringify(given),
      })),
    ]
    return {
      content,
      finishReason: { unified: calls.length > 0 ? 'tool-calls' : output.finish, raw: output.finish },
      usage: {
        inputTokens: {
          total: prompt.length,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: output.tokens.length, text: undefined, reasoning: undefined },
      },
      providerMetadata: {
        agoge: {
          promptTokenIds: Array.from(prompt),
          tokenIds: Array.from(output.tokens),
          logprobs: Array.from(output.logprobs),
          weightVersion: output.weightVersion,
        },
      },
      response: responseOf(),
      warnings: call.warnings,
    }
  }

  return {
    specificationVersion: 'v3',
    provider: 'agoge',
    modelId,
    supportedUrls: {},
    doGenerate: (options) => generate(readCall(options, format)),
    doStream(options) {
      const asked = readCall(options, format)
      const left = new AbortController()
      const signals = asked.signal === undefined ? [left.signal] : [asked.signal, left.signal]
      const call = { ...asked, signal: AbortSignal.any(signals) }
      const stream = new ReadableStream<StreamPart>({
        /** Stops sampling when the reader cancels. */
        cancel: (why) => left.abort(why),
        async start(controller) {
          const texts = createOutputStream(format, call.settings.stop)
          const open = new Set<'text' | 'reasoning'>()
          const tell = (kind: 'text' | 'reasoning', delta: string): void => {
            if (delta === '' || left.signal.aborted) return
            if (!open.has(kind)) controller.enqueue({ type: `${kind}-start`, id: kind })
            open.add(kind)
            controller.enqueue({ type: `${kind}-delta`, id: kind, delta })
          }
          controller.enqueue({ type: 'stream-start', warnings: call.warnings })
          try {
            const { content, finishReason, usage, providerMetadata, response } = await generate(
              call,
              (_, token) => {
                const { text, reasoning } = texts.push(token)
                tell('reasoning', reasoning)
                tell('text', text)
              },
            )
            if (left.signal.aborted) return
            controller.enqueue({ type: 'response-metadata', ...response })
            const whole = (kind: 'text' | 'reasoning'): string => {
              const part = content.find(({ type }) => type === kind)
              return part !== undefined && 'text' in part ? part.text : ''
            }
            const rest = texts.end({ text: whole('text'), reasoning: whole('reasoning') })
            tell('reasoning', rest.reasoning)
            tell('text', rest.text)
            for (const kind of open) controller.enqueue({ type: `${kind}-end`, id: kind })
            for (const part of content) {
              if (part.type !== 'tool-call') continue
              const id = part.toolCallId
              controller.enqueue({ type: 'tool-input-start', id, toolName: part.toolName })
              controller.enqueue({ type: 'tool-input-delta', id, delta: part.input })
              controller.enqueue({ type: 'tool-input-end', id })
              controller.enqueue(part)
            }
            controller.enqueue({ type: 'finish', finishReason, usage, providerMetadata })
          } catch (error) {
            // A cancelled stream accepts no more chunks.
            if (left.signal.aborted) return
            controller.enqueue({ type: 'error', error })
          }
          if (!left.signal.aborted) controller.close()
        },
      })
      return Promise.resolve({ stream })
    },
  }
}

/** The output in terms of the call: without its stop texts, and with calls only if tools were offered. */
export function readAnswer(
  output: Int32Array,
  format: ChatFormat,
  { tools, settings }: ModelCall,
  raw: (tokens: Int32Array) => string,
  callId: (index: number) => string,
): ModelAnswer['said'] {
  const read = format.read(output)
  // Invalid calls, and calls without offered tools, are returned as text.
  const plain = read.invalid !== undefined || (read.calls.length > 0 && tools.length === 0)
  if (plain) {
    const end = output.findIndex((id) => format.stop.includes(id))
    const text = cutAtStop(raw(end < 0 ? output : output.subarray(0, end)), settings.stop)
    return { ...read, text, calls: [] }
  }
  const calls = read.calls.map((call, i) => ({ id: callId(i), ...call }))
  return { ...read, text: cutAtStop(read.text, settings.stop), calls }
}

export interface LanguageModelOptions {
  backend: Pick<ModelBackend, 'sample'>
  tokenizer: Tokenizer
  format: ChatFormat
  /** Context window of the model in tokens. */
  window: number
  /** Model id. Default: `agoge`. */
  modelId?: string
  /** Used if a call sets none. Default: 1. */
  temperature?: number
  /** Limit of one answer, used if a call sets none. Default: the rest of the context window. */
  maxTokens?: number
}

/**
 * Wraps a local model as a model object for the AI SDK (`specificationVersion: 'v3'`). Concurrent calls are sampled in one
 * batch. `providerMetadata.agoge` holds token ids, log-probabilities and the version of the weights. Calls with the same `seed`
 * give the same output. To train on the output, see `rolloutAgent`.
 *
 * @example
 * const { text } = await generateText({ model: createLanguageModel(settings), prompt: 'Hello' })
 */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel {
  const { backend, tokenizer, format, window, modelId = 'agoge' } = options
  const queue = createSampleQueue(backend)
  return languageModelFrom(modelId, format, async (call, onToken) => {
    const { messages, tools, settings, grammar, signal = new AbortController().signal } = call
    const { tokens: prompt } = format.open(messages, tools)
    checkWindow(prompt, window)
    const {
      maxTokens = options.maxTokens ?? window,
      temperature = options.temperature ?? 1,
      topP,
      topK,
      seed,
    } = settings
    const request = {
      prompt,
      key: seed === undefined ? randomUUID() : 'seeded',
      seed: seed ?? 0,
      maxTokens: Math.min(maxTokens, window - prompt.length),
      temperature,
      stop: format.stop,
      ...(settings.stop.length === 0 ? {} : { stopSequences: settings.stop }),
      ...defined({ topP, topK, grammar }),
    }
    const [output] = await queue.sample([request], { signal, ...defined({ onToken }) })
    const raw = (tokens: Int32Array): string => tokenizer.decode(tokens)
    const id = randomUUID().slice(0, 8)
    return { prompt, output, said: readAnswer(output.tokens, format, call, raw, (i) => `${id}.${i}`) }
  })
}

/** @throws AgogeError `sequence-too-long` if the prompt leaves no space for an answer. */
export function checkWindow(prompt: Int32Array, window: number): void {
  if (prompt.length > 0 && prompt.length < window) return
  throw new AgogeError('The conversation does not fit into the window of the model.', {
    code: 'sequence-too-long',
    given: `${prompt.length} tokens`,
    expected: `1 to ${window - 1}`,
  })
}
