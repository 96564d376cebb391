import { defineKind } from '../kind.ts'
import { between, until } from '../shared/draws.ts'
import { itemsOf, numberOf, partly } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

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
