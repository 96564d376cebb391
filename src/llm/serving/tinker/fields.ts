import { AgogeError, errorData, type ErrorCode, type ErrorData } from '../../../error.ts'

/** HTTP status by error code. Other AgogeErrors are the client's fault (400); the rest are the server's (500). */
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

/** Longer messages say back what they were sent. */
const longestMessage = 1000
const longestGiven = 400

/** A refusal as plain data, of bounded length. */
export function refusalData(error: AgogeError): ErrorData {
  const { message, details } = errorData(error)
  const { given, ...others } = details
  const text = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
  if (given === undefined) return { message: text, details: others }
  return { message: text, details: { ...others, given: shownGiven(given).slice(0, longestGiven) } }
}

const shownGiven = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given))

/** The problem as one text, since other clients show only that. */
export function refusalText(error: unknown): string {
  if (!AgogeError.isInstance(error)) return 'the server failed; its log says why'
  const { message, details } = refusalData(error)
  const { given, expected, hint } = details
  return [
    message,
    ...(given === undefined ? [] : [`given: ${shownGiven(given)}`]),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(hint === undefined ? [] : [hint]),
  ].join(' | ')
}

/** An error in the protocol's format. Clients show `detail`. */
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

export type Fields = Readonly<Record<string, unknown>>

/** Readers for fields of a request's body. Each throws an error naming the field if it does not follow the protocol. */
export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw wrong(where, value, 'an object')
}

export function optionalFields(fields: Fields, name: string): Fields | undefined {
  return isMissing(fields, name) ? undefined : fieldsOf(fields[name], name)
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw wrong(name, value, 'a text')
}

export function optionalText(fields: Fields, name: string): string | undefined {
  return isMissing(fields, name) ? undefined : textOf(fields, name)
}

export function numberOf(
  fields: Fields,
  name: string,
  otherwise: number | undefined,
  least = -Infinity,
): number {
  if (otherwise !== undefined && isMissing(fields, name)) return otherwise
  const value = fields[name]
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value
  throw wrong(name, value, least === -Infinity ? 'a number' : `a number of at least ${least}`)
}

export function countOf(fields: Fields, name: string, otherwise: number | undefined, least = 0): number {
  const value = numberOf(fields, name, otherwise, least)
  if (Number.isSafeInteger(value)) return value
  throw wrong(name, value, `a whole number of at least ${least}`)
}

export function optionalCount(fields: Fields, name: string, least = 0): number | undefined {
  return isMissing(fields, name) ? undefined : countOf(fields, name, undefined, least)
}

export function flagOf(fields: Fields, name: string, otherwise: boolean): boolean {
  if (isMissing(fields, name)) return otherwise
  const value = fields[name]
  if (typeof value === 'boolean') return value
  throw wrong(name, value, 'true or false')
}

export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  if (Array.isArray(value)) return value as unknown[]
  throw wrong(name, value, 'a list')
}

/** Numbers of a list, or of a typed array from a protobuf body. */
export function numbersOf(fields: Fields, name: string): ArrayLike<number> {
  const value = fields[name]
  if (value instanceof Float32Array || value instanceof Int32Array || value instanceof Float64Array)
    return value
  const list = listOf(fields, name)
  const odd = list.findIndex((each) => typeof each !== 'number')
  if (odd < 0) return list as readonly number[]
  throw wrong(`${name}[${odd}]`, list[odd], 'a number')
}

/** Checkpoint names become folder names. */
export function nameOf(fields: Fields, name: string): string | undefined {
  const value = optionalText(fields, name)
  if (value === undefined || (/^[A-Za-z0-9_.-]{1,200}$/.test(value) && !/^\.+$/.test(value))) return value
  throw wrong(name, value, 'up to 200 letters, digits, dots, - and _')
}

function isMissing(fields: Fields, name: string): boolean {
  return fields[name] === undefined || fields[name] === null
}

function wrong(name: string, given: unknown, expected: string): AgogeError {
  const shown = given === undefined ? 'nothing' : given
  return refuse('tinker-bad-request', `The field ${name} is wrong`, { given: shown, expected })
}
