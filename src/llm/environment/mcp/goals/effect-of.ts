import type { Effect } from '../request/argument-words.ts'
import { isPlainObject, parseJson } from '../salient.ts'
import { isListDifference } from '../server/database-state.ts'

/**
 * What a call did, by the words of the state that it added and took away. States are texts; a line of JSON may say what was
 * added to a list and removed from it, and null for what is gone.
 */
export function effectOf(before: string, after: string): Effect {
  const [old, now] = [before, after].map(countWords)
  const [gained, lost] = [surplus(now, old), surplus(old, now)]
  // A counter or a time beside what was added changes too.
  if (gained > 2 * lost) return 'adds'
  return lost > 2 * gained ? 'removes' : 'changes'
}

type Counts = ReadonlyMap<string, number>

/** By how many words one state exceeds another. */
function surplus(one: Counts, other: Counts): number {
  return [...new Set([...one.keys(), ...other.keys()])].reduce(
    (sum, word) => sum + Math.max(0, (one.get(word) ?? 0) - (other.get(word) ?? 0)),
    0,
  )
}

/** How often each word occurs in a state. In what is gone, words count as negative. */
function countWords(state: string): Counts {
  const counts = new Map<string, number>()
  const count = (value: unknown, by = 1): void => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    for (const [word] of text.matchAll(/[\p{L}\p{N}_.@:/-]+/gu))
      counts.set(word, (counts.get(word) ?? 0) + by)
  }
  const visit = (parts: object): void => {
    for (const [name, part] of Object.entries(parts) as [string, unknown][]) {
      if (part === null) count(name, -1)
      else if (isListDifference(part)) {
        count(part.added)
        count(part.removed, -1)
      } else {
        count(name)
        if (isPlainObject(part)) visit(part)
        else count(part)
      }
    }
  }
  for (const line of state.split('\n')) {
    const json = parseJson(line)
    if (isPlainObject(json)) visit(json)
    else count(line)
  }
  return counts
}
