import { defineKind, itemsOf, numberOf, partly, scoreNumber } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'

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

/** Two unknowns by determinants (Cramer's rule); one of them right is worth a part. */
export const linearSystem = defineKind({
  name: 'linear-system',
  about: 'the two unknowns of two linear equations',
  knobs: {
    factor: { least: 2, most: 12, about: 'largest factor of an unknown' },
    solution: { least: 5, most: 50, about: 'largest solution' },
  },
  levels: [
    { factor: 2, solution: 9 },
    { factor: 4, solution: 12 },
    { factor: 9, solution: 20 },
  ],
  templates: [
    '[Solve|Solve the system|Solve for x and y:] <first>, <second>',
    `${please}[solve|find x and y in] <first>, <second>`,
    '[What are|Find|Give me|Compute] x and y [if|when|where] <first> and <second>',
  ],
  unseen: ['Both <first> and <second> hold. Which numbers are x and y'],
  draw(random, { factor, solution }) {
    const [x, y] = [between(random, 1, solution), between(random, 1, solution)]
    const [a, b, c, d] = until(() => {
      const drawn = Array.from({ length: 4 }, () => between(random, 1, factor))
      return drawn[0] * drawn[3] === drawn[1] * drawn[2] ? undefined : drawn
    })
    return { a, b, c, d, e: a * x + b * y, f: c * x + d * y }
  },
  // a x + b y = e, c x + d y = f
  pose({ a, b, c, d, e, f }) {
    const determinant = a * d - b * c
    const [forX, forY] = [e * d - b * f, a * f - e * c]
    const [x, y] = [forX / determinant, forY / determinant]
    const times = (factor: number, name: string): string => `${factor === 1 ? '' : factor}${name}`
    const first = `${times(a, 'x')} + ${times(b, 'y')} = ${e}`
    const second = `${times(c, 'x')} + ${times(d, 'y')} = ${f}`
    return {
      key: [first, second].sort().join(', '),
      holes: { first, second },
      thought: [
        `${a} * ${d} - ${b} * ${c} = ${determinant}`,
        `${e} * ${d} - ${b} * ${f} = ${forX}, x = ${x}`,
        `${a} * ${f} - ${e} * ${c} = ${forY}, y = ${y}`,
      ],
      answer: `x = ${x}, y = ${y}`,
      score(given) {
        const said = itemsOf(given.replaceAll(/\s*=\s*/g, '='))
        if (said.length !== 2 || said[0].startsWith('y') || said[1].startsWith('x')) return 0
        const right = Number(numberOf(said[0]) === x) + Number(numberOf(said[1]) === y)
        return right === 2 ? 1 : partly(right / 2)
      },
    }
  },
})
