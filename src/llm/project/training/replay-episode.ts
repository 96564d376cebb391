import { isDeepStrictEqual } from 'node:util'
import type { ConversationMessage } from '../../agent/chat-format/types.ts'
import type { Episode, EpisodeNode } from '../../episode/types.ts'
import type { Teacher } from '../../rollout/agents/rollout-agent.ts'
import type { ToolLike } from '../../tool/define-tools.ts'
import type { EnvironmentTool } from '../environment.ts'
import type { TrialSettings } from '../run-trial.ts'
import type { ConfigTask } from './agent-program.ts'

/** Settings by which an agent gets the results of an episode in place of those of its tools. Tools that it brings itself still act. */
export function replaying(settings: TrialSettings, episode: Episode): TrialSettings {
  const { environment } = settings
  return {
    ...settings,
    tools(trial) {
      const next = resultsOf(episode)
      return mapTools(settings.tools(trial), (name, tool): ToolLike => ({
        ...tool,
        execute: async (input: never) => next(name, input),
      }))
    },
    environment: environment && {
      async open(task, options) {
        const session = await environment.open(task, options)
        const next = resultsOf(episode)
        const tools = mapTools(session.tools, (name, tool): EnvironmentTool => ({
          ...tool,
          execute: async (input) => next(name, input),
        }))
        return { ...session, tools, judge: () => Promise.resolve({ value: 1, parts: {} }) }
      },
    },
  }
}

const mapTools = <Tool>(
  tools: Record<string, Tool>,
  map: (name: string, tool: Tool) => Tool,
): Record<string, Tool> =>
  Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, map(name, tool)]))

/** The recorded results, each given once, to the same call. */
function resultsOf({ nodes }: Episode): (name: string, input: unknown) => string {
  const calls = nodes.flatMap(({ calls = [] }) => calls)
  const open = nodes.filter(({ role }) => role === 'tool')
  return (name, input) => {
    const at = open.findIndex(({ callId }) => {
      const call = calls.find(({ id }) => id === callId)
      return call?.name === name && isDeepStrictEqual(call.arguments, input)
    })
    if (at < 0) throw new Error(`the episode has no such call of ${name}`)
    const [{ text, isError }] = open.splice(at, 1)
    if (isError === true) throw new Error(text)
    return text
  }
}

/**
 * What the model of an episode said after these messages.
 *
 * @throws Error if the episode has no such conversation.
 */
export function speakingAs(
  { nodes }: Episode,
  messages: readonly ConversationMessage[],
): ReturnType<Teacher<ConfigTask>> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const before = (node: EpisodeNode): EpisodeNode[] => {
    const path: EpisodeNode[] = []
    for (let at = node.parent; at !== null; at = path[0].parent) path.unshift(byId.get(at)!)
    return path
  }
  const answer = nodes.find((node) => {
    if (node.role !== 'assistant' || node.invalid !== undefined) return false
    const path = before(node)
    return path.length === messages.length && path.every((one, i) => isAlike(one, messages[i]))
  })
  if (answer === undefined) throw new Error('the episode has no such conversation')
  const { text, calls = [] } = answer
  return calls.length === 0
    ? { text }
    : { text, calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })) }
}

/** Ids of calls differ from one run of an agent to the next. */
function isAlike(node: EpisodeNode, { role, text, calls = [] }: ConversationMessage): boolean {
  const said = (of: readonly { name: string; arguments: unknown }[]): unknown =>
    of.map(({ name, arguments: given }) => [name, given])
  return (
    node.role === role &&
    node.text.trim() === text.trim() &&
    isDeepStrictEqual(said(node.calls ?? []), said(calls))
  )
}
