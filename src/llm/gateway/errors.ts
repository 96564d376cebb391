import { AgogeError } from '../../error.ts'
import { asRequestError, type Json, RequestError } from '../serving/openai/protocol.ts'

/** Codes of errors that the request caused, with the code that clients know. */
const codes: Readonly<Record<string, string>> = {
  'sequence-too-long': 'context_length_exceeded',
  'unsupported-content': 'invalid_value',
  'no-tool-calls': 'invalid_value',
  'chat-template-failed': 'invalid_conversation',
}

/** An error of a model in the words that its client gets. */
export function toRequestError(given: unknown, signal?: AbortSignal): RequestError {
  if (given instanceof RequestError) return given
  if (AgogeError.isInstance(given) && Object.hasOwn(codes, given.code))
    return new RequestError(400, codes[given.code], `${given.message} Given: ${String(given.given)}`)
  const status = statusOf(given)
  if (given instanceof Error && status !== undefined)
    return new RequestError(status, 'upstream_error', given.message)
  return asRequestError(given, signal)
}

/** The HTTP status of the service behind the model, if it gave one. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { statusCode } = error as { statusCode?: unknown }
  const isError = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600
  return isError ? statusCode : statusOf(error.cause)
}

const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** An error as Anthropic writes it. */
export function anthropicError({ status, message }: RequestError): Json {
  const type = anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message } }
}
