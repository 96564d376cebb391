import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { EpisodeNode } from '../episode/types.ts'
import { originalName } from '../setup/change-call.ts'
import type { Demonstration } from '../setup/setup.ts'
import type { SetupTrial } from './lever.ts'
import type { ProposalExample } from '../project/optimise-settings.ts'

const longestConversation = 2000

/** A trial as a proposer reads it: without the system message, cut to 2,000 characters. */
export function exampleOf(trial: SetupTrial): ProposalExample {
  const { task, record } = trial
  const conversation = conversationOf(trial)
    .map(({ role, text, calls = [] }) => {
      const made = calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)
      return `${role}: ${[text, ...made].filter((part) => part !== '').join('\n')}`
    })
    .join('\n')
  const { answer, state } = task.expected ?? {}
  const expected = answer === undefined ? state : typeof answer === 'string' ? answer : JSON.stringify(answer)
  return {
    request: task.prompt,
    conversation:
      conversation.length > longestConversation
        ? `${conversation.slice(0, longestConversation)} ...`
        : conversation,
    ...(expected !== undefined && { expected }),
    isSuccess: record.success === true,
  }
}

/** Failed trials first, at most `count`, of different tasks. */
export function instructiveExamples(trials: readonly SetupTrial[], count: number): ProposalExample[] {
  const failed = trials.filter(({ record }) => record.success === false)
  const succeeded = trials.filter(({ record }) => record.success === true)
  const chosen = [...failed.slice(0, Math.max(1, count - 1)), ...succeeded].slice(0, count)
  return chosen.map(exampleOf)
}

/** The conversation of a trial as the agent had it: without what its setup added, and with the agent's names of tools. */
export function conversationOf({ episode, setup }: SetupTrial): ConversationMessage[] {
  const last = episode.samples.at(-1)
  if (last === undefined) return []
  const path = [...last.path, last.output].map((id) => episode.nodes[id])
  const shown = (setup.demonstrations ?? []).reduce((sum, { messages }) => sum + messages.length, 0)
  return path
    .filter(({ role }) => role !== 'system')
    .slice(shown)
    .map((node) => messageOf(node, (name) => originalName(name, setup)))
}

function messageOf(
  { role, text, calls, callId, isError }: EpisodeNode,
  nameOf: (name: string) => string,
): ConversationMessage {
  return {
    role,
    text,
    ...(calls !== undefined && { calls: calls.map((call) => ({ ...call, name: nameOf(call.name) })) }),
    ...(callId !== undefined && { callId }),
    ...(isError === true && { isError }),
  }
}

/** A successful trial as a demonstration. */
export function demonstrationOf(trial: SetupTrial): Demonstration {
  return { task: trial.task.id, messages: conversationOf(trial) }
}
