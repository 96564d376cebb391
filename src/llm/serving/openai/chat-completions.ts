import { randomUUID } from 'node:crypto'
import type { ChatFormat } from '../../agent/chat-format/index.ts'
import { AgogeError } from '../../../error.ts'
import type { GrammarCompiler } from '../../grammar/index.ts'
import type { SampleOutput } from '../../model-backend.ts'
import { finishOf, readOutput, totalTokens, wireCalls } from './chat-output.ts'
import { readChatRequest } from './chat-request.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Json } from './fields.ts'
import { generate, usageOf, withinWindow } from './generate.ts'
import type { GenerateOptions } from './generate.ts'
import type { Reply } from './reply.ts'
import { RequestError } from './request-error.ts'
import type { SampleQueue } from '../../agent/sample-queue.ts'
import type { ServedModel } from './served-model.ts'
import { streamChat } from './stream-chat.ts'
import { chatLogprobs } from './token-logprobs.ts'

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
    ...(grammar === undefined ? {} : { grammar }),
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
    return withinWindow(window, (most) => format.open(messages, tools, most).tokens)
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
    throw new RequestError(
      400,
      'invalid_conversation',
      `${error.message}: ${String(error.given)}`,
      'messages',
    )
  }
}

/** Characters of a grammar of the format's own, in which only names of tools are the client's, that make little work. */
const smallGrammar = 32_768

/** What may be said: a call that is demanded comes before the form of answers, and that before text with calls of what is offered. */
function grammarOf(
  { demanded, grammar, tools, parallel }: ChatRequest,
  format: ChatFormat,
  { backend }: ServedModel,
  compiler: GrammarCompiler,
): GenerateOptions['grammar'] {
  if (demanded === undefined && grammar !== undefined) return { allowed: grammar, compiler }
  if (demanded === undefined) {
    // Backends that are far away know no grammars: what they say is sorted out once it is there.
    if (backend.continuousBatching === undefined) return undefined
    const allowed = format.outputGrammar(tools, parallel ? undefined : 1)
    if (allowed === undefined) return undefined
    // Ordinary chats do not wait behind the grammars of others.
    return JSON.stringify(allowed).length <= smallGrammar ? { allowed } : { allowed, compiler }
  }
  const allowed = format.callGrammar(demanded)
  if (allowed !== undefined) return { allowed, compiler }
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
      ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: wireCalls(calls) }),
    },
    logprobs: request.logprobs ? { content: chatLogprobs(model.tokenizer, output) } : null,
    finish_reason: finishOf(output, calls),
    ...(request.returnTokenIds ? { token_ids: Array.from(output.tokens) } : {}),
  }
}
