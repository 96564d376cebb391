import { parseForeignJson } from './foreign-json.ts'
import { type InTurn, type JsonOutline, parseInTurns, type TextInPieces } from './json-in-turns.ts'

declare const inside: unique symbol

/**
 * A value from outside, on its way in. The compiler lets nothing be done with it but the steps of this file: it is received within
 * bounds, parsed, checked, and comes out redacted. What is shown is escaped by the terminal and the pages. At run time it is the
 * value itself, so the steps cost nothing.
 *
 * @example
 * const body = await receivedText(response, 2 ** 20)
 * const { name } = redacted(checked(parsed(body), readPerson), redactor.text)
 */
export interface Untrusted<T> {
  readonly [inside]: T
}

/** The value as the type says that it is not. Only the steps look inside. */
const open = <T>(value: Untrusted<T>): T => value as unknown as T

/** What a transport has received within its bounds of bytes and time. Only transports call this. */
export const received = <T>(value: T): Untrusted<T> => value as unknown as Untrusted<T>

/** An answer of more bytes than are read. */
export class AnswerTooLong extends Error {}

/**
 * The text of an HTTP response of at most so many bytes.
 *
 * @throws AnswerTooLong
 */
export async function receivedText(
  { body }: Pick<Response, 'body'>,
  mostBytes: number,
): Promise<Untrusted<string>> {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > mostBytes) throw new AnswerTooLong(`it sent more than ${mostBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return received(text + decoder.decode())
}

/**
 * Parses JSON.
 *
 * @throws SyntaxError for a text that is not JSON, or nested more than 256 levels deep
 */
export function parsed(text: Untrusted<string>): Untrusted<unknown> {
  return received(parseForeignJson(open(text)))
}

/**
 * Parses JSON whose depth was counted while it was received, in short turns of the event loop.
 *
 * @param outline of the same text
 * @throws SyntaxError for a text that is not JSON
 */
export async function parsedInTurns(
  text: Untrusted<TextInPieces>,
  outline: JsonOutline,
  inTurn: InTurn,
): Promise<Untrusted<unknown>> {
  return received(await parseInTurns(open(text), outline, inTurn))
}

/** Checks what was parsed. What `check` throws names what was given and what was expected. */
export function checked<A, T>(value: Untrusted<A>, check: (value: A) => T): Untrusted<T> {
  return received(check(open(value)))
}

/** Replaces secrets in a text. */
export type Redact = (text: string) => string

/** For senders that were given no secrets, such as the clients of a server. */
export const noSecrets: Redact = (text) => text

/** For a sender that was given a key, if it was. */
export function hidingKey(key: string | undefined): Redact {
  return key === undefined || key === '' ? noSecrets : (text) => text.replaceAll(key, '[redacted]')
}

/** The value without the secrets that its sender may know. This is the way out. */
export function redacted<T>(value: Untrusted<T>, redact: Redact): T {
  return redact === noSecrets ? open(value) : redactData(open(value), redact)
}

/** The same for a value that must be redacted in a way of its own: `hide` returns nothing that it has not redacted. */
export function redactedBy<A, T>(value: Untrusted<A>, hide: (value: A) => T): T {
  return hide(open(value))
}

/**
 * Returns a copy of plain data with `redact` applied to every string, keys included. A number that it would change becomes
 * text. Other values are unchanged.
 */
export function redactData<T>(given: T, redact: Redact): T {
  function copy(value: unknown): unknown {
    if (typeof value === 'string') return redact(value)
    if (typeof value === 'number') {
      const text = redact(String(value))
      return text === String(value) ? value : text
    }
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), copy(item)]))
  }
  return copy(given) as T
}
