import type { CallOptions } from '../agent/ai-sdk/read-call.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { AgentSetup } from './setup.ts'

type Prompt = CallOptions['prompt']
type PromptMessage = Prompt[number]
type Parts = Exclude<PromptMessage['content'], string>

/** The options of a call with the instructions, rules, demonstrations and tools of a setup. The agent's own objects are not changed. */
export function changeCall(options: CallOptions, setup: AgentSetup): CallOptions {
  const { tools, toolChoice } = options
  const newName = (name: string): string => setup.tools?.[name]?.name ?? name
  const described = tools?.map((tool) => {
    const { description = tool.description } = setup.tools?.[tool.name] ?? {}
    return { ...tool, name: newName(tool.name), ...(description !== undefined && { description }) }
  })
  return {
    ...options,
    prompt: withDemonstrations(withSystem(options.prompt, setup), setup).map((message) =>
      renamed(message, newName),
    ),
    ...(described !== undefined && { tools: described }),
    ...(toolChoice?.type === 'tool' && {
      toolChoice: { ...toolChoice, toolName: newName(toolChoice.toolName) },
    }),
  }
}

/** The agent's name of a tool whose name the setup has changed. */
export function originalName(name: string, { tools = {} }: AgentSetup): string {
  const found = Object.entries(tools).find(([, { name: changed }]) => changed === name)
  return found === undefined ? name : found[0]
}

/** The lines that a setup adds to the system message. */
export function systemText({ instructions, playbook = [] }: AgentSetup): string {
  return [
    ...(instructions === undefined ? [] : [instructions.text]),
    ...playbook.map(({ text }) => `- ${text}`),
  ].join('\n')
}

function withSystem(prompt: Prompt, setup: AgentSetup): Prompt {
  const added = systemText(setup)
  if (added === '') return prompt
  const at = prompt.findIndex(({ role }) => role === 'system')
  if (at < 0) return [{ role: 'system', content: added }, ...prompt]
  const { content } = prompt[at] as { content: string }
  const { replaces } = setup.instructions ?? {}
  const isReplaced = replaces !== undefined && replaces !== '' && content.includes(replaces)
  // A function, because a text with a dollar sign means something else as a replacement.
  const text = isReplaced ? content.replace(replaces, () => added) : `${content}\n\n${added}`
  return prompt.with(at, { role: 'system', content: text })
}

function withDemonstrations(prompt: Prompt, { demonstrations = [] }: AgentSetup): Prompt {
  if (demonstrations.length === 0) return prompt
  const start = prompt.findIndex(({ role }) => role !== 'system')
  const at = start < 0 ? prompt.length : start
  const shown = demonstrations.flatMap(({ messages }) => promptOf(messages))
  return [...prompt.slice(0, at), ...shown, ...prompt.slice(at)]
}

/** Messages as model objects of the AI SDK take them. */
export function promptOf(messages: readonly ConversationMessage[]): PromptMessage[] {
  const names = new Map(
    messages.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name] as const)),
  )
  return messages.map(({ role, text, calls = [], callId = '', isError }): PromptMessage => {
    if (role === 'system') return { role, content: text }
    if (role === 'user') return { role, content: [{ type: 'text', text }] }
    if (role === 'tool') {
      const output = { type: isError === true ? 'error-text' : 'text', value: text }
      return {
        role,
        content: [{ type: 'tool-result', toolCallId: callId, toolName: names.get(callId) ?? '', output }],
      }
    }
    const said = text === '' ? [] : [{ type: 'text', text }]
    const made = calls.map(({ id, name, arguments: input }) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input,
    }))
    return { role, content: [...said, ...made] }
  })
}

function renamed(message: PromptMessage, newName: (name: string) => string): PromptMessage {
  if (typeof message.content === 'string') return message
  const isNamed = message.content.some(
    ({ toolName }) => toolName !== undefined && newName(toolName) !== toolName,
  )
  if (!isNamed) return message
  const content: Parts = message.content.map((part) =>
    part.toolName === undefined ? part : { ...part, toolName: newName(part.toolName) },
  )
  return { ...message, content } as PromptMessage
}
