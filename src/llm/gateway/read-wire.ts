import { isRecord } from '../../untrusted/schema-check.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { Json } from '../serving/openai/protocol.ts'
import { addPart, type Answer, type Finish } from './answer.ts'
import type { Protocol } from './protocol.ts'

// What a service answered, as it is recorded. The bytes go to the client as they are, whatever is found here.

/** Exact tokens, from a service that gives their ids. */
export interface WireTokens {
  prompt: Int32Array
  output: Int32Array
  logprobs: Float32Array
}

export interface WireAnswer {
  /** One for each choice. */
  answers: { answer: Answer; tokens?: WireTokens }[]
  /** The id by which later requests may refer to it. */
  id: string | undefined
}

/**
 * Reads the body of an answer: JSON, or the events of a stream.
 *
 * @throws Error if it is not whole, or is none of the protocol.
 */
export function readWire(protocol: Protocol, contentType: string, text: string): WireAnswer {
  const isStream = contentType.includes('text/event-stream')
  if (!isStream) {
    const body = parseForeignJson(text)
    if (!isRecord(body)) throw new Error('the answer is no JSON object')
    return readers[protocol.path].body(body)
  }
  const events = text
    .split(/\r?\n\r?\n/)
    .map((event) => /^data: ?(.*)$/m.exec(event)?.[1] ?? '')
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => parseForeignJson(data))
    .filter(isRecord)
  const failed = events.find((event) => event['type'] === 'error' || isRecord(event['error']))
  if (failed !== undefined)
    throw new Error(`the stream ended with an error: ${JSON.stringify(failed).slice(0, 300)}`)
  return readers[protocol.path].events(events)
}

interface Reader {
  body: (body: Json) => WireAnswer
  events: (events: readonly Json[]) => WireAnswer
}

const notWhole = (): Error => new Error('the stream ended before the answer did')
const emptyAnswer = (): Answer => ({ blocks: [], finish: 'stop', usage: { input: 0, output: 0 } })
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : [])
const record = (value: unknown): Json => (isRecord(value) ? value : {})

const finishes: Readonly<Record<string, Finish>> = {
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'content-filter',
  refusal: 'content-filter',
}
const finishOf = (reason: unknown): Finish => finishes[text(reason)] ?? 'stop'

/** Adds a message, or a delta of one, of Chat Completions. */
function addChatDelta(answer: Answer, delta: Json, ids: Map<number, string>): void {
  const thought = text(delta['reasoning_content'] ?? delta['reasoning'])
  if (thought !== '') addPart(answer, { type: 'reasoning', text: thought })
  const said = text(delta['content']) + text(delta['refusal'])
  if (said !== '') addPart(answer, { type: 'text', text: said })
  for (const [at, call] of list(delta['tool_calls']).entries()) {
    const index = typeof call['index'] === 'number' ? call['index'] : at
    const { name, arguments: written } = record(call['function'])
    if (!ids.has(index)) {
      ids.set(index, text(call['id']) || `call-${index}`)
      addPart(answer, { type: 'call', id: ids.get(index) ?? '', name: text(name) })
    }
    addPart(answer, { type: 'arguments', id: ids.get(index) ?? '', text: text(written) })
  }
}

/** The ids and log-probabilities that vLLM, SGLang and Agoge give for `return_token_ids`. */
function tokensOf(
  prompt: unknown,
  output: readonly unknown[],
  logprobs: readonly unknown[],
): WireTokens | undefined {
  const areIds = (ids: unknown): ids is number[] =>
    Array.isArray(ids) && ids.every((id) => Number.isInteger(id))
  if (!areIds(prompt) || !areIds(output) || output.length === 0 || logprobs.length !== output.length)
    return undefined
  return {
    prompt: Int32Array.from(prompt),
    output: Int32Array.from(output),
    logprobs: Float32Array.from(logprobs.map((one) => count(record(one)['logprob']))),
  }
}

const logprobsOf = (choice: Json): Json[] => list(record(choice['logprobs'])['content'])
const idsOf = (choice: Json): unknown[] => (Array.isArray(choice['token_ids']) ? choice['token_ids'] : [])

interface ChatChoice {
  answer: Answer
  calls: Map<number, string>
  ids: unknown[]
  logprobs: Json[]
}

const chat: Reader = {
  body(body) {
    const { prompt_tokens: input, completion_tokens: output } = record(body['usage'])
    const answers = list(body['choices']).map((choice) => {
      const answer = emptyAnswer()
      addChatDelta(answer, record(choice['message']), new Map())
      const usage = { input: count(input), output: count(output) }
      const tokens = tokensOf(
        choice['prompt_token_ids'] ?? body['prompt_token_ids'],
        idsOf(choice),
        logprobsOf(choice),
      )
      return {
        answer: { ...answer, finish: finishOf(choice['finish_reason']), usage },
        ...(tokens !== undefined && { tokens }),
      }
    })
    if (answers.length === 0) throw new Error('the answer has no choices')
    return { answers, id: undefined }
  },
  events(events) {
    const choices = new Map<number, ChatChoice>()
    let prompt: unknown
    const whole = new Set<number>()
    let usage = { input: 0, output: 0 }
    for (const event of events) {
      prompt ??= event['prompt_token_ids']
      const counted = record(event['usage'])
      if (isRecord(event['usage']))
        usage = { input: count(counted['prompt_tokens']), output: count(counted['completion_tokens']) }
      for (const choice of list(event['choices'])) {
        const index = count(choice['index'])
        const known: ChatChoice = choices.get(index) ?? {
          answer: emptyAnswer(),
          calls: new Map(),
          ids: [],
          logprobs: [],
        }
        choices.set(index, known)
        prompt ??= choice['prompt_token_ids']
        addChatDelta(known.answer, record(choice['delta']), known.calls)
        known.ids.push(...idsOf(choice))
        known.logprobs.push(...logprobsOf(choice))
        if (typeof choice['finish_reason'] !== 'string') continue
        known.answer.finish = finishOf(choice['finish_reason'])
        whole.add(index)
      }
    }
    if (choices.size === 0 || whole.size < choices.size) throw notWhole()
    const answers = [...choices.values()].map(({ answer, ids, logprobs }) => {
      const tokens = tokensOf(prompt, ids, logprobs)
      return { answer: { ...answer, usage }, ...(tokens !== undefined && { tokens }) }
    })
    return { answers, id: undefined }
  },
}

const responses: Reader = {
  body(body) {
    const answer = emptyAnswer()
    if (body['status'] === 'failed' || body['status'] === 'in_progress' || body['status'] === 'queued')
      throw new Error(`the response is ${body['status']}`)
    for (const item of list(body['output'])) {
      if (item['type'] === 'function_call') {
        const id = text(item['call_id'])
        addPart(answer, { type: 'call', id, name: text(item['name']) })
        addPart(answer, { type: 'arguments', id, text: text(item['arguments']) })
      } else if (item['type'] === 'message')
        for (const part of list(item['content']))
          addPart(answer, { type: 'text', text: text(part['text']) + text(part['refusal']) })
      else if (item['type'] === 'reasoning')
        for (const part of [...list(item['summary']), ...list(item['content'])])
          addPart(answer, { type: 'reasoning', text: text(part['text']) })
    }
    const { input_tokens: input, output_tokens: output } = record(body['usage'])
    return {
      answers: [
        {
          answer: {
            ...answer,
            finish: finishOf(record(body['incomplete_details'])['reason']),
            usage: { input: count(input), output: count(output) },
          },
        },
      ],
      id: text(body['id']) || undefined,
    }
  },
  events(events) {
    const ends = ['response.completed', 'response.incomplete', 'response.failed']
    const last = events.findLast(({ type }) => ends.includes(text(type)))
    if (last === undefined) throw notWhole()
    return responses.body(record(last['response']))
  },
}

const messages: Reader = {
  body(body) {
    const answer = emptyAnswer()
    for (const block of list(body['content'])) addBlock(answer, block)
    const { input_tokens: input, output_tokens: output } = record(body['usage'])
    const usage = { input: count(input), output: count(output) }
    if (body['type'] !== 'message') throw new Error('the answer is no message')
    return {
      answers: [{ answer: { ...answer, finish: finishOf(body['stop_reason']), usage } }],
      id: undefined,
    }
  },
  events(events) {
    const answer = emptyAnswer()
    const ids = new Map<unknown, string>()
    let isWhole = false
    for (const event of events) {
      const { type, index } = event
      const usage = record(event['usage'] ?? record(event['message'])['usage'])
      if (typeof usage['input_tokens'] === 'number') answer.usage.input = usage['input_tokens']
      if (typeof usage['output_tokens'] === 'number') answer.usage.output = usage['output_tokens']
      if (type === 'content_block_start') {
        const block = record(event['content_block'])
        ids.set(index, text(block['id']))
        addBlock(answer, block['type'] === 'tool_use' ? { ...block, input: undefined } : block)
      } else if (type === 'content_block_delta') {
        const delta = record(event['delta'])
        if (delta['type'] === 'text_delta') addPart(answer, { type: 'text', text: text(delta['text']) })
        else if (delta['type'] === 'thinking_delta')
          addPart(answer, { type: 'reasoning', text: text(delta['thinking']) })
        else if (delta['type'] === 'input_json_delta')
          addPart(answer, { type: 'arguments', id: ids.get(index) ?? '', text: text(delta['partial_json']) })
      } else if (type === 'message_delta') answer.finish = finishOf(record(event['delta'])['stop_reason'])
      else if (type === 'message_stop') isWhole = true
    }
    if (!isWhole) throw notWhole()
    return { answers: [{ answer }], id: undefined }
  },
}

function addBlock(answer: Answer, block: Json): void {
  const { type, id, name, input } = block
  if (type === 'text') addPart(answer, { type, text: text(block['text']) })
  else if (type === 'thinking') addPart(answer, { type: 'reasoning', text: text(block['thinking']) })
  else if (type === 'tool_use') {
    addPart(answer, { type: 'call', id: text(id), name: text(name) })
    if (input !== undefined) addPart(answer, { type: 'arguments', id: text(id), text: JSON.stringify(input) })
  }
}

const readers: Readonly<Record<string, Reader>> = {
  'chat/completions': chat,
  responses,
  messages,
}
