import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { jsonStart } from '../../untrusted/json-in-text.ts'

/** A property of a record: of an object in a list, in the JSON of a result. */
interface RecordValue {
  /** Number of the record, from 1. */
  record: number
  key: string
  /** Where the JSON of the value stands in the text. */
  from: number
  to: number
}

/** Texts, and between them marks: numbers of records. */
export type MarkedText = readonly (string | number)[]

/**
 * Bytes that no UTF-8 text has. Their tokens are marks of records, so no text can become one and the vocabulary has no others.
 */
export const markBytes: readonly number[] = [
  0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0xc0, 0xc1,
]

/** What a file of the tokenizer calls the marks, in the same order: special tokens, which other software leaves out of texts too. */
export const markNames: readonly string[] = markBytes.map((_, at) => `<|record ${at + 1}|>`)

interface Container {
  kind: 'list' | 'object' | 'record'
  record: number
  key: string
  /** Where the value of the present property begins. */
  from: number
}

/**
 * The properties of the records in a JSON text, in order: of the objects in its lists, but not of objects within such an object.
 * A text that was cut has those that are whole. None for a text without JSON (`jsonStart`).
 */
export function recordValues(text: string): RecordValue[] {
  const start = jsonStart(text)
  if (start === undefined) return []
  const values: RecordValue[] = []
  const open: Container[] = []
  let records = 0
  /** Whether a container that is open is a record. */
  let inRecord = false
  let string = ''
  const close = (at: number): void => {
    const top = open.at(-1)
    if (top?.kind === 'record' && top.from >= 0)
      values.push({ record: top.record, key: top.key, from: top.from, to: trimmedEnd(text, top.from, at) })
    if (top !== undefined) top.from = -1
  }
  for (let at = start; at < text.length; at++) {
    const top = open.at(-1)
    switch (text[at]) {
      case '"': {
        const end = stringEnd(text, at)
        if (end === undefined) return values
        string = text.slice(at, end)
        at = end - 1
        break
      }
      case ':':
        if (top !== undefined)
          Object.assign(top, { key: unquoted(string), from: nextCharacter(text, at + 1) })
        break
      case '{':
      case '[': {
        const isRecord = text[at] === '{' && top?.kind === 'list' && !inRecord
        const kind = text[at] === '[' ? 'list' : isRecord ? 'record' : 'object'
        open.push({ kind, record: isRecord ? ++records : 0, key: '', from: -1 })
        if (isRecord) inRecord = true
        break
      }
      case ',':
        close(at)
        break
      case '}':
      case ']':
        close(at)
        open.pop()
        if (top?.kind === 'record') inRecord = false
        break
    }
  }
  return values
}

function stringEnd(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return undefined
}

function nextCharacter(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? '')) at++
  return at
}

function trimmedEnd(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length
}

function unquoted(json: string): string {
  try {
    return String(parseForeignJson(json))
  } catch {
    return json
  }
}

/**
 * A result with each value of each record between two marks, inside the quotes of a string: after a name the number of its record
 * follows at once, and after that number the value of a property. The text alone if it has fewer than two records.
 */
export function markedResult(text: string): MarkedText {
  const values = recordValues(text).filter(({ record }) => record <= markBytes.length)
  if ((values.at(-1)?.record ?? 0) < 2) return [text]
  let done = 0
  const parts = values.flatMap(({ record, from, to }) => {
    const quote = text[from] === '"' ? 1 : 0
    const before = text.slice(done, from + quote)
    done = to - quote
    return [before, record, text.slice(from + quote, done), record]
  })
  return [...parts, text.slice(done)]
}

/**
 * What an agent says about one record and by what it knows it, "name: Blue ink, price: 12", with the mark of the record after the
 * name and before the value: a model finds the one by the other. A decision may follow, ", yes". Any other text is left as it is.
 */
export function markedAnswer(text: string, result: string): MarkedText {
  const [, by, known, key, rest] = /^([^\s:]+): (.+), ([^\s:]+): (.+)$/s.exec(text) ?? []
  if (by === undefined) return [text]
  const value = rest.replace(/, (?:yes|no)$/, '')
  const values = recordValues(result).map((one) => ({
    ...one,
    said: saidValue(result.slice(one.from, one.to)),
  }))
  const about = (wanted: string, said: string): number[] =>
    values.flatMap((one) => (one.key === wanted && one.said === said ? [one.record] : []))
  const record = about(by, known).find((one) => about(key, value).includes(one))
  if (record === undefined || record > markBytes.length) return [text]
  return [`${by}: ${known}`, record, `, ${key}:`, record, ` ${rest}`]
}

/** A value as an answer says it: lists with commas, numbers without the zeros after 8.50. */
function saidValue(json: string): string {
  let value: unknown
  try {
    value = parseForeignJson(json)
  } catch {
    return json
  }
  if (Array.isArray(value)) return value.map((item) => saidValue(JSON.stringify(item))).join(', ')
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : json
}
