import { defineKind } from '../kind.ts'
import { between, chance } from '../shared/draws.ts'
import { evaluate, parse, print, reduce } from '../shared/expression.ts'
import type { Expression } from '../shared/expression.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** Sums, differences and products with brackets; products have a factor below ten. */
export const arithmeticChain = defineKind({
  name: 'arithmetic-chain',
  about: 'the value of an expression with + - * and brackets',
  knobs: {
    numbers: { least: 2, most: 6, about: 'in the expression' },
    largest: { least: 9, most: 999, about: 'number' },
    products: { least: 0, most: 1, about: '1 = may multiply' },
    brackets: { least: 0, most: 1, about: '1 = may have a pair of brackets' },
  },
  levels: [
    { numbers: 2, largest: 20, products: 0, brackets: 0 },
    { numbers: 3, largest: 30, products: 1, brackets: 0 },
    { numbers: 4, largest: 99, products: 1, brackets: 1 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out|Evaluate] <expression>',
    `${please}[compute|calculate|work out] <expression>`,
    '[Give me|Tell me|Find] the [value|result] of <expression>',
    '[How much is|What does one get for] <expression>',
  ],
  unseen: ['<expression> = ?', 'Simplify <expression> to a single integer'],
  draw(random, { numbers, largest, products, brackets }) {
    const opened = brackets === 1 && numbers > 2 ? random.int(numbers - 1) : -1
    let text = ''
    let before = ''
    for (let i = 0; i < numbers; i++) {
      const factor = before === '*'
      const number = between(random, 1, factor ? Math.min(9, largest) : largest)
      const next = products === 1 && before !== '*' && chance(random, 0.35) ? '*' : random.pick(['+', '-'])
      text += `${i === opened ? '(' : ''}${number}${i === opened + 1 && opened >= 0 ? ')' : ''}`
      if (i < numbers - 1) text += ` ${next} `
      before = next
    }
    return { text }
  },
  pose({ text }) {
    const expression = parse(text) as Expression
    const answer = evaluate(expression)
    const steps = [text]
    for (let next = reduce(expression); next !== undefined; next = reduce(next)) steps.push(print(next))
    return {
      key: text,
      holes: { expression: text },
      thought: [steps.join(' = ')],
      answer: String(answer),
      score: (given) => scoreNumber(given, answer),
    }
  },
})
