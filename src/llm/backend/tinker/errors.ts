import { AgogeError } from '../../../error.ts'
import type { ErrorCode } from '../../../error.ts'
import { apiPath } from './wire.ts'

/** What to do, for answers with a known remedy. */
const hints: Readonly<Record<number, string>> = {
  401: 'Set the key of the server in the environment variable TINKER_API_KEY.',
  402: 'The account of the service is exhausted: look at its billing page.',
  403: 'The key in TINKER_API_KEY may not do this: use one with access to the model.',
  404: 'The server does not know it (any more): if it was restarted, go on from the last checkpoint (agoge train --resume FOLDER).',
  409: 'Another client works with the same model or name: begin a new run.',
  413: 'Send less at once: smaller batches, or more minibatches.',
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'tinker-unauthorised',
  402: 'tinker-billing',
  403: 'tinker-unauthorised',
  404: 'tinker-not-found',
  410: 'tinker-not-found',
  413: 'tinker-too-large',
}

/** The server refuses permanently; retrying does not help. */
export function refusedError(host: string, path: string, status: number, said: string): AgogeError {
  return new AgogeError(`The Tinker server ${host} refused ${path} (HTTP ${status}).`, {
    code: codes[status] ?? 'tinker-refused',
    given: said,
    hint:
      hints[status] ??
      'Look at what the server says; a server that lacks this part of the protocol refuses it too.',
  })
}

/** The server redirects to another address, which receives neither request nor key. */
export function movedError(url: URL, path: string, status: number, target: URL | undefined): AgogeError {
  const base = target && `${target.origin}${target.pathname}`.replace(`${apiPath}/${path}`, '')
  return new AgogeError(
    `The Tinker server ${url.host} sends ${path} on to another address (HTTP ${status}).`,
    {
      code: 'tinker-refused',
      given: `${url.origin}${url.pathname}`,
      expected: 'an address without redirects: requests with a key are not forwarded',
      hint:
        base === undefined ? 'Ask who runs it for the address.' : `If you mean that one, name it: ${base}`,
    },
  )
}

/** Retrying ended when patience ran out. `last` describes the last failure. */
export function unavailableError(
  host: string,
  path: string,
  last: { status?: number; said: string },
  seconds: number,
): AgogeError {
  const busy = last.status === 429
  const code =
    last.status === undefined ? 'tinker-unreachable' : busy ? 'tinker-overloaded' : 'tinker-server-error'
  const what = last.status === undefined ? last.said : `HTTP ${last.status}: ${last.said}`
  return new AgogeError(
    `The Tinker server ${host} gave no usable answer to ${path} in ${seconds.toFixed(0)} s.`,
    {
      code,
      given: what,
      hint: busy
        ? 'It is overloaded: try later, or send fewer requests at the same time.'
        : 'Check that it runs at that address, and look at its log. To resume a run: agoge train --resume FOLDER.',
    },
  )
}

/** A complete answer that violates the protocol. */
export function badAnswerError(host: string, path: string, what: string, given: unknown): AgogeError {
  return new AgogeError(`The Tinker server ${host} answered ${path} with ${what}.`, {
    code: 'tinker-bad-answer',
    given: excerpt(given),
    expected: 'an answer as in the Tinker protocol',
    hint: 'Check that the address is that of a Tinker server with a compatible version.',
  })
}

/** Errors of the engine that callers handle alike for every backend. */
export const engineCodes: readonly ErrorCode[] = [
  'non-finite-loss',
  'gradient-not-finite',
  'non-finite-logits',
  'weights-not-finite',
]

/** The request was accepted and then failed. `code` is the error code of Agoge's own server. */
export function failedError(
  host: string,
  what: string,
  said: string,
  { category, code }: { category?: string; code?: string | undefined } = {},
): AgogeError {
  const known = engineCodes.find((name) => name === code)
  if (known !== undefined) {
    return new AgogeError(`${what} failed on the Tinker server ${host}: ${said.split(' | ')[0]}`, {
      code: known,
      given: said,
      expected: 'finite numbers',
      hint: 'Lower the learning rate, or resume from an earlier checkpoint with other settings.',
    })
  }
  return new AgogeError(`${what} failed on the Tinker server ${host}.`, {
    code: 'tinker-request-failed',
    given: said,
    hint:
      category === 'user'
        ? 'The server rejects the request: change what its message names.'
        : 'The fault is on the side of the server: look at its log, then go on from the last checkpoint.',
  })
}

export function deadlineError(host: string, what: string, seconds: number): AgogeError {
  return new AgogeError(`${what} was not done on the Tinker server ${host} within ${seconds} s.`, {
    code: 'tinker-deadline',
    given: `${seconds} s`,
    expected: 'a result within the deadline',
    hint: 'Give a larger deadlineSeconds, or look at what the server is doing.',
  })
}

export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 500 ? `${text.slice(0, 500)} ...` : text
}
