import { randomUUID } from 'node:crypto'
import { defined } from '../../defined.ts'
import { checkWindow, languageModelFrom, readAnswer } from '../agent/ai-sdk/language-model.ts'
import type { LanguageModel } from '../agent/ai-sdk/read-call.ts'
import type { ChatFormat } from '../agent/chat-format/types.ts'
import { createJoiningQueue, createSampleQueue } from '../agent/sample-queue.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import type { ModelBackend } from '../model-backend.ts'
import { createRecorder, recordSaid } from '../rollout/agents/recorder.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { Recording, Session } from './sessions.ts'

/** A model that the gateway asks, and whose calls it records. */
export interface GatewayModel {
  /** Its name for clients. */
  name: string
  /** Opens the model for a session. */
  open: (session: Pick<Session, 'restored'>) => RecordedModel
}

export interface RecordedModel {
  model: LanguageModel
  record: Recording
}

export interface LocalModelOptions {
  name: string
  /** With `continuousBatching`, new calls join running ones at the next token. */
  backend: Pick<ModelBackend, 'sample'> & Partial<Pick<LocalBackend, 'continuousBatching'>>
  tokenizer: Tokenizer
  format: ChatFormat
  /** Context window in tokens. */
  window: number
  /** Most rows that wait or are being sampled. Further calls get status 429. Default: 256. */
  mostRows?: number
}

/**
 * A model of this process. Its sessions have the exact tokens, log-probabilities and masks: a call that continues an earlier one begins
 * with the tokens of that one, whatever its client made of the text.
 */
export function localGatewayModel(options: LocalModelOptions): GatewayModel {
  const { name, backend, tokenizer, format, window, mostRows = 256 } = options
  const { continuousBatching } = backend
  const queue =
    continuousBatching === undefined
      ? createSampleQueue(backend, mostRows)
      : createJoiningQueue({ continuousBatching }, mostRows)
  const raw = (tokens: Int32Array): string => tokenizer.decode(tokens)

  function open(session: Pick<Session, 'restored'>): RecordedModel {
    const recorder = createRecorder(format)
    const model = languageModelFrom(name, format, async (call, onToken) => {
      const { tools, settings, grammar, signal = new AbortController().signal } = call
      const placed = recorder.place(session.restored({ messages: call.messages, tools }), tools)
      checkWindow(placed.prompt, window)
      const { maxTokens = window, temperature = 1, topP, topK, seed } = settings
      const sampling = { temperature, ...defined({ topP, topK }) }
      const request = {
        prompt: placed.prompt,
        key: seed === undefined ? randomUUID() : 'seeded',
        seed: seed ?? 0,
        maxTokens: Math.min(maxTokens, window - placed.prompt.length),
        stop: format.stop,
        ...sampling,
        ...(settings.stop.length === 0 ? {} : { stopSequences: settings.stop }),
        ...defined({ grammar }),
      }
      const [output] = await queue.sample([request], { signal, ...defined({ onToken }) })
      const id = randomUUID().replaceAll('-', '').slice(0, 16)
      const said = readAnswer(output.tokens, format, call, raw, (i) => `call_${id}_${i}`)
      // What a grammar forced says less about the policy than its log-probabilities do.
      recordSaid(recorder, placed, { output, said }, { sampling, trainable: grammar === undefined })
      return { prompt: placed.prompt, output, said }
    })
    return { model, record: recorder.record }
  }
  return { name, open }
}
