import { AgogeError } from './error.ts'
import type { ErrorCode } from './error.ts'

/**
 * The known word closest to what was given by edit distance. `undefined` if all need more edits than a third of
 * the length of `given`, rounded up, or more than 2 if that is larger. Case does not count.
 *
 * @example
 * closestName('cartpoel', ['cartpole', 'acrobot']) // 'cartpole'
 */
export function closestName(given: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.ceil(given.length / 3)) + 1
  for (const word of known) {
    const distance = editDistance(given.toLowerCase(), word.toLowerCase())
    if (distance < bestDistance) {
      best = word
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

/** What is found by name. Its first word makes the code of the error. */
type FoundWord = Extract<ErrorCode, `unknown-${string}`> extends `unknown-${infer Word}` ? Word : never
type FoundKind = FoundWord | `${FoundWord} ${string}`

/** The entry of this name. Throws `unknown-` and the first word of `kind`, listing what there is, with a suggestion. */
export function findNamed<T>(kind: FoundKind, name: string, known: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(known, name)) return known[name]
  const names = Object.keys(known)
  const meant = closestName(name, names)
  throw new AgogeError(`There is no ${kind} named "${name}".`, {
    code: `unknown-${kind.split(' ')[0] as FoundWord}`,
    given: name,
    expected: names.length === 0 ? 'none: there is nothing to choose' : `one of ${names.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
