import { randomUUID } from 'node:crypto'
import { cutAtStop, wholeCharacters, withoutBegunMark } from '../../agent/chat-format/template-output.ts'
import type { SampleQueue } from '../../agent/sample-queue.ts'
import type { SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { badField, booleanField, numberField, readSampling, refuseFields } from './protocol.ts'
import type { Json, Reply, SamplingFields } from './protocol.ts'
import { generate, type ServedModel, textLogprobs, usageOf, withinWindow } from './generate.ts'

interface TextRequest extends SamplingFields {
  /** Token ids of each prompt. */
  prompts: Int32Array[]
  echo: boolean
  /** Number of most likely tokens to report for each token; undefined: no log-probabilities. */
  logprobs: number | undefined
}

/**
 * Parses the body of `POST /v1/completions`. Names of special tokens in a text become those tokens. Adds no tokens before the
 * prompt.
 */
function readTextRequest(body: Json, model: ServedModel, mostPrompts: number): TextRequest {
  refuseFields(body, ['suffix'])
  return {
    ...readSampling(body),
    prompts: readPrompts(body['prompt'], model, mostPrompts),
    echo: booleanField(body, 'echo'),
    logprobs: numberField(body, 'logprobs', { least: 0, most: 20, whole: true }),
  }
}

function readPrompts(prompt: unknown, { tokenizer, window }: ServedModel, mostPrompts: number): Int32Array[] {
  const expected = 'a text, a list of texts, token ids, or a list of lists of token ids'
  const isIds = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id))
  /** Int32Array keeps the lowest 32 bits: without this check, 4294967301 would be token 5. */
  const tokensOf = (ids: readonly number[]): Int32Array => {
    const tokens = Int32Array.from(ids)
    const wrong = ids.find((id, i) => id !== tokens[i])
    if (wrong !== undefined) throw badField('prompt', wrong, 'ids of tokens')
    return tokens
  }
  const list: unknown[] = isIds(prompt) || !Array.isArray(prompt) ? [prompt] : prompt
  if (list.length === 0) throw badField('prompt', prompt, expected)
  if (list.length > mostPrompts) throw badField('prompt', `${list.length} prompts`, `at most ${mostPrompts}`)
  return list.map((one) => {
    if (typeof one === 'string' && one !== '')
      return withinWindow(window, 'prompt', (most) => tokenizer.encode(one, { addedTokens: true, most }))
    if (isIds(one)) return tokensOf(one)
    throw badField('prompt', one, expected)
  })
}

/** `POST /v1/completions`. When streaming, sends each choice as it grows. */
export async function answerText(
  body: Json,
  model: ServedModel,
  queue: SampleQueue,
  reply: Reply,
): Promise<void> {
  const { tokenizer } = model
  const request = readTextRequest(body, model, queue.limit)
  if (request.stream && request.echo) throw badField('echo', true, 'false together with stream')
  const head = {
    id: `cmpl-${randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: model.name,
  }
  const stop = model.format?.stop ?? []
  const asked = {
    model,
    queue,
    fields: request,
    stop,
    topLogprobs: request.logprobs ?? 0,
    field: 'prompt' as const,
  }
  const { prompts, n } = request
  const usage = (outputs: readonly SampleOutput[]): Json =>
    usageOf(
      prompts.reduce((sum, prompt) => sum + prompt.length, 0),
      outputs.reduce((sum, output) => sum + output.tokens.length, 0),
    )
  if (!request.stream) {
    const outputs = await generate(prompts, { ...asked, client: { signal: reply.signal } })
    reply.json({
      ...head,
      weight_version: outputs[0].weightVersion,
      choices: outputs.map((output, index) =>
        choiceOf(output, index, prompts[Math.floor(index / n)], request, tokenizer, stop),
      ),
      usage: usage(outputs),
    })
    return
  }
  let events: ReturnType<Reply['events']> | undefined
  const send = (index: number, choice: Json): void => {
    events ??= reply.events()
    events.send({ ...head, choices: [{ index, logprobs: null, finish_reason: null, ...choice }] })
  }
  const texts = new Map<number, { tokens: number[]; sent: string }>()
  const onToken = (index: number, token: number): void => {
    const { tokens, sent } = texts.get(index) ?? { tokens: [], sent: '' }
    tokens.push(token)
    const now = textOf(Int32Array.from(tokens), tokenizer, stop, request.stop, false)
    if (now.length > sent.length) send(index, { text: now.slice(sent.length) })
    texts.set(index, { tokens, sent: now.length > sent.length ? now : sent })
  }
  const outputs = await generate(prompts, { ...asked, client: { signal: reply.signal, onToken } })
  for (const [index, output] of outputs.entries()) {
    const whole = choiceOf(output, index, prompts[Math.floor(index / n)], request, tokenizer, stop)
    const sent = texts.get(index)?.sent ?? ''
    send(index, { ...whole, text: String(whole['text']).slice(sent.length) })
  }
  if (request.includeUsage) events?.send({ ...head, choices: [], usage: usage(outputs) })
  events?.end()
}

function choiceOf(
  output: SampleOutput,
  index: number,
  prompt: Int32Array,
  request: TextRequest,
  tokenizer: Tokenizer,
  stop: readonly number[],
): Json {
  const text = textOf(output.tokens, tokenizer, stop, request.stop, true)
  return {
    index,
    text: request.echo ? tokenizer.decode(prompt) + text : text,
    logprobs: request.logprobs === undefined ? null : textLogprobs(tokenizer, output),
    finish_reason: output.finish,
    ...(request.returnTokenIds
      ? { prompt_token_ids: Array.from(prompt), token_ids: Array.from(output.tokens) }
      : {}),
  }
}

/**
 * The text without the token or stop text that ended it. While it grows, also without a possible beginning of a stop text and
 * without an incomplete character.
 */
function textOf(
  tokens: Int32Array,
  tokenizer: Tokenizer,
  stop: readonly number[],
  stops: readonly string[],
  whole: boolean,
): string {
  const end = tokens.findIndex((id) => stop.includes(id))
  const text = cutAtStop(tokenizer.decode(end < 0 ? tokens : tokens.subarray(0, end)), stops)
  return whole ? text : withoutBegunMark(wholeCharacters(text), stops)
}
