import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

const signed = (number: number): string => (number < 0 ? `- ${-number}` : `+ ${number}`)
const side = (factor: number, constant: number): string =>
  factor === 0 ? String(constant) : `${factor === 1 ? '' : factor}x ${signed(constant)}`

/** One unknown, whole solutions. */
export const linearEquation = defineKind({
  name: 'linear-equation',
  about: 'the unknown of a linear equation',
  knobs: {
    factor: { least: 2, most: 20, about: 'largest factor of x' },
    solution: { least: 9, most: 99, about: 'largest solution' },
    sides: { least: 1, most: 2, about: 'on which x stands' },
    negative: { least: 0, most: 1, about: '1 = solutions may be negative' },
  },
  levels: [
    { factor: 5, solution: 10, sides: 1, negative: 0 },
    { factor: 9, solution: 20, sides: 1, negative: 1 },
    { factor: 12, solution: 30, sides: 2, negative: 1 },
  ],
  templates: [
    '[Solve|Solve for x:|Solve the equation] <equation>',
    `${please}[solve|find x in|find the x of] <equation>`,
    '[What is|Find|Give me|Compute] x [if|when|where] <equation>',
  ],
  unseen: ['For which x does <equation> hold'],
  draw(random, { factor, solution, sides, negative }) {
    const x = between(random, negative === 1 ? -solution : 1, solution)
    const a = between(random, 2, factor)
    const c = sides === 2 ? between(random, 1, a - 1) : 0
    const b = between(random, 1, 20) * random.pick([1, -1])
    return { a, b, c, d: (a - c) * x + b }
  },
  // a x + b = c x + d
  pose({ a, b, c, d }) {
    const x = (d - b) / (a - c)
    const equation = `${side(a, b)} = ${side(c, d)}`
    const both = c === 0 ? [] : [`${a}x - ${c === 1 ? '' : c}x = ${a - c}x`]
    return {
      key: equation,
      holes: { equation },
      thought: [
        ...both,
        `${a - c}x = ${d} ${signed(-b)} = ${d - b}`,
        ...(a - c === 1 ? [] : [`x = ${d - b} / ${a - c} = ${x}`]),
      ],
      answer: String(x),
      score: (given) => scoreNumber(given, x),
    }
  },
})
