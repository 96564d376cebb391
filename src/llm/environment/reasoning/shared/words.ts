import { wordLists } from '../../definition/words.ts'

const all = (kind: 'nouns' | 'groups' | 'adjectives'): string[] =>
  (['train', 'validation', 'test'] as const).flatMap((split) => wordLists(split)[kind])

const short = (words: readonly string[], most: number): string[] =>
  words.filter((word) => word.length <= most)

/** Short words of plain English: single things, and kinds in the plural. Which instance is of which split is decided by their hash. */
export const things = short(all('nouns'), 7)
export const kinds = short(all('groups'), 8).filter((word) => word.endsWith('s'))

/** People, of whom nothing but the name matters. */
export const women: readonly string[] = ['Ann', 'Eva', 'Ida', 'Kim', 'Lea', 'Mia', 'Pam', 'Sue', 'Una', 'Zoe']
export const men: readonly string[] = ['Ben', 'Dan', 'Gus', 'Hal', 'Jim', 'Leo', 'Max', 'Ned', 'Rob', 'Tom']
export const people: readonly string[] = [...women, ...men]

/** Beginnings of requests that ask nothing of their own. */
export const please = '[|Please |Can you |Could you ]'

/** "a, b and c". */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
