import { isRecord } from '../../untrusted/schema-check.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import { recordTexts } from '../gateway/record-calls.ts'
import { readConversation, readTools, UnreadableMessage } from './messages.ts'
import { textEpisode, type TraceEpisode } from './trace-episode.ts'

/** Whether a line of JSON is a chat log. */
export function isChatLog(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Array.isArray(value['messages'])
}

/**
 * A conversation of a chat log as an episode: an object with `messages`, and optionally `tools`, `model` and `system`, as OpenAI's fine-tuning
 * files, requests of services and logs of them have it. An answer beside the messages, as `choices` or as a message of Anthropic, is the last
 * message. Each message of the assistant is one call, which saw those before it.
 *
 * @param id of the episode.
 */
export function episodeOfChat(id: string, line: Record<string, unknown>): TraceEpisode {
  let messages: ConversationMessage[]
  try {
    const { messages: shown, answers } = readConversation(promptOf(line), answersOf(line))
    messages = [...shown, ...answers.slice(0, 1)]
  } catch (error) {
    if (error instanceof UnreadableMessage || error instanceof RangeError)
      return { problems: [error.message] }
    throw error
  }
  const tools = readTools(line['tools'] ?? line['functions'])
  const model = modelOf(line)
  const recorded = recordTexts()
  for (const [at, message] of messages.entries())
    if (message.role === 'assistant')
      recorded.add({
        messages: messages.slice(0, at),
        tools,
        message,
        problems: [],
        tokens: undefined,
        temperature: undefined,
      })
  if (recorded.count() === 0) return { problems: ['no message is of the assistant'] }
  const last = messages.at(-1)
  const isAnswered = last?.role === 'assistant' && last.calls === undefined
  const episode = textEpisode({
    id,
    recorded,
    context: { source: 'chat', models: model === undefined ? [] : [model] },
    ending: isAnswered ? 'answered' : 'aborted',
  })
  return { episode, problems: [] }
}

function promptOf({ messages, system }: Record<string, unknown>): unknown[] {
  const list = Array.isArray(messages) ? (messages as unknown[]) : []
  return system === undefined || system === null ? list : [{ role: 'system', content: system }, ...list]
}

/** The answer of a request that was kept with it. */
function answersOf(line: Record<string, unknown>): unknown[] {
  const answer = isRecord(line['response']) ? line['response'] : line
  const { choices } = answer
  if (Array.isArray(choices))
    return (choices as unknown[]).flatMap((choice) =>
      isRecord(choice) && isRecord(choice['message']) ? [choice['message']] : [],
    )
  return answer['role'] === 'assistant' && 'content' in answer ? [answer] : []
}

function modelOf(line: Record<string, unknown>): string | undefined {
  const answer = isRecord(line['response']) ? line['response'] : line
  const model = line['model'] ?? answer['model']
  return typeof model === 'string' ? model : undefined
}
