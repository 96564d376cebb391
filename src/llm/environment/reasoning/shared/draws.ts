import type { Random } from '../../../../engine/random/index.ts'
import { AgogeError } from '../../../../error.ts'
import { wordLists } from '../../definition/words.ts'

/** A whole number from `least` to `most`, both included. */
export const between = (random: Random, least: number, most: number): number =>
  least + random.int(most - least + 1)

/** True with the given probability. */
export const chance = (random: Random, probability: number): boolean => random.next() < probability

/** `count` distinct items in random order. */
export const several = <T>(random: Random, values: readonly T[], count: number): T[] =>
  random.shuffle(values).slice(0, count)

/** `count` distinct whole numbers from `least` to `most`. The range must be large enough. */
export function numbers(random: Random, count: number, least: number, most: number): number[] {
  const found = new Set<number>()
  while (found.size < count) found.add(between(random, least, most))
  return [...found]
}

const mostTries = 20_000

/**
 * Draws until a value is accepted.
 *
 * @throws AgogeError if none of 20,000 draws is accepted: the difficulty leaves no possible question.
 */
export function until<T>(draw: () => T | undefined): T {
  for (let i = 0; i < mostTries; i++) {
    const drawn = draw()
    if (drawn !== undefined) return drawn
  }
  throw new AgogeError('There is no question of this difficulty', {
    code: 'bad-difficulty',
    expected: 'controls that go together',
  })
}

const all = (kind: 'nouns' | 'groups' | 'adjectives'): string[] =>
  (['train', 'validation', 'test'] as const).flatMap((split) => wordLists(split)[kind])

const short = (words: readonly string[], most: number): string[] =>
  words.filter((word) => word.length <= most)

/** Short English words: single things, and plurals of kinds. The hash of an instance decides its split. */
export const things = short(all('nouns'), 7)
export const kinds = short(all('groups'), 8).filter((word) => word.endsWith('s'))

/** Names of people. */
export const women: readonly string[] = ['Ann', 'Eva', 'Ida', 'Kim', 'Lea', 'Mia', 'Pam', 'Sue', 'Una', 'Zoe']
const men: readonly string[] = ['Ben', 'Dan', 'Gus', 'Hal', 'Jim', 'Leo', 'Max', 'Ned', 'Rob', 'Tom']
export const people: readonly string[] = [...women, ...men]

/** Neutral beginnings of requests. */
export const please = '[|Please |Can you |Could you ]'

/** "a, b and c". */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
