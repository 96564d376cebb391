import { defineKind } from '../kind.ts'
import { drawFormula, holds, printFormula, reduceFormula, substitute } from '../shared/formula.ts'
import type { Formula } from '../shared/formula.ts'
import { scoreWord } from '../shared/scores.ts'
import { listed, please } from '../shared/words.ts'

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
