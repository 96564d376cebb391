import { defineKind } from '../kind.ts'
import { listed, please } from '../shared/draws.ts'
import {
  assignments,
  drawFormula,
  type Formula,
  holds,
  printFormula,
  reduceFormula,
  substitute,
} from '../shared/expressions.ts'
import { scoreNumber, scoreWord } from '../shared/scores.ts'

const letters = ['p', 'q', 'r', 's'] as const

/** The truth of a formula under given truths of its letters. */
export const booleanValue = defineKind({
  name: 'boolean-value',
  about: 'whether a formula of propositional logic is true for given values',
  knobs: {
    letters: { least: 2, most: 4, about: 'that occur' },
    connectives: { least: 2, most: 7, about: 'and, or, implies' },
  },
  levels: [
    { letters: 2, connectives: 2 },
    { letters: 3, connectives: 3 },
    { letters: 4, connectives: 5 },
  ],
  templates: [
    '[Is|Say whether|Decide whether|Tell me whether] <formula> [is|comes out] true or false, [if|when|where] <values>',
    `${please}[evaluate|work out] <formula>, [where|given that] <values>`,
    '[Let|Suppose] <values>. [Is|What is] <formula>, true or false',
  ],
  unseen: ['With <values>, does <formula> hold? Say true or false'],
  draw(random, { letters: count, connectives }) {
    const used = letters.slice(0, count)
    const truths = Object.fromEntries(used.map((letter) => [letter, random.int(2) === 0]))
    return { formula: drawFormula(random, used, connectives), truths }
  },
  pose({ formula, truths }: { formula: Formula; truths: Record<string, boolean> }) {
    const answer = String(holds(formula, truths))
    const values = listed(Object.entries(truths).map(([letter, truth]) => `${letter} is ${truth}`))
    const steps: string[] = []
    for (
      let next: Formula | undefined = substitute(formula, truths);
      next !== undefined;
      next = reduceFormula(next)
    )
      steps.push(printFormula(next))
    return {
      key: `${printFormula(formula)}: ${values}`,
      holes: { formula: printFormula(formula), values },
      thought: steps,
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})

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
