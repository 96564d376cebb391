import { randomUUID } from 'node:crypto'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { ChatFormat, ChatOutput } from '../../agent/chat-format/types.ts'
import { createOutputStream, cutAtStop } from '../../agent/chat-format/template-output.ts'
import type { SampleQueue } from '../../agent/sample-queue.ts'
import type { GrammarCompiler } from '../../grammar/compiler.ts'
import type { SampleOutput } from '../../model-backend.ts'
import { type ChatRequest, readChatRequest } from './chat-request.ts'
import type { Json, Reply } from './protocol.ts'
import {
  chatLogprobs,
  generate,
  type GenerateOptions,
  type ServedModel,
  usageOf,
  withinWindow,
} from './generate.ts'
import { RequestError } from './protocol.ts'

/** The output, without the texts that ended it. */
function readOutput(
  output: Int32Array,
  request: ChatRequest,
  { tokenizer }: ServedModel,
  format: ChatFormat,
): ChatOutput {
  const read = format.read(output)
  const raw = (): string => {
    const end = output.findIndex((id) => format.stop.includes(id))
    return tokenizer.decode(end < 0 ? output : output.subarray(0, end))
  }
  const calls = read.calls.filter(({ name }) => request.tools.some((tool) => tool.name === name))
  const thought = read.reasoning === undefined ? {} : { reasoning: read.reasoning }
  const isAttempt = read.invalid !== undefined && request.callsAllowed
  // Invalid calls, and calls when none were offered, are returned as text.
  const plain = isAttempt
    ? { ...thought, text: raw(), calls: [] }
    : read.invalid !== undefined || calls.length < read.calls.length
      ? { ...thought, text: format.plain(output), calls }
      : read
  return {
    ...plain,
    text: cutAtStop(plain.text, request.stop),
    calls: request.parallel ? plain.calls : plain.calls.slice(0, 1),
  }
}

/** Tool calls in the protocol's format. */
function wireCalls(calls: ChatOutput['calls']): Json[] {
  return calls.map(({ name, arguments: given }) => ({
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
}

const finishOf = (output: SampleOutput, calls: readonly unknown[]): string =>
  calls.length > 0 ? 'tool_calls' : output.finish

function totalTokens(outputs: readonly SampleOutput[]): number {
  return outputs.reduce((sum, { tokens }) => sum + tokens.length, 0)
}

interface StreamContext {
  model: ServedModel
  format: ChatFormat
  reply: Reply
  /** Fields that every event has in common. */
  head: Json
  asked: Omit<GenerateOptions, 'client'>
}

/**
 * A chat completion as server-sent events. Text and reasoning are sent as they are drawn, with their tokens if the client asked
 * for log-probabilities. Calls are sent whole at the end, when it is known whether they are valid. So are log-probabilities with
 * alternatives (`top_logprobs`).
 */
async function streamChat(
  request: ChatRequest,
  prompt: Int32Array,
  { model, format, reply, head, asked }: StreamContext,
): Promise<void> {
  // The first event opens the stream, so that an earlier error still has its status.
  let events: ReturnType<Reply['events']> | undefined
  const open = (): ReturnType<Reply['events']> => (events ??= reply.events())
  const object = 'chat.completion.chunk'
  const { tokenizer } = model
  const withIds = request.returnTokenIds
  const choices = Array.from({ length: request.n }, (_, index) => {
    const stream = createOutputStream(format, request.stop)
    return { index, stream, started: false, untold: { tokens: [] as number[], logprobs: [] as number[] } }
  })

  type Choice = (typeof choices)[number]

  function chunk({ index }: Choice, delta: Json, choice: Json = {}, top: Json = {}): void {
    open().send({
      ...head,
      object,
      choices: [{ index, delta, logprobs: null, finish_reason: null, ...choice }],
      ...top,
    })
  }

  function start(choice: Choice): void {
    if (choice.started) return
    choice.started = true
    const ids = withIds ? { prompt_token_ids: Array.from(prompt) } : {}
    chunk(choice, { role: 'assistant', content: '' }, {}, ids)
  }

  /** The tokens since the last event, if the client wants them. */
  function reportTokens({ untold }: Choice): Json {
    const { tokens, logprobs } = untold
    const drawn = {
      tokens: Int32Array.from(tokens.splice(0)),
      logprobs: Float32Array.from(logprobs.splice(0)),
    }
    return {
      ...(withIds ? { token_ids: Array.from(drawn.tokens) } : {}),
      ...(request.logprobs && request.topLogprobs === 0
        ? { logprobs: { content: chatLogprobs(tokenizer, drawn) } }
        : {}),
    }
  }

  const onToken = (index: number, token: number, logprob: number): void => {
    const choice = choices[index]
    start(choice)
    choice.untold.tokens.push(token)
    choice.untold.logprobs.push(logprob)
    const { text, reasoning } = choice.stream.push(token)
    if (text !== '' || reasoning !== '') chunk(choice, deltaOf(text, reasoning), reportTokens(choice))
  }

  const outputs = await generate([prompt], { ...asked, client: { signal: reply.signal, onToken } })
  for (const [index, output] of outputs.entries()) {
    const choice = choices[index]
    start(choice)
    const read = readOutput(output.tokens, request, model, format)
    const { text, reasoning } = choice.stream.end(read)
    const calls = wireCalls(read.calls).map((call, i) => ({ index: i, ...call }))
    const delta = { ...deltaOf(text, reasoning), ...(calls.length === 0 ? {} : { tool_calls: calls }) }
    if (Object.keys(delta).length > 0) chunk(choice, delta)
    chunk(
      choice,
      {},
      {
        finish_reason: finishOf(output, read.calls),
        ...reportTokens(choice),
        ...(request.topLogprobs > 0 ? { logprobs: { content: chatLogprobs(tokenizer, output) } } : {}),
      },
    )
  }
  if (request.includeUsage) {
    const usage = usageOf(prompt.length, totalTokens(outputs))
    open().send({ ...head, object, choices: [], usage, weight_version: outputs[0].weightVersion })
  }
  open().end()
}

function deltaOf(text: string, reasoning: string): Json {
  return {
    ...(text === '' ? {} : { content: text }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  }
}

/** `POST /v1/chat/completions`. */
export async function answerChat(
  body: Json,
  model: ServedModel,
  queue: SampleQueue,
  reply: Reply,
  compiler: GrammarCompiler,
): Promise<void> {
  const { format } = model
  if (format === undefined) {
    const problem = 'This model has no chat template; ask for a text completion (/v1/completions).'
    throw new RequestError(400, 'no_chat_template', problem, 'model')
  }
  const request = readChatRequest(body)
  const prompt = promptOf(request, format, model.window)
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: model.name }
  const grammar = grammarOf(request, format, model, compiler)
  const asked = {
    model,
    queue,
    fields: request,
    stop: format.stop,
    topLogprobs: request.topLogprobs,
    field: 'messages' as const,
    ...defined({ grammar }),
  }
  if (!request.stream) {
    const outputs = await generate([prompt], { ...asked, client: { signal: reply.signal } })
    reply.json({
      ...head,
      object: 'chat.completion',
      weight_version: outputs[0].weightVersion,
      choices: outputs.map((output, index) => choiceOf(output, index, request, model, format)),
      usage: usageOf(prompt.length, totalTokens(outputs)),
      ...(request.returnTokenIds ? { prompt_token_ids: Array.from(prompt) } : {}),
    })
    return
  }
  await streamChat(request, prompt, { model, format, reply, head, asked })
}

function promptOf({ messages, tools }: ChatRequest, format: ChatFormat, window: number): Int32Array {
  try {
    return withinWindow(window, 'messages', (most) => format.open(messages, tools, most).tokens)
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
    // Clients need not know which files the model is of.
    const problem =
      error.code === 'chat-template-failed' ? 'The chat template refuses the conversation' : error.message
    throw new RequestError(400, 'invalid_conversation', `${problem}: ${String(error.given)}`, 'messages')
  }
}

/**
 * Grammars up to this many characters, made by the chat format from the client's tool names, are cheap to compile: those of some 40
 * tools.
 */
const smallGrammar = 4096

/** The grammar of the output. A required call comes first, then `response_format`, then text with calls of the offered tools. */
function grammarOf(
  { demanded, grammar, tools, parallel }: ChatRequest,
  format: ChatFormat,
  { backend }: ServedModel,
  compiler: GrammarCompiler,
): GenerateOptions['grammar'] {
  if (demanded === undefined && grammar !== undefined)
    return { allowed: grammar, compiler, field: 'response_format' }
  if (demanded === undefined) {
    // Remote backends support no grammars; their output is only parsed.
    if (backend.continuousBatching === undefined) return undefined
    const allowed = format.outputGrammar(tools, parallel ? undefined : 1)
    if (allowed === undefined) return undefined
    // Ordinary chats do not wait for the grammars of others.
    const isSmall = JSON.stringify(allowed).length <= smallGrammar
    return { allowed, field: 'tools', ...(!isSmall && { compiler }) }
  }
  const allowed = format.callGrammar(demanded)
  if (allowed !== undefined) return { allowed, compiler, field: 'tools' }
  throw new RequestError(
    400,
    'invalid_value',
    'The chat template of this model knows no calls.',
    'tool_choice',
  )
}

function choiceOf(
  output: SampleOutput,
  index: number,
  request: ChatRequest,
  model: ServedModel,
  format: ChatFormat,
): Json {
  const { text, reasoning, calls } = readOutput(output.tokens, request, model, format)
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...defined({ reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: wireCalls(calls) }),
    },
    logprobs: request.logprobs ? { content: chatLogprobs(model.tokenizer, output) } : null,
    finish_reason: finishOf(output, calls),
    ...(request.returnTokenIds ? { token_ids: Array.from(output.tokens) } : {}),
  }
}
