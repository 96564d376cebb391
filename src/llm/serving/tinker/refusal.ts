import { AgogeError } from '../../../error.ts'
import type { ErrorCode } from '../../../error.ts'

/** Refusals that are told as an HTTP status; an error with another code is the request's fault (400) or ours (500). */
const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  'tinker-unauthorised': 401,
  'tinker-forbidden': 403,
  'tinker-not-found': 404,
  'tinker-no-such-call': 404,
  'tinker-conflict': 409,
  'tinker-gone': 410,
  'tinker-body-too-large': 413,
  'tinker-media-type': 415,
  'tinker-busy': 429,
  'tinker-closing': 503,
}

export function statusOf(error: unknown): number {
  return AgogeError.isInstance(error) ? (statuses[error.code] ?? 400) : 500
}

export function refuse(
  code: ErrorCode,
  message: string,
  details: { given?: unknown; expected?: string; hint?: string } = {},
): AgogeError {
  return new AgogeError(message, { code, ...details })
}

/** What is wrong, in one text: all that a client of another make shows its user. */
export function refusalText(error: unknown): string {
  if (!AgogeError.isInstance(error)) return 'the server failed; its log says why'
  const { message, given, expected, hint } = error
  const shown = given === undefined ? undefined : typeof given === 'string' ? given : JSON.stringify(given)
  return [
    message,
    ...(shown === undefined ? [] : [`given: ${shown.slice(0, 400)}`]),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(hint === undefined ? [] : [hint]),
  ].join(' | ')
}

/** An error as the protocol's clients read it: `detail` is what they show. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const status = statusOf(error)
  return new Response(JSON.stringify({ detail: refusalText(error) }), {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 429 || status === 503 ? { 'retry-after': '1' } : {}),
      ...headers,
    },
  })
}
