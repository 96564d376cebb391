import type { Episode } from '../episode/types.ts'
import type { SampleEpisode, SampleMessage } from './types.ts'

/**
 * Held-out tasks that failed before and succeeded after, of as many families as possible, those first that gained
 * most. Among several the one with most calls is taken: it shows most.
 */
export function wrongToRight(
  before: readonly Episode[],
  after: readonly Episode[],
  count: number,
): SampleEpisode[] {
  const earlier = new Map(before.map((episode) => [episode.task, episode]))
  const kinds = new Map<string, { before: Episode; after: Episode }[]>()
  for (const episode of after) {
    const old = earlier.get(episode.task)
    if (old === undefined || old.status === 'masked' || old.success !== false || episode.success !== true)
      continue
    kinds.set(episode.kind, [...(kinds.get(episode.kind) ?? []), { before: old, after: episode }])
  }
  const ranked = [...kinds.values()]
    .map((pairs) => pairs.toSorted((a, b) => b.after.usage.calls - a.after.usage.calls))
    .sort((a, b) => b.length - a.length)
  const longest = Math.max(0, ...ranked.map((pairs) => pairs.length))
  const chosen = Array.from({ length: longest }, (_, round) =>
    ranked.flatMap((pairs) => pairs.slice(round, round + 1)),
  )
  return chosen
    .flat()
    .slice(0, count)
    .map((pair) => ({
      task: pair.after.task,
      kind: pair.after.kind,
      prompt: pair.after.nodes.find((node) => node.role === 'user')?.text ?? '',
      before: messages(pair.before),
      after: messages(pair.after),
    }))
}

function messages(episode: Episode): SampleMessage[] {
  return episode.nodes.map(({ role, text, calls, isError, invalid }) => ({
    role,
    text,
    ...(calls === undefined
      ? {}
      : { calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })) }),
    ...(isError === undefined ? {} : { isError }),
    ...(invalid === undefined ? {} : { invalid }),
  }))
}
