import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber, scoreWord } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

const values = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
] as const

/** Roman numerals in both directions. */
export const romanNumerals = defineKind({
  name: 'roman-numerals',
  about: 'a number as a Roman numeral, or the other way round',
  knobs: { largest: { least: 100, most: 3999, about: 'number' } },
  levels: [{ largest: 100 }, { largest: 500 }, { largest: 3999 }],
  templates: [
    `${please}[write|give me] <given> as [a|an ordinary] <kind>`,
    '[What is|How do you write|How does one write] <given> as a <kind>',
    '[Convert|Translate|Turn|Change] <given> [into|to] a <kind>',
  ],
  unseen: ['<given> is meant to stand here as a <kind>, so what should be written'],
  draw: (random, { largest }) => ({ number: between(random, 1, largest), roman: random.int(2) === 0 }),
  pose({ number, roman }) {
    const parts: (readonly [string, number])[] = []
    let rest = number
    for (const part of values) {
      for (; rest >= part[1]; rest -= part[1]) parts.push(part)
    }
    const numeral = parts.map(([letters]) => letters).join('')
    return {
      key: `${number} ${roman ? 'to' : 'from'} roman`,
      holes: roman
        ? { given: String(number), kind: 'Roman numeral' }
        : { given: `the numeral ${numeral}`, kind: 'number' },
      thought: [
        parts.map(([letters, value]) => (roman ? `${value} ${letters}` : `${letters} ${value}`)).join(', '),
      ],
      answer: roman ? numeral : String(number),
      score: (given) => (roman ? scoreWord(given, numeral) : scoreNumber(given, number)),
    }
  },
})
