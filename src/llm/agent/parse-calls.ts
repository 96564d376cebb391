import type { ToolCall } from '../episode/tool-call.ts'
import { repairJson } from './repair-json.ts'

export type BareCall = Omit<ToolCall, 'id'>

/** What an output of the policy says: an answer (`calls` empty), calls, or an attempt that could not be understood. */
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
 * The exact form that local policies learn: `{"name": string, "arguments": object}` and nothing else. Nothing is
 * repaired, so that reinforcement learning teaches exactness. Returns the call, or the problem in few words.
 */
export function parseExactCall(json: string): BareCall | string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return 'the call is not JSON'
  }
  if (!isRecord(value)) return 'the call is not an object'
  if (typeof value.name !== 'string') return 'the call has no name'
  if (!isRecord(value.arguments)) return 'the call has no arguments'
  if (Object.keys(value).length !== 2) return 'the call has more than name and arguments'
  return { name: value.name, arguments: value.arguments }
}

/** Reads the local format after its markers are taken apart: the text before the first `<|call|>`, then each call. */
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
 * Reads calls that a foreign model wrote as text: `<tool_call>`, fenced or bare JSON, `tool`/`name`/`function` with
 * `arguments`/`args`/`parameters`/`input`, OpenAI's function objects with arguments as a string. With `repair`, common
 * damage (trailing commas, missing braces, single quotes) is mended. Never throws; text without a call is an answer.
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
      if (typeof found === 'string') problem ??= found
      else calls.push(...found)
    }
    if (problem === undefined) return { text, calls }
    // Fenced text that is not a call is an ordinary part of an answer; an explicit marker was an attempt.
    if (explicit || bodies.some(looksLikeCall)) return { text, calls: [], invalid: problem }
  }
  const bare = output.trim()
  if (!looksLikeCall(bare)) return { text: output, calls: [] }
  const found = readCalls(bare, repair)
  return typeof found === 'string' ? { text: output, calls: [], invalid: found } : { text: '', calls: found }
}

/** JSON with a tool's name and arguments in one of the usual spellings, however damaged. */
function looksLikeCall(text: string): boolean {
  return (
    /^[[{]/.test(text) &&
    /["'](?:name|tool|tool_name|function)["']\s*:/.test(text) &&
    /["'](?:arguments|args|parameters|input)["']\s*:/.test(text)
  )
}

/** Reads JSON of one call or several in the usual spellings; returns the problem in few words where it is none. */
export function readCalls(body: string, repair: boolean): BareCall[] | string {
  let value: unknown
  try {
    value = JSON.parse(body)
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

/** Arguments given as a string of JSON, as OpenAI's protocol has them; an empty string stands for none. */
export function readArguments(text: string, repair: boolean): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = repair ? repairJson(text) : undefined
  }
  return isRecord(value) ? value : undefined
}
