import { randomUUID } from 'node:crypto'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { ChatFormat } from '../../agent/chat-format/types.ts'
import type { QueueClient, SampleQueue } from '../../agent/sample-queue.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { GrammarCompiler } from '../../grammar/compiler.ts'
import type { ModelBackend, SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { ownTurn } from '../turns.ts'
import type { SamplingFields } from './protocol.ts'
import { badField, RequestError } from './protocol.ts'

/** A model behind the endpoint. */
export interface ServedModel {
  /** Its name for clients. */
  name: string
  /** With `continuousBatching`, new requests join running ones at the next token. Otherwise they wait for them. */
  backend: Pick<ModelBackend, 'sample'> & Partial<Pick<LocalBackend, 'continuousBatching' | 'config'>>
  tokenizer: Tokenizer
  /** Its chat format. Without one (a base model), only text completions are served. */
  format?: ChatFormat
  /** Context window in tokens. */
  window: number
}

export interface GenerateOptions {
  model: ServedModel
  queue: SampleQueue
  fields: SamplingFields
  /** Ids that end an output. */
  stop: readonly number[]
  topLogprobs: number
  /** The grammar, its compiler, and the field that it is of. Without a compiler, the sampling thread compiles it. */
  grammar?: { allowed: Grammar; compiler?: GrammarCompiler | undefined; field: 'response_format' | 'tools' }
  /** The field that the prompts are of. */
  field: PromptField
  client: QueueClient
}

/** Where a request has its prompts. */
export type PromptField = 'messages' | 'prompt'

/**
 * Samples `n` outputs of each prompt, in the order of the prompts. The same request with a `seed` gives the same output.
 *
 * @throws RequestError `context_length_exceeded` if the prompt leaves no space in the context window, `invalid_value` with the field
 * of a grammar that cannot be used.
 */
export async function generate(
  prompts: readonly Int32Array[],
  options: GenerateOptions,
): Promise<SampleOutput[]> {
  checkPrompts(prompts, options)
  try {
    const outputs = await sample(prompts, options)
    // Outputs that end with the same token come in one message.
    await ownTurn()
    return outputs
  } catch (error) {
    throw options.grammar === undefined ? error : aboutField(error, options.grammar.field)
  }
}

function checkPrompts(
  prompts: readonly Int32Array[],
  { model, queue, fields: { n }, field }: GenerateOptions,
): void {
  const { window, tokenizer, backend } = model
  if (prompts.length * n > queue.limit) {
    const expected = `at most ${queue.limit} choices, n of each prompt`
    throw badField('n', prompts.length * n, expected)
  }
  // A model may have more ids than its tokenizer has texts for.
  const size = backend.config?.vocab_size ?? tokenizer.vocabularySize
  for (const prompt of prompts) {
    if (prompt.length === 0 || prompt.length >= window) throw contextExceeded(prompt.length, window, field)
    const wrong = prompt.find((id) => id < 0 || id >= size)
    if (wrong === undefined) continue
    const problem = `There is no token ${wrong}: ids go from 0 to ${size - 1}.`
    throw new RequestError(400, 'invalid_value', problem, field)
  }
}

async function sample(
  prompts: readonly Int32Array[],
  { model: { window }, queue, fields, stop, topLogprobs, grammar, client }: GenerateOptions,
): Promise<SampleOutput[]> {
  // A schema of half a megabyte takes a while to be hashed.
  if (grammar?.compiler !== undefined) await ownTurn()
  const compiled = (await grammar?.compiler?.compile(grammar.allowed, client.signal)) ?? grammar?.allowed
  const { temperature, topP, topK, minP, seed, n } = fields
  const stream = seed === undefined ? randomUUID() : 'seeded'
  const requests = prompts.flatMap((prompt, p) =>
    Array.from({ length: n }, (_, choice) => ({
      prompt,
      key: `${stream}/${p}/${choice}`,
      maxTokens: Math.min(fields.maxTokens ?? window, window - prompt.length),
      stop,
      temperature,
      seed: seed ?? 0,
      ...(fields.stop.length === 0 ? {} : { stopSequences: fields.stop }),
      ...defined({ topP, topK, minP }),
      ...(topLogprobs === 0 ? {} : { topLogprobs }),
      ...defined({ grammar: compiled }),
    })),
  )
  return queue.sample(requests, client)
}

/** Error codes of grammars. */
const grammarCodes = new Set([
  'bad-grammar',
  'grammar-too-large',
  'unsupported-schema',
  'unsupported-pattern',
])

/** The error of a grammar with the field that it is of; any other error as it is. */
function aboutField(error: unknown, field: string): unknown {
  if (!AgogeError.isInstance(error) || !grammarCodes.has(error.code)) return error
  const problem = `${field}: ${error.message}: expected ${error.expected ?? 'others'}`
  return new RequestError(400, 'invalid_value', problem, field)
}

export function usageOf(promptTokens: number, completionTokens: number): Record<string, number> {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

function contextExceeded(tokens: number | string, window: number, field: PromptField): RequestError {
  const problem = `The prompt has ${tokens} tokens; this model sees ${window}, of which it has to write at least one.`
  return new RequestError(400, 'context_length_exceeded', problem, field)
}

/** Encodes a prompt. Refuses one that exceeds the context window before encoding all of it. */
export function withinWindow<T>(window: number, field: PromptField, encode: (most: number) => T): T {
  try {
    return encode(window - 1)
  } catch (error) {
    if (!AgogeError.isInstance(error) || error.code !== 'sequence-too-long') throw error
    throw contextExceeded(`more than ${window - 1}`, window, field)
  }
}

interface TokenText {
  token: string
  logprob: number
  bytes: number[]
}

type TokenLogprobs = TokenText & { top_logprobs: TokenText[] }

/** A token may be part of a character; it is then shown as U+FFFD. */
const textOfBytes = (bytes: Uint8Array): string => decoder.decode(bytes)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function describe(tokenizer: Tokenizer, id: number, logprob: number): TokenText {
  const bytes = tokenizer.bytes(id)
  return { token: textOfBytes(bytes), logprob, bytes: Array.from(bytes) }
}

/** `choices[].logprobs.content` of a chat completion, one entry per token. */
export function chatLogprobs(
  tokenizer: Tokenizer,
  { tokens, logprobs, topLogprobs }: Pick<SampleOutput, 'tokens' | 'logprobs' | 'topLogprobs'>,
  from = 0,
): TokenLogprobs[] {
  return Array.from(tokens.subarray(from), (id, i) => ({
    ...describe(tokenizer, id, logprobs[from + i]),
    top_logprobs: (topLogprobs?.[from + i] ?? []).map(({ token, logprob }) =>
      describe(tokenizer, token, logprob),
    ),
  }))
}

/** `choices[].logprobs` of a text completion: lists with one entry per token. */
export function textLogprobs(
  tokenizer: Tokenizer,
  { tokens, logprobs, topLogprobs }: Pick<SampleOutput, 'tokens' | 'logprobs' | 'topLogprobs'>,
): Record<string, unknown> {
  const texts = Array.from(tokens, (id) => textOfBytes(tokenizer.bytes(id)))
  let at = 0
  return {
    tokens: texts,
    token_logprobs: Array.from(logprobs),
    top_logprobs: texts.map((_, i) =>
      Object.fromEntries(
        (topLogprobs?.[i] ?? []).map(({ token, logprob }) => [textOfBytes(tokenizer.bytes(token)), logprob]),
      ),
    ),
    text_offset: texts.map((text) => {
      at += text.length
      return at - text.length
    }),
  }
}
