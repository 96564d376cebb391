import type { ToolCall } from '../episode/types.ts'
import { deepestJson, parseForeignJson } from '../../untrusted/foreign-json.ts'

/**
 * Repairs JSON as chat models damage it: single quotes, trailing commas, bare keys, Python's True/False/None, raw line breaks in
 * strings, missing closing quotes and brackets, text after the end. For remote models only. Takes time linear in the length of
 * the text.
 *
 * @returns the value, or undefined if it is beyond repair or nested more than 256 levels deep.
 */
export function repairJson(text: string): unknown {
  const out: string[] = []
  const open: string[] = []
  let i = 0
  while (i < text.length) {
    const char = text[i]
    if (char === '"' || char === "'") {
      const end = readString(text, i)
      out.push(end.json)
      i = end.next
    } else if (char === '{' || char === '[') {
      if (open.push(char === '{' ? '}' : ']') > deepestJson) return undefined
      out.push(char)
      i++
    } else if (char === '}' || char === ']') {
      while (open.length > 0 && open.at(-1) !== char) close(out, open)
      if (open.length === 0) break
      close(out, open)
      i++
      if (open.length === 0) break
    } else {
      const rest = text.slice(i, i + 80)
      const word = /^[A-Za-z_$][\w$]*/.exec(rest)?.[0]
      if (word === undefined) {
        // Match a number as a whole, or its exponent would be read as a bare word.
        const plain = /^-?\d[\d.]*(?:[eE][+-]?\d+)?/.exec(rest)?.[0] ?? char
        out.push(plain)
        i += plain.length
      } else {
        out.push(constants.get(word) ?? JSON.stringify(word))
        i += word.length
      }
    }
  }
  while (open.length > 0) close(out, open)
  try {
    return parseForeignJson(out.join(''))
  } catch {
    return undefined
  }
}

const constants = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/** Closes the innermost bracket and removes a trailing comma. */
function close(out: string[], open: string[]): void {
  while (out.at(-1)?.trim() === '') out.pop()
  if (out.at(-1) === ',') out.pop()
  out.push(open.pop() ?? '')
}

/** Reads a string from its opening quote, in either kind of quotes. An unclosed string ends with the text. */
function readString(text: string, start: number): { json: string; next: number } {
  const quote = text[start]
  let body = ''
  let i = start + 1
  for (; i < text.length && text[i] !== quote; i++) {
    const char = text[i]
    if (char === '\\') {
      const next = text[i + 1] ?? '\\'
      body += next === "'" ? "'" : `\\${next}`
      i++
    } else if (char === '"') body += '\\"'
    else if (char < ' ') body += JSON.stringify(char).slice(1, -1)
    else body += char
  }
  return { json: `"${body}"`, next: i + 1 }
}

export type BareCall = Omit<ToolCall, 'id'>

/** A parsed output of the policy: an answer (`calls` is empty), calls, or an invalid call. */
export interface ParsedOutput {
  /** The text around the calls. */
  text: string
  calls: BareCall[]
  invalid?: string
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Parses the exact form that local policies learn: `{"name": string, "arguments": object}` and nothing else. Nothing is
 * repaired, so that reinforcement learning teaches exactness. Returns the call or a short description of the problem.
 */
export function parseExactCall(json: string): BareCall | string {
  let value: unknown
  try {
    value = parseForeignJson(json)
  } catch {
    return 'the call is not JSON'
  }
  if (!isRecord(value)) return 'the call is not an object'
  if (typeof value.name !== 'string') return 'the call has no name'
  if (!isRecord(value.arguments)) return 'the call has no arguments'
  if (Object.keys(value).length !== 2) return 'the call has more than name and arguments'
  return { name: value.name, arguments: value.arguments }
}

/** Parses the local format after its markers have been split: the text before the first `<|call|>`, then each call. */
export function parseSegments(text: string, calls: readonly string[]): ParsedOutput {
  const parsed: BareCall[] = []
  for (const json of calls) {
    const call = parseExactCall(json)
    if (typeof call === 'string') return { text, calls: [], invalid: call }
    parsed.push(call)
  }
  return { text, calls: parsed }
}

const markers = [
  /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g,
  /<\|call\|>([\s\S]*?)(?=<\|call\|>|<\|end\|>|$)/g,
  /```(?:json|tool_call|tool_code|tool)?[ \t]*\n([\s\S]*?)(?:```|$)/g,
]

/**
 * Parses calls that a remote model wrote as text: `<tool_call>`, fenced or bare JSON, `tool`/`name`/`function` with
 * `arguments`/`args`/`parameters`/`input`, and OpenAI's function objects with arguments as a string. With `repair`, fixes common
 * damage (trailing commas, missing braces, single quotes). Text without a call is an answer. Never throws.
 */
export function parseCalls(output: string, options: { repair?: boolean } = {}): ParsedOutput {
  const repair = options.repair === true
  for (const marker of markers) {
    const explicit = marker !== markers[2]
    const bodies = [...output.matchAll(marker)].map((match) => match[1].trim())
    if (bodies.length === 0) continue
    const text = output.replaceAll(marker, '').replaceAll('<|end|>', '').trim()
    const calls: BareCall[] = []
    let problem: string | undefined
    for (const body of bodies) {
      const found = readCalls(body, repair)
      if (typeof found === 'string') {
        problem = found
        break
      }
      for (const call of found) calls.push(call)
    }
    if (problem === undefined) return { text, calls }
    // Fenced text that is not a call is part of the answer. An explicit marker is an attempted call.
    if (explicit || bodies.some(looksLikeCall)) return { text, calls: [], invalid: problem }
  }
  const bare = output.trim()
  if (!looksLikeCall(bare)) return { text: output, calls: [] }
  const found = readCalls(bare, repair)
  return typeof found === 'string' ? { text: output, calls: [], invalid: found } : { text: '', calls: found }
}

/** JSON with a tool's name and arguments in a common spelling, however damaged. */
function looksLikeCall(text: string): boolean {
  return (
    /^[[{]/.test(text) &&
    /["'](?:name|tool|tool_name|function)["']\s*:/.test(text) &&
    /["'](?:arguments|args|parameters|input)["']\s*:/.test(text)
  )
}

/** Reads JSON of one or several calls in the common spellings. Returns a short description of the problem if it is none. */
export function readCalls(body: string, repair: boolean): BareCall[] | string {
  let value: unknown
  try {
    value = parseForeignJson(body)
  } catch {
    value = repair ? repairJson(body) : undefined
    if (value === undefined) return 'the call is not JSON'
  }
  const items = Array.isArray(value)
    ? value
    : isRecord(value) && Array.isArray(value.tool_calls)
      ? value.tool_calls
      : [value]
  if (items.length === 0) return 'the list of calls is empty'
  const calls: BareCall[] = []
  for (const item of items) {
    const call = readCall(item, repair)
    if (typeof call === 'string') return call
    calls.push(call)
  }
  return calls
}

function readCall(value: unknown, repair: boolean): BareCall | string {
  if (!isRecord(value)) return 'the call is not an object'
  const source = isRecord(value.function) ? value.function : value
  const name = source.name ?? source.tool ?? source.tool_name ?? source.function
  if (typeof name !== 'string' || name === '') return 'the call has no name'
  const given = source.arguments ?? source.args ?? source.parameters ?? source.input ?? {}
  const read = typeof given === 'string' ? readArguments(given, repair) : given
  return isRecord(read) ? { name, arguments: read } : 'the arguments are not an object'
}

/** Arguments as a JSON string, as in OpenAI's protocol. An empty string means no arguments. */
export function readArguments(text: string, repair: boolean): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = parseForeignJson(text)
  } catch {
    value = repair ? repairJson(text) : undefined
  }
  return isRecord(value) ? value : undefined
}
