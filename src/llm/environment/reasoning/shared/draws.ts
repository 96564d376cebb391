import { AgogeError } from '../../../../error.ts'
import type { Random } from '../../../../engine/random/index.ts'

/** A whole number from `least` to `most`, both included. */
export const between = (random: Random, least: number, most: number): number =>
  least + random.int(most - least + 1)

/** True with the given chance. */
export const chance = (random: Random, probability: number): boolean => random.next() < probability

/** `count` different ones in random order. */
export const several = <T>(random: Random, values: readonly T[], count: number): T[] =>
  random.shuffle(values).slice(0, count)

/** `count` different whole numbers from `least` to `most`; the range has at least so many. */
export function numbers(random: Random, count: number, least: number, most: number): number[] {
  const found = new Set<number>()
  while (found.size < count) found.add(between(random, least, most))
  return [...found]
}

const mostTries = 20_000

/**
 * Draws until one fits.
 *
 * @throws AgogeError where none of 20,000 does: the difficulty leaves nothing that can be asked.
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
