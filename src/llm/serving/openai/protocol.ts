import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'

/** An error for the client in OpenAI's format. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message)
    this.name = 'RequestError'
    this.status = status
    this.code = code
    this.param = param
  }
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** Longer messages say back what they were sent. */
const longestMessage = 1000

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`

/** The body of an error in OpenAI's format. */
export function openAIError({ status, code, message, param }: Omit<RequestError, 'name'>): Json {
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return { error: { message: shortened(message, longestMessage), type, param, code } }
}

/** The same as a text. An aborted request failed for the reason of its `signal`. */
const errorBody = (error: unknown, signal?: AbortSignal): string =>
  JSON.stringify(openAIError(asRequestError(error, signal)))

/** The response to a failed request. */
export function errorResponse(
  error: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Response {
  const { status } = asRequestError(error, signal)
  return new Response(errorBody(error, signal), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '1' } : {}),
      ...headers,
    },
  })
}

/** Error codes caused by the request. */
const requestCodes = new Set([
  'bad-sampling-options',
  'bad-grammar',
  'grammar-too-large',
  'unsupported-schema',
  'unsupported-pattern',
])

export function asRequestError(given: unknown, signal?: AbortSignal): RequestError {
  const error: unknown = signal?.reason instanceof RequestError ? signal.reason : given
  if (error instanceof RequestError) return error
  if (AgogeError.isInstance(error) && error.code === 'overloaded') {
    return new RequestError(
      429,
      'overloaded',
      `${error.message} ${String(error.given)} do; expected ${error.expected}`,
    )
  }
  if (AgogeError.isInstance(error) && requestCodes.has(error.code)) {
    return new RequestError(400, 'invalid_value', `${error.message}: expected ${error.expected ?? 'others'}`)
  }
  return new RequestError(500, 'internal_error', error instanceof Error ? error.message : String(error))
}

/** The beginning of a value, as JSON. */
export function shownValue(value: unknown): string {
  const most = 200
  const shown = JSON.stringify(typeof value === 'string' ? value.slice(0, most) : value)
  return shown === undefined ? 'nothing' : shown.slice(0, most)
}

/** An error about a field. */
export function badField(param: string, given: unknown, expected: string): RequestError {
  const problem = `${param}: expected ${expected}, given ${shownValue(given)}`
  return new RequestError(400, 'invalid_value', problem, param)
}

/** How a response is sent: as one body, or as events. */
export interface Reply {
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  json(body: unknown): void
  /** Opens a stream of server-sent events. Each call of the returned function sends one event. */
  events(): { send: (body: unknown) => void; end: () => void }
}

/**
 * Runs `answer`. Resolves with the response at its body or first event, so that an earlier error keeps its status. A later error
 * becomes the last event of the stream.
 */
export function respond(signal: AbortSignal, answer: (reply: Reply) => Promise<void>): Promise<Response> {
  const encoder = new TextEncoder()
  let events: ReadableStreamDefaultController<Uint8Array> | undefined
  const write = (text: string): void => events?.enqueue(encoder.encode(text))
  const end = (text: string): void => {
    write(text)
    events?.close()
  }
  return new Promise((resolve, reject) => {
    const reply: Reply = {
      signal,
      json: (body) => resolve(Response.json(body)),
      events() {
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            events = controller
          },
          // The client has disconnected.
          cancel() {
            events = undefined
          },
        })
        resolve(
          new Response(stream, {
            headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
          }),
        )
        return {
          send: (body) => write(`data: ${JSON.stringify(body)}\n\n`),
          end: () => end('data: [DONE]\n\n'),
        }
      },
    }
    answer(reply).catch((error: unknown) => {
      if (events === undefined) reject(error)
      else end(`data: ${errorBody(error, signal)}\n\n`)
    })
  })
}

export type Json = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A number between the bounds; undefined if it is missing or null. */
export function numberField(
  body: Json,
  name: string,
  {
    least = -Infinity,
    most = Infinity,
    whole = false,
  }: { least?: number; most?: number; whole?: boolean } = {},
): number | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || value < least || value > most || (whole && !Number.isSafeInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number'
    const range = `${least === -Infinity ? '' : ` of at least ${least}`}${most === Infinity ? '' : ` and at most ${most}`}`
    throw badField(name, value, `${kind}${range}`)
  }
  return value
}

/** `of` is the object that the field is in, if not the body itself. */
export function booleanField(body: Json, name: string, of?: string, otherwise = false): boolean {
  const value = body[name]
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'boolean')
    throw badField(of === undefined ? name : `${of}.${name}`, value, 'true or false')
  return value
}

/** An object; an empty one if it is missing or null. */
function optionalRecord(body: Json, name: string): Json {
  const value = body[name] ?? {}
  if (!isRecord(value)) throw badField(name, value, 'an object')
  return value
}

/** Unsupported fields that would change the output. They are refused unless they have no effect. */
export function refuseFields(body: Json, names: readonly string[]): void {
  for (const name of names) {
    const value = body[name]
    const empty = isRecord(value) ? Object.keys(value).length === 0 : !value
    if (!empty) throw badField(name, value, 'nothing, for this server does not know the field')
  }
}

/** Sampling settings of a request, by their names in the protocol. */
export interface SamplingFields {
  maxTokens: number | undefined
  temperature: number
  topP?: number
  topK?: number
  minP?: number
  seed?: number
  /** Texts that end the output and are not part of it. */
  stop: string[]
  n: number
  stream: boolean
  includeUsage: boolean
  returnTokenIds: boolean
}

const unknown = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'best_of', 'use_beam_search']

/** Parses the fields shared by chat and text completions. Ignores unknown fields that do not affect the output. */
export function readSampling(body: Json): SamplingFields {
  refuseFields(body, unknown)
  const { repetition_penalty: repetition } = body
  if (repetition !== undefined && repetition !== null && repetition !== 1)
    throw badField('repetition_penalty', repetition, '1 or nothing')
  const topP = numberField(body, 'top_p', { least: 0, most: 1 })
  if (topP === 0) throw badField('top_p', topP, 'a number above 0')
  const topK = numberField(body, 'top_k', { least: -1, whole: true })
  const minP = numberField(body, 'min_p', { least: 0, most: 1 })
  const seed = numberField(body, 'seed', { whole: true })
  return {
    maxTokens:
      numberField(body, 'max_completion_tokens', { least: 1, whole: true }) ??
      numberField(body, 'max_tokens', { least: 1, whole: true }),
    temperature: numberField(body, 'temperature', { least: 0, most: 100 }) ?? 1,
    ...defined({ topP }),
    ...(topK === undefined || topK < 1 ? {} : { topK }),
    ...defined({ minP, seed }),
    stop: readStop(body['stop']),
    n: numberField(body, 'n', { least: 1, most: 128, whole: true }) ?? 1,
    stream: booleanField(body, 'stream'),
    includeUsage: booleanField(optionalRecord(body, 'stream_options'), 'include_usage', 'stream_options'),
    returnTokenIds: booleanField(body, 'return_token_ids'),
  }
}

const mostStops = 64
const longestStop = 1000

export function readStop(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.some((text) => typeof text !== 'string' || text === ''))
    throw badField('stop', value, 'a text, or a list of texts, none of them empty')
  // Each stop text is searched after every token.
  if (list.length > mostStops || list.some((text: string) => text.length > longestStop))
    throw badField('stop', value, `at most ${mostStops} texts of at most ${longestStop} characters`)
  return list as string[]
}
