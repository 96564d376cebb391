import { AgogeError } from '../../error.ts'

/** Why a call of a model failed, and what follows. */
export interface CallFailure {
  /**
   * `passing`: try again. `lasting`: the service cannot answer this call; the trial is masked. `agent`: the agent's conversation is too
   * long for the model; the trial has failed. `mistake`: no call can succeed; the evaluation ends.
   */
  kind: 'passing' | 'lasting' | 'agent' | 'mistake'
  error: Error
  /** True if the service refused the call before it did any work. */
  isFree: boolean
  /** What the service asks to wait, at most a minute. */
  waitSeconds?: number
}

/**
 * Reads an error that a model object of the AI SDK threw: by its HTTP status where it has one.
 *
 * @param timeout seconds of the time limit, if it was that which ended the call.
 */
export function failureOf(error: unknown, timeout: number | undefined): CallFailure {
  const text = error instanceof Error ? error.message : String(error)
  if (timeout !== undefined)
    return { kind: 'passing', error: new Error(`the model gave no answer in ${timeout} s`), isFree: false }
  if (AgogeError.isInstance(error))
    return { kind: error.code === 'sequence-too-long' ? 'agent' : 'mistake', error, isFree: true }
  const { name, statusCode, responseBody, responseHeaders } = error as Partial<ApiError>
  const cause = error instanceof Error ? error : new Error(text)
  if (
    name === 'AI_LoadAPIKeyError' ||
    name === 'AI_NoSuchModelError' ||
    name === 'GatewayAuthenticationError'
  )
    return { kind: 'mistake', error: refusal(text, cause), isFree: true }
  if (typeof statusCode !== 'number') return { kind: 'passing', error: cause, isFree: false }
  const said = `HTTP ${statusCode}: ${text}`.slice(0, 500)
  const isFree = statusCode >= 400 && statusCode < 500 && statusCode !== 408 && statusCode !== 499
  if (isPassing(statusCode)) {
    const wait = retryAfter(responseHeaders?.['retry-after'])
    const kept = wait === undefined ? {} : { waitSeconds: wait }
    return { kind: 'passing', error: new Error(said, { cause }), isFree, ...kept }
  }
  if (saysTooLong(statusCode, `${text} ${responseBody ?? ''}`))
    return { kind: 'agent', error: tooLong(said, cause), isFree }
  if ([401, 402, 403, 404].includes(statusCode))
    return { kind: 'mistake', error: refusal(said, cause), isFree }
  return { kind: 'lasting', error: new Error(said, { cause }), isFree }
}

/** Fields of the AI SDK's `APICallError`. */
interface ApiError {
  name: string
  statusCode: number
  responseBody: string
  responseHeaders: Record<string, string>
}

function refusal(given: string, cause: Error): AgogeError {
  return new AgogeError('the model refuses all calls', {
    code: 'model-endpoint-refused',
    given,
    expected: 'a model that answers with the key and the name it was given',
    hint: 'Check the key, the account and the name of the model',
    cause,
  })
}

function tooLong(given: string, cause: Error): AgogeError {
  return new AgogeError('the conversation does not fit into the window of the model', {
    code: 'sequence-too-long',
    given,
    cause,
  })
}

/** HTTP statuses after which the same request may succeed. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500
}

/** Codes of OpenAI, llama.cpp and Agoge's own server, and messages of Anthropic, vLLM, SGLang and gateways. */
export function saysTooLong(status: number, answer: string): boolean {
  const words =
    /context_length_exceeded|exceed_context_size|prompt is too long|(maximum|available) (model )?context (length|size|window)/i
  return (status === 400 || status === 413) && words.test(answer)
}

/** Seconds to wait by `Retry-After`, given in seconds or as a date; at most a minute. */
export function retryAfter(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) : undefined
}
