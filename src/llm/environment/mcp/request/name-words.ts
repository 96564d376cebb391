import { spoken } from '../arguments/words.ts'
import { longForms } from './lexicon.ts'

/** Words of a name in full: `del_dir` becomes "delete folder". */
export function nameWords(name: string): string[] {
  return spoken(name.replace(/(?<=[a-z])2(?=[a-z])/gi, '_to_')).flatMap((word) =>
    Object.hasOwn(longForms, word) ? longForms[word].split(' ') : [word],
  )
}

/** The words of a property with "date" for the preposition of a time: `ordered_on`, `created_at`. */
export function dated(words: readonly string[]): string[] {
  const isDate = words.length > 1 && ['on', 'at'].includes(words[words.length - 1])
  return isDate ? [...words.slice(0, -1), 'date'] : [...words]
}

/** Whether a property's name can be asked for: not a preposition ("from"), a verb ("exists", "is file") or a letter. */
export function isNoun(key: string): boolean {
  const words = nameWords(key)
  const [first = ''] = words
  if (/^(?:is|has|was|can)$/.test(first)) return false
  return first.length > 1 && (words.length > 1 || !/^(?:from|to|in|at|by|on|for|with|of|exists)$/.test(first))
}
