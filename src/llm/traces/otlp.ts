import { deepestJson } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'

/** Attributes of a span, an event or a log record, as plain values. */
export type Attributes = Record<string, unknown>

/** A span of OTLP, as far as it is used here. Times are milliseconds since 1970. */
export interface OtlpSpan {
  traceId: string
  spanId: string
  parent?: string
  name: string
  start: number
  end: number
  attributes: Attributes
  events: OtlpEvent[]
  /** The message of a status `ERROR`; empty if it has none. */
  error?: string
}

/** An event of a span. As a log record it names its span. */
export interface OtlpEvent {
  name: string
  attributes: Attributes
  body?: unknown
}

/** A log record that belongs to a span. */
export interface OtlpLog extends OtlpEvent {
  traceId: string
  spanId: string
  time: number
}

/** Why a value is no span. */
export type Unreadable = { problem: string }

/** Reads a span of OTLP/JSON. Ids are hexadecimal; files of some exporters have them in base64. */
export function readSpan(given: unknown): OtlpSpan | Unreadable {
  if (!isRecord(given)) return { problem: 'a span is not an object' }
  const traceId = readId(given['traceId'], 16)
  const spanId = readId(given['spanId'], 8)
  if (traceId === undefined || spanId === undefined) return { problem: 'a span has no traceId or no spanId' }
  const parent = readId(given['parentSpanId'], 8)
  const { name, status } = given
  const isError = isRecord(status) && (status['code'] === 2 || status['code'] === 'STATUS_CODE_ERROR')
  const message = isRecord(status) && typeof status['message'] === 'string' ? status['message'] : ''
  return {
    traceId,
    spanId,
    ...(parent !== undefined && { parent }),
    name: typeof name === 'string' ? name : '',
    start: readTime(given['startTimeUnixNano']),
    end: readTime(given['endTimeUnixNano']),
    attributes: readAttributes(given['attributes']),
    events: listOf(given['events']).flatMap((event) => (isRecord(event) ? [readEvent(event)] : [])),
    ...(isError && { error: message }),
  }
}

/** Reads a log record of OTLP/JSON; undefined if it belongs to no span. */
export function readLog(given: unknown): OtlpLog | undefined {
  if (!isRecord(given)) return undefined
  const traceId = readId(given['traceId'], 16)
  const spanId = readId(given['spanId'], 8)
  if (traceId === undefined || spanId === undefined) return undefined
  const time = readTime(given['timeUnixNano'] ?? given['observedTimeUnixNano'])
  return { traceId, spanId, time, ...readEvent(given) }
}

function readEvent(given: Record<string, unknown>): OtlpEvent {
  const attributes = readAttributes(given['attributes'])
  const name = given['name'] ?? given['eventName'] ?? attributes['event.name']
  const body = readValue(given['body'])
  return { name: typeof name === 'string' ? name : '', attributes, ...(body !== undefined && { body }) }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function readId(given: unknown, bytes: number): string | undefined {
  if (typeof given !== 'string' || given === '') return undefined
  const hex = given.length === 2 * bytes ? given : Buffer.from(given, 'base64').toString('hex')
  return hex.length === 2 * bytes && /^[0-9a-f]+$/i.test(hex) && !/^0+$/.test(hex)
    ? hex.toLowerCase()
    : undefined
}

/** Nanoseconds, as a text because they exceed what a number holds exactly. */
const readTime = (given: unknown): number => {
  const nanoseconds = Number(given)
  return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0
}

function readAttributes(given: unknown, depth = 0): Attributes {
  return Object.fromEntries(
    listOf(given).flatMap((one): [string, unknown][] =>
      isRecord(one) && typeof one['key'] === 'string' ? [[one['key'], readValue(one['value'], depth)]] : [],
    ),
  )
}

/** An `AnyValue` of OTLP as a plain value. What is nested deeper than JSON may be is left out. */
function readValue(given: unknown, depth = 0): unknown {
  if (!isRecord(given) || depth > deepestJson) return undefined
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = given
  if (typeof stringValue === 'string') return stringValue
  if (intValue !== undefined) return Number(intValue)
  if (doubleValue !== undefined) return Number(doubleValue)
  if (boolValue !== undefined) return boolValue === true
  if (isRecord(arrayValue)) return listOf(arrayValue['values']).map((one) => readValue(one, depth + 1))
  if (isRecord(kvlistValue)) return readAttributes(kvlistValue['values'], depth + 1)
  return undefined
}

/** Attributes in the form of OTLP/JSON. Undefined ones are left out; objects and lists of them become JSON. */
export function writeAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: writeValue(value) }],
  )
}

function writeValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value }
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return { arrayValue: { values: value.map(writeValue) } }
  return { stringValue: JSON.stringify(value) }
}

/**
 * Names with numbered parts as lists and objects: `{ 'a.0.role': 'user' }` below `a` is `[{ role: 'user' }]`. Undefined if there is no such name.
 */
export function nested(attributes: Attributes, prefix: string): unknown {
  const found = Object.entries(attributes).filter(([key]) => key.startsWith(`${prefix}.`))
  if (found.length === 0) return undefined
  const root: Attributes = {}
  for (const [key, value] of found) {
    const path = key.slice(prefix.length + 1).split('.')
    let at = root
    for (const name of path.slice(0, -1)) {
      if (!Object.hasOwn(at, name) || !isRecord(at[name])) define(at, name, {})
      at = at[name] as Attributes
    }
    define(at, path.at(-1) ?? '', value)
  }
  return asLists(root)
}

/** An own property, also where its name is `__proto__`. */
function define(at: Attributes, name: string, value: unknown): void {
  Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true })
}

function asLists(value: unknown): unknown {
  if (!isRecord(value)) return value
  const names = Object.keys(value)
  // Integer names come in their order.
  if (names.length > 0 && names.every((name) => /^\d+$/.test(name)))
    return names.map((name) => asLists(value[name]))
  return Object.fromEntries(names.map((name) => [name, asLists(value[name])]))
}
