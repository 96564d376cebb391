import { statSync } from 'node:fs'
import { AgogeError } from '../../error.ts'
import { withFileErrors } from '../../runs/files.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { firstLine, foreignElements, foreignLines, mostLineBytes } from '../../untrusted/foreign-stream.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import { isChatLog } from './chat-logs.ts'

/** One thing that was read: where it stands, and a span, a log record or a conversation; or what is wrong. */
export type InputItem = { place: string } & (
  | { type: 'span' | 'log'; value: unknown }
  | { type: 'chat'; value: Record<string, unknown> }
  | { type: 'problem'; problem: string }
)

const spanPath = '$.resourceSpans.*.scopeSpans.*.spans.*'
const logPath = '$.resourceLogs.*.scopeLogs.*.logRecords.*'

/**
 * Reads a file of traces or chat logs: JSONL, or one JSON document of traces. Needs the memory of a line, or of a span of a
 * document, however large the file.
 *
 * @param most bytes of a line, and of a document that is read whole. Default: 64 MiB.
 * @throws AgogeError `unusable-path` if the file cannot be read, `bad-traces` if it is a document of another kind.
 */
export async function* readInput(path: string, most = mostLineBytes): AsyncGenerator<InputItem> {
  const { size } = withFileErrors(path, () => statSync(path))
  const text = await firstLine(path, most)
  if (!isJson(text)) {
    const whole = size <= most ? readWhole(path, most) : undefined
    if (whole !== undefined) return yield* itemsOf(whole, path)
    if (size > most && (text.length >= most || isOpening(text))) return yield* elementsOf(path)
  }
  for await (const read of foreignLines(path, most)) {
    const place = `${path}:${read.line}`
    if ('problem' in read) yield { place, type: 'problem', problem: read.problem }
    else yield* itemsOf(read.value, place)
  }
}

/** Whether a line opens a document of traces. */
const isOpening = (text: string): boolean => /^\s*\{\s*(?:"resource(?:Spans|Logs)"|$)/.test(text)

function isJson(text: string): boolean {
  try {
    parseForeignJson(text)
    return true
  } catch {
    return false
  }
}

/** A file that is one JSON value; undefined if it is not. */
function readWhole(path: string, most: number): unknown {
  try {
    return readForeignFile(path, (text) => parseForeignJson(text.replace(/^\uFEFF/, '')), most)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

async function* elementsOf(path: string): AsyncGenerator<InputItem> {
  let count = 0
  try {
    // Spans before logs, in two passes: the parser gives values, not the path where they stood.
    for (const [type, at] of [
      ['span', spanPath],
      ['log', logPath],
    ] as const)
      for await (const value of foreignElements(path, [at])) {
        count += 1
        yield { place: path, type, value }
      }
  } catch (error) {
    if (error instanceof SyntaxError) throw notTraces(path, error)
    throw error
  }
  if (count === 0) throw notTraces(path)
}

function notTraces(path: string, cause?: unknown): AgogeError {
  return new AgogeError(`${path} holds no traces and no chat logs`, {
    code: 'bad-traces',
    given: cause instanceof Error ? cause.message : 'JSON of another kind',
    expected: 'traces as OTLP/JSON ({"resourceSpans": [...]}), or lines of {"messages": [...]}',
    cause,
  })
}

/** What a line or a document holds. */
function* itemsOf(value: unknown, place: string): Generator<InputItem> {
  if (isChatLog(value)) return yield { place, type: 'chat', value }
  if (Array.isArray(value)) {
    for (const [at, one] of (value as unknown[]).entries()) yield* itemsOf(one, `${place}[${at}]`)
    return
  }
  if (!isRecord(value) || !('resourceSpans' in value || 'resourceLogs' in value))
    return yield {
      place,
      type: 'problem',
      problem: 'it is no trace (resourceSpans) and no chat log (messages)',
    }
  for (const span of inner(value, ['resourceSpans', 'scopeSpans', 'spans']))
    yield { place, type: 'span', value: span }
  for (const log of inner(value, ['resourceLogs', 'scopeLogs', 'logRecords']))
    yield { place, type: 'log', value: log }
}

/** The members of nested lists. */
function inner(value: unknown, [name, ...names]: readonly string[]): unknown[] {
  const list = isRecord(value) ? value[name] : undefined
  const members = Array.isArray(list) ? (list as unknown[]) : []
  return names.length === 0 ? members : members.flatMap((member) => inner(member, names))
}
