/** An error that the client is told in OpenAI's shape. */
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

/** The body of an error, as clients of OpenAI's protocol read it. */
export function errorBody({ status, code, message, param }: RequestError): string {
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return JSON.stringify({ error: { message, type, param, code } })
}

/** A field that is wrong. */
export function badField(param: string, given: unknown, expected: string): RequestError {
  const shown = JSON.stringify(given)
  return new RequestError(
    400,
    'invalid_value',
    `${param}: expected ${expected}, given ${shown === undefined ? 'nothing' : shown.slice(0, 200)}`,
    param,
  )
}
