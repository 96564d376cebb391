import type { Episode, EpisodeNode } from '../../episode/types.ts'

/** A message as chat templates and TRL read it. */
export interface DatasetMessage {
  role: EpisodeNode['role']
  content: string
  tool_calls?: { type: 'function'; function: { name: string; arguments: Record<string, unknown> } }[]
  /** Of a tool: its name. */
  name?: string
}

export interface Conversation {
  /** What was said before the policy spoke. */
  prompt: DatasetMessage[]
  /** From its first word on. */
  completion: DatasetMessage[]
  /** The policy attempted a call that could not be understood or carried out. */
  invalid: boolean
}

/**
 * The conversations of an episode, one for each end of its tree (one, where nothing branches), each up to the last thing that the policy
 * said.
 */
export function conversationsOf({ nodes }: Pick<Episode, 'nodes'>): Conversation[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const said = nodes.filter(({ role }) => role === 'assistant')
  const pathTo = (node: EpisodeNode): EpisodeNode[] => {
    const path = [node]
    for (let at = node; at.parent !== null; path.unshift(at)) at = byId.get(at.parent)!
    return path
  }
  const paths = said.map(pathTo)
  const goneOn = new Set(paths.flatMap((path) => path.slice(0, -1)))
  return paths.filter((path) => !goneOn.has(path[path.length - 1])).map(toConversation)
}

function toConversation(path: readonly EpisodeNode[]): Conversation {
  const messages = toDatasetMessages(path)
  const first = path.findIndex(({ role }) => role === 'assistant')
  return {
    prompt: messages.slice(0, first),
    completion: messages.slice(first),
    invalid: path.some(({ invalid }) => invalid !== undefined),
  }
}

function toDatasetMessages(path: readonly EpisodeNode[]): DatasetMessage[] {
  const open = new Map<string, string>()
  return path.map(({ role, text, calls, callId }): DatasetMessage => {
    if (role === 'assistant') {
      open.clear()
      for (const { id, name } of calls ?? []) open.set(id, name)
      return {
        role,
        content: text,
        ...(calls === undefined || calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ name, arguments: given }) => ({
                type: 'function',
                function: { name, arguments: given },
              })),
            }),
      }
    }
    if (role !== 'tool') return { role, content: text }
    const name = callId === undefined ? undefined : open.get(callId)
    // The answer to an attempt that was no call belongs to none.
    return name === undefined ? { role: 'user', content: text } : { role, name, content: text }
  })
}
