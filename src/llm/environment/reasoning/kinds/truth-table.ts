import { defineKind } from '../kind.ts'
import { assignments, drawFormula, holds, printFormula } from '../shared/formula.ts'
import type { Formula } from '../shared/formula.ts'
import { scoreNumber } from '../shared/scores.ts'
import { listed, please } from '../shared/words.ts'

const names = ['p', 'q', 'r'] as const

/** How many rows of its truth table a formula is true in. */
export const truthTable = defineKind({
  name: 'truth-table',
  about: 'how many assignments make a formula true',
  knobs: {
    letters: { least: 2, most: 3, about: 'that occur' },
    connectives: { least: 2, most: 6, about: 'and, or, implies' },
  },
  levels: [
    { letters: 2, connectives: 2 },
    { letters: 2, connectives: 3 },
    { letters: 3, connectives: 4 },
  ],
  templates: [
    '[How many|Tell me how many|Count how many] [values|truth values|assignments] of <letters> make <formula> true',
    `${please}count the rows of the truth table in which <formula> is true, [for|over|with] <letters>`,
    '[In how many|How many] of the <rows> [cases|rows] of <letters> is <formula> true',
  ],
  unseen: ['Over <letters>, <rows> rows belong to <formula>. State the number of those that come out true'],
  draw: (random, { letters, connectives }) => ({
    letters: names.slice(0, letters),
    formula: drawFormula(random, names.slice(0, letters), connectives),
  }),
  pose({ letters, formula }: { letters: readonly string[]; formula: Formula }) {
    const rows = assignments(letters)
    const count = rows.filter((row) => holds(formula, row)).length
    const short = (truth: boolean): string => (truth ? 'T' : 'F')
    return {
      key: printFormula(formula),
      holes: { formula: printFormula(formula), letters: listed(letters), rows: String(rows.length) },
      thought: rows.map(
        (row) => `${letters.map((letter) => short(row[letter])).join(' ')}: ${short(holds(formula, row))}`,
      ),
      answer: String(count),
      score: (given) => scoreNumber(given, count),
    }
  },
})
