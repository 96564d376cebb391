import type { Episode, EpisodeNode } from '../episode/types.ts'

/** The messages from the first one of its conversation to a node, by the tree of the episode. */
export function conversationTo(nodes: Episode['nodes'], id: number): EpisodeNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const found: EpisodeNode[] = []
  const seen = new Set<EpisodeNode>()
  for (let at = byId.get(id); at !== undefined && !seen.has(at); at = byId.get(at.parent ?? -1)) {
    seen.add(at)
    found.push(at)
  }
  return found.reverse()
}
