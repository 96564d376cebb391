import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** A number of so many digits, not below 2. */
const ofDigits = (random: Random, digits: number): number =>
  between(random, digits === 1 ? 2 : 10 ** (digits - 1), 10 ** digits - 1)

/** Products of numbers of several digits, by the digits of the second. */
export const multiplication = defineKind({
  name: 'multiplication',
  about: 'the product of two whole numbers',
  knobs: {
    left: { least: 1, most: 5, about: 'digits of the first factor' },
    right: { least: 1, most: 4, about: 'digits of the second factor' },
  },
  levels: [
    { left: 2, right: 1 },
    { left: 3, right: 1 },
    { left: 2, right: 2 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out] <a> [times|multiplied by] <b>',
    `${please}[multiply <a> by <b>|multiply <a> and <b>]`,
    '[Give me|Tell me|Find|I need] the product of <a> and <b>',
  ],
  unseen: ['A floor has <a> rows of <b> tiles, how many tiles is that'],
  draw: (random, { left, right }) => ({ a: ofDigits(random, left), b: ofDigits(random, right) }),
  pose({ a, b }: { a: number; b: number }) {
    const answer = a * b
    const places = Array.from(String(b)).map((digit, i, all) => Number(digit) * 10 ** (all.length - 1 - i))
    const parts = places.filter((part) => part > 0)
    const split = parts.map((part) => `${a} * ${part}`).join(' + ')
    const summed = parts.map((part) => String(a * part)).join(' + ')
    return {
      key: [a, b].sort((x, y) => x - y).join('*'),
      holes: { a: String(a), b: String(b) },
      thought: [
        parts.length === 1 ? `${a} * ${b} = ${answer}` : `${a} * ${b} = ${split} = ${summed} = ${answer}`,
      ],
      answer: String(answer),
      score: (given) => scoreNumber(given, answer),
    }
  },
})
