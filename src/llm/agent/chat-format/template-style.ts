import type { ChatTemplate, TemplateMessage } from '../../tokenizer/chat-template.ts'
import { AgogeError } from '../../../error.ts'

/** How a template writes what an assistant says, found out by showing it conversations. */
export interface TemplateStyle {
  /** The name of the token that ends a message; undefined where the template writes none. */
  end?: string
  /** True where thoughts are a field of their own (`reasoning_content`), else they stand in the text between `<think>` marks. */
  reasoningField: boolean
  /** What stands before the name of a call, between it and the arguments, and after them; undefined where the template writes no calls, or not as JSON. */
  call?: { before: string; between: string; after: string }
}

const user: TemplateMessage = { role: 'user', content: 'u' }
const [text, thought, name, value] = ['PROBED_TEXT', 'PROBED_THOUGHT', 'PROBED_NAME', 'PROBED_VALUE']

/** Renders probes. Templates that refuse calls, or leave them out, are such that know none. */
export function probeTemplate(template: ChatTemplate, specialTokens: readonly string[]): TemplateStyle {
  const plain = template.render([user, { role: 'assistant', content: text }])
  const after = plain.slice(plain.indexOf(text) + text.length)
  const end = specialTokens
    .map((token) => ({ token, at: after.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.token.length - a.token.length)[0]?.token
  const thinking = tryRender(template, { role: 'assistant', content: text, reasoning_content: thought })
  const call = probeCall(template, end)
  return {
    reasoningField: thinking.includes(thought),
    ...(end === undefined ? {} : { end }),
    ...(call === undefined ? {} : { call }),
  }
}

function probeCall(template: ChatTemplate, end: string | undefined): TemplateStyle['call'] {
  const call = { id: 'call_0', type: 'function', function: { name, arguments: { value } } } as const
  const tools = [{ type: 'function', function: { name, description: '', parameters: { type: 'object' } } }]
  const rendered = tryRender(template, { role: 'assistant', content: '', tool_calls: [call] }, tools)
  const start = tryRender(template, undefined, tools)
  const said = rendered.startsWith(start) ? rendered.slice(start.length) : ''
  const [nameAt, valueAt] = [said.indexOf(name), said.indexOf(value)]
  if (nameAt < 0 || valueAt < 0) return undefined
  // The object of arguments begins at the last brace before the value.
  const braceAt = said.lastIndexOf('{', valueAt)
  const between = said.slice(nameAt + name.length, braceAt)
  if (!/^"\s*,\s*"(?:arguments|parameters)"\s*:\s*$/.test(between)) return undefined
  const rest = said.slice(said.indexOf('}', valueAt) + 1)
  return {
    before: said.slice(0, nameAt).trimStart(),
    between,
    after: rest.slice(0, end === undefined ? undefined : rest.indexOf(end)).trimEnd(),
  }
}

/** The conversation of the user and this message; without a message, up to where the model speaks. */
function tryRender(template: ChatTemplate, message?: TemplateMessage, tools?: readonly unknown[]): string {
  try {
    return template.render(message === undefined ? [user] : [user, message], {
      ...(tools === undefined ? {} : { tools }),
      addGenerationPrompt: message === undefined,
    })
  } catch (error) {
    if (AgogeError.isInstance(error)) return ''
    throw error
  }
}
