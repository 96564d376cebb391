import { createOutputStream } from '../../agent/chat-format/index.ts'
import type { ChatFormat } from '../../agent/chat-format/index.ts'
import { finishOf, readOutput, totalTokens, wireCalls } from './chat-output.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Json } from './fields.ts'
import { generate, usageOf } from './generate.ts'
import type { GenerateOptions } from './generate.ts'
import type { Reply } from './reply.ts'
import type { ServedModel } from './served-model.ts'
import { chatLogprobs } from './token-logprobs.ts'

interface StreamContext {
  model: ServedModel
  format: ChatFormat
  reply: Reply
  /** What every event says of the completion. */
  head: Json
  asked: Omit<GenerateOptions, 'client'>
}

/**
 * A chat completion as server-sent events. Text and thoughts come as they are drawn, with the tokens they are made of where the client
 * asked for them; calls come at the end, whole, since only then it is known whether they can be read. So do log-probabilities where
 * the likeliest tokens are wanted beside them.
 */
export async function streamChat(
  request: ChatRequest,
  prompt: Int32Array,
  { model, format, reply, head, asked }: StreamContext,
): Promise<void> {
  // Opened by the first event, so that an error before it is still answered as one.
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

  /** The tokens since the last event, as far as the client wants to hear of them. */
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
