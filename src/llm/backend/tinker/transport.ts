import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import {
  AnswerTooLong,
  hidingKey,
  noSecrets,
  parsed,
  receivedText,
  redacted,
  type Untrusted,
} from '../../../untrusted/untrusted.ts'
import { badAnswerError, excerpt, movedError, refusedError, unavailableError } from './errors.ts'
import { apiPath } from './wire.ts'

interface TransportOptions {
  url: URL
  apiKey: string | undefined
  /** Seconds to retry a request while the server is busy, failing or unreachable. */
  patienceSeconds: number
  /** Timeout of one attempt in seconds. */
  timeoutSeconds: number
  /** First pause between attempts in seconds; doubles up to 30. Honours a `Retry-After` of up to a minute. */
  backoffSeconds: number
  /** Called when a request has been retried for some seconds, at most once a minute. */
  onTrouble?: ((text: string) => void) | undefined
}

interface Call {
  method?: 'GET' | 'POST' | 'DELETE'
  /** Path without the leading `/api/v1`. */
  path: string
  body?: unknown
  signal?: AbortSignal
  patienceSeconds?: number
  /** Statuses that are answers rather than errors. */
  accept?: readonly number[]
}

interface Answer {
  status: number
  body: unknown
}

export interface Transport {
  readonly host: string
  /** Default signal of all calls. */
  readonly patienceSeconds: number
  /** Sends until there is an answer. Retries after 408, 425, 429, 5xx, a dropped connection and a truncated answer. */
  call(call: Call): Promise<Answer>
}

type Attempt =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'again'; status?: number; said: string; waitSeconds?: number }

const mostBackoff = 30
const secondsUntilReport = 3
const secondsBetweenReports = 60

/**
 * HTTP client of the protocol. Retrying is safe, because requests that change something carry sequence numbers by which
 * a server recognises duplicates.
 *
 * @throws AgogeError `tinker-refused` and related codes (3xx, 4xx); `tinker-unreachable`, `tinker-overloaded` or
 * `tinker-server-error` when patience ends; `tinker-bad-answer`; the reason of the signal if aborted.
 */
export function createTransport(options: TransportOptions): Transport {
  const { url, apiKey } = options
  const { host } = url
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': 'agoge',
    ...(apiKey === undefined || apiKey === '' ? {} : { 'x-api-key': apiKey }),
  }
  const conceal = hidingKey(apiKey)

  let reportedAt = -Infinity

  async function attempt(call: Call): Promise<Attempt> {
    const { method = 'POST', path, body, signal, accept = [] } = call
    const timeout = AbortSignal.timeout(options.timeoutSeconds * 1000)
    try {
      const response = await fetch(`${url.href.replace(/\/$/, '')}${apiPath}/${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body, asList) }),
        // Following a redirect would send the key to another host, and could turn a POST into a GET without its body.
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      const { status } = response
      const received = await receivedText(response, mostBytes)
      const text = redacted(received, conceal)
      if (response.ok || accept.includes(status)) {
        const answer = readJson(received)
        if (answer !== undefined) return { kind: 'answer', answer: { status, body: answer.value } }
        // A proxy truncated the answer, or the server died while sending it.
        const said = `an answer that is not JSON: ${excerpt(text)}`
        return { kind: 'again', said }
      }
      if (status >= 300 && status < 400) {
        const location = response.headers.get('location') ?? ''
        throw movedError(
          url,
          path,
          status,
          URL.canParse(location, response.url) ? new URL(location, response.url) : undefined,
        )
      }
      const said = excerpt(text)
      if (!isTransient(status)) throw refusedError(host, path, status, said)
      const waitSeconds = retryAfter(response.headers.get('retry-after'))
      return { kind: 'again', status, said, ...defined({ waitSeconds }) }
    } catch (error) {
      signal?.throwIfAborted()
      if (timeout.aborted) return { kind: 'again', said: `no answer in ${options.timeoutSeconds} s` }
      if (error instanceof TypeError) return { kind: 'again', said: conceal(reasonOf(error)) }
      if (error instanceof AnswerTooLong)
        throw badAnswerError(host, path, 'more bytes than are read', error.message)
      throw error
    }
  }

  return {
    host,
    patienceSeconds: options.patienceSeconds,
    async call(call) {
      const { path, patienceSeconds = options.patienceSeconds } = call
      // One signal per call, since many concurrent calls would add many listeners to a shared one.
      const signal = call.signal === undefined ? undefined : AbortSignal.any([call.signal])
      const began = performance.now()
      const elapsed = (): number => (performance.now() - began) / 1000
      for (let attempts = 0; ; attempts++) {
        signal?.throwIfAborted()
        const result = await attempt(signal === undefined ? call : { ...call, signal })
        if (result.kind === 'answer') return result.answer
        const wait =
          result.waitSeconds ?? Math.min(mostBackoff, options.backoffSeconds * 2 ** Math.min(attempts, 20))
        if (elapsed() + wait > patienceSeconds) {
          if (result.status === undefined && result.said.startsWith('an answer that is not JSON'))
            throw badAnswerError(host, path, 'no whole JSON', result.said)
          throw unavailableError(host, path, result, elapsed())
        }
        const isLong = elapsed() > Math.min(secondsUntilReport, patienceSeconds / 2)
        if (isLong && performance.now() > reportedAt + secondsBetweenReports * 1000) {
          reportedAt = performance.now()
          const what = result.status === undefined ? result.said : `HTTP ${result.status}: ${result.said}`
          options.onTrouble?.(`the Tinker server ${host} is in trouble (${path}: ${what}); trying again`)
        }
        await sleep(wait * 1000, undefined, signal === undefined ? {} : { signal }).catch(
          (error: unknown) => {
            throw signal?.aborted === true ? signal.reason : error
          },
        )
      }
    },
  }
}

/** Typed arrays as lists; JSON would turn them into objects. */
function asList(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value
}

/** Longest answer that is read: a forward pass answers with a number for each token. */
const mostBytes = 256 * 2 ** 20

/** Answers are numbers, names and paths, which are checked where they are read; only what is shown of one may tell the key. */
function readJson(text: Untrusted<string>): { value: unknown } | undefined {
  try {
    return { value: redacted(parsed(text), noSecrets) }
  } catch {
    return undefined
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Seconds to wait as the server requests, given in seconds or as a date; at most 60. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) : undefined
}

function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  return cause.message === '' ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : cause.message
}

export type Fields = Record<string, unknown>

/** Validates a server's answer on receipt, so that errors name it. */
interface AnswerReader {
  fields(value: unknown, what: string): Fields
  text(fields: Fields, name: string): string
  list(fields: Fields, name: string): unknown[]
  /** Finite numbers. */
  numbers(fields: Fields, name: string): number[]
}

export function createAnswerReader(host: string, path: string): AnswerReader {
  const wrong = (what: string, given: unknown) => badAnswerError(host, path, what, given)
  const list = (fields: Fields, name: string): unknown[] => {
    const value = fields[name]
    if (Array.isArray(value)) return value as unknown[]
    throw wrong(`no list "${name}"`, fields)
  }
  return {
    fields(value, what) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
      throw wrong(`no ${what}`, value)
    },
    text(fields, name) {
      const value = fields[name]
      if (typeof value === 'string' && value !== '') return value
      // Early versions of the protocol number their requests.
      if (typeof value === 'number') return String(value)
      throw wrong(`no "${name}"`, fields)
    },
    list,
    numbers(fields, name) {
      const values = list(fields, name)
      if (values.every((value) => typeof value === 'number')) return values
      throw wrong(`something else than numbers in "${name}"`, fields)
    },
  }
}

/** The address of a server, with or without `/api/v1`, without a trailing slash. Throws for an invalid address. */
export function serverUrl(baseUrl: string): URL {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new AgogeError(`"${baseUrl}" is not the address of a Tinker server.`, {
      code: 'bad-tinker-url',
      given: baseUrl,
      expected: 'an http or https address, e.g. http://127.0.0.1:8765',
    })
  }
  const url = new URL(baseUrl)
  if (url.username !== '' || url.password !== '') {
    throw new AgogeError('The address of the Tinker server holds a name or a password.', {
      code: 'bad-tinker-url',
      given: `an address at ${url.host}`,
      expected: 'an address alone; the key comes from the environment variable TINKER_API_KEY',
    })
  }
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
  return url
}

/** Awaits the work, or throws the reason of the signal once it is aborted. The work continues for other callers. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
