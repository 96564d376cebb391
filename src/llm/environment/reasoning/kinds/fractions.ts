import { defineKind } from '../kind.ts'
import { between, until } from '../shared/draws.ts'
import { please } from '../shared/words.ts'
import { gcd } from './gcd-lcm.ts'

const lowest = (top: number, bottom: number): string => {
  const divisor = gcd(Math.abs(top), bottom)
  return bottom === divisor ? String(top / divisor) : `${top / divisor}/${bottom / divisor}`
}

/** Sums, differences and products in lowest terms; the right value in other terms is worth a half. */
export const fractions = defineKind({
  name: 'fractions',
  about: 'the sum, difference or product of two fractions in lowest terms',
  knobs: {
    largest: { least: 4, most: 30, about: 'denominator' },
    operators: { least: 1, most: 3, about: '1 = +, 2 = + and -, 3 = + - *' },
  },
  levels: [
    { largest: 6, operators: 1 },
    { largest: 9, operators: 2 },
    { largest: 15, operators: 3 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out] <expression> in lowest terms',
    `${please}[compute|calculate|work out] <expression> and reduce [it|the result]`,
    '[Give me|Tell me|Find] the [value|result] of <expression> as a reduced fraction',
  ],
  unseen: ['Simplify <expression> until nothing cancels'],
  draw(random, { largest, operators }) {
    return until(() => {
      const [b, d] = [between(random, 2, largest), between(random, 2, largest)]
      const drawn = { a: between(random, 1, b - 1), b, c: between(random, 1, d - 1), d }
      const operator = random.pick((['+', '-', '*'] as const).slice(0, operators))
      return operator === '-' && drawn.a * d < drawn.c * b ? undefined : { ...drawn, operator }
    })
  },
  pose({ a, b, c, d, operator }) {
    const bottom = operator === '*' ? b * d : (b * d) / gcd(b, d)
    const [left, right] = [(a * bottom) / b, (c * bottom) / d]
    const top = operator === '*' ? a * c : operator === '+' ? left + right : left - right
    const expression = `${a}/${b} ${operator} ${c}/${d}`
    const answer = lowest(top, bottom)
    const joined = operator === '*' ? '' : ` = ${left}/${bottom} ${operator} ${right}/${bottom}`
    const unreduced = `${top}/${bottom}`
    return {
      key: expression,
      holes: { expression },
      thought: [`${expression}${joined} = ${unreduced}${unreduced === answer ? '' : ` = ${answer}`}`],
      answer,
      score(given) {
        const said = given.replaceAll(' ', '')
        if (said === answer) return 1
        const parts = /^(\d{1,9})(?:\/(\d{1,9}))?$/.exec(said)
        if (parts === null) return 0
        const over = Number(parts[2] ?? 1)
        return over > 0 && Number(parts[1]) * bottom === top * over ? 0.5 : 0
      },
    }
  },
})
