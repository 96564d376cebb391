import { randomUUID } from 'node:crypto'
import { AgogeError } from '../../../error.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { ChatFormat } from '../chat-format/index.ts'
import { createSampleQueue } from '../sample-queue.ts'
import { languageModelFrom, readAnswer } from './language-model.ts'
import type { LanguageModel } from './types.ts'

export interface LanguageModelOptions {
  backend: Pick<ModelBackend, 'sample'>
  tokenizer: Tokenizer
  format: ChatFormat
  /** Tokens that the model can see. */
  window: number
  /** How it calls itself. Default `agoge`. */
  modelId?: string
  /** Where a call says nothing else. Default 1. */
  temperature?: number
  /** Of an answer, where a call says nothing else. Default: what the window leaves. */
  maxTokens?: number
}

/**
 * A local model as an object for the AI SDK (`specificationVersion: 'v3'`): `generateText({ model: createLanguageModel(…), … })`. Calls
 * that are made at the same time are sampled in one batch. Token ids, log-probabilities and the version of the weights are in
 * `providerMetadata.agoge`. A call with a `seed` is drawn alike each time. To train on what is said, see `rolloutAgent`.
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
      ...(topP === undefined ? {} : { topP }),
      ...(topK === undefined ? {} : { topK }),
      ...(grammar === undefined ? {} : { grammar }),
    }
    const [output] = await queue.sample([request], { signal, ...(onToken === undefined ? {} : { onToken }) })
    const raw = (tokens: Int32Array): string => tokenizer.decode(tokens)
    const id = randomUUID().slice(0, 8)
    return { prompt, output, said: readAnswer(output.tokens, format, call, raw, (i) => `${id}.${i}`) }
  })
}

/** @throws AgogeError `sequence-too-long` for a prompt that leaves no room to answer in. */
export function checkWindow(prompt: Int32Array, window: number): void {
  if (prompt.length > 0 && prompt.length < window) return
  throw new AgogeError('The conversation does not fit into the window of the model.', {
    code: 'sequence-too-long',
    given: `${prompt.length} tokens`,
    expected: `1 to ${window - 1}`,
  })
}
