import { readCalls } from '../parse-calls.ts'
import type { BareCall } from '../parse-calls.ts'
import type { TemplateStyle } from './template-style.ts'
import type { ChatOutput } from './types.ts'

/**
 * Reads what a public model said, its stop token left out: thoughts between `<think>` marks, then calls in the way of its family:
 * Hermes and Qwen write JSON between `<tool_call>` marks, Llama 3 writes nothing but JSON. Nothing is repaired.
 */
export function readTemplateOutput(said: string, call: TemplateStyle['call']): ChatOutput {
  const { reasoning, rest } = splitThoughts(said)
  const thought = reasoning === undefined ? {} : { reasoning }
  if (call === undefined) return { ...thought, text: rest, calls: [] }
  const marked = call.before.includes('<tool_call>')
  const bodies = marked ? [...rest.matchAll(markedCall)].map((match) => match[1].trim()) : bareEncoders(rest)
  if (bodies.length === 0) return { ...thought, text: rest, calls: [] }
  const text = marked ? rest.replaceAll(markedCall, '').trimEnd() : ''
  const calls: BareCall[] = []
  for (const body of bodies) {
    const found = readCalls(body, false)
    // What was said stays in the conversation as it was, else the model could not see what was wrong.
    if (typeof found === 'string') return { ...thought, text: rest.trim(), calls: [], invalid: found }
    calls.push(...found)
  }
  return { ...thought, text, calls }
}

const markedCall = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g

/** A whole output that is an object with a name is meant as a call; Llama 3.1 may put `<|python_tag|>` in front. */
function bareEncoders(said: string): string[] {
  const body = said.trim().replace(/^<\|python_tag\|>/, '')
  return /^\{\s*"(?:name|type|function)"\s*:/.test(body) && /"(?:parameters|arguments)"\s*:/.test(body)
    ? [body]
    : []
}

/** Some prompts open the thought themselves, so that the output has only its end. */
export function splitThoughts(said: string): { reasoning?: string; rest: string } {
  const end = said.indexOf('</think>')
  if (end < 0) return { rest: said }
  const reasoning = said
    .slice(0, end)
    .replace(/^\s*<think>/, '')
    .trim()
  const rest = said.slice(end + '</think>'.length).replace(/^\n+/, '')
  return reasoning === '' ? { rest } : { reasoning, rest }
}
