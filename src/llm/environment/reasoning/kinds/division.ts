import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** Division with a remainder; one of the two numbers right is worth a part. */
export const division = defineKind({
  name: 'division',
  about: 'quotient and remainder of two whole numbers',
  knobs: {
    divisor: { least: 5, most: 99, about: 'largest divisor' },
    quotient: { least: 9, most: 999, about: 'largest quotient' },
  },
  levels: [
    { divisor: 9, quotient: 12 },
    { divisor: 12, quotient: 50 },
    { divisor: 40, quotient: 99 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out|Find] the quotient and the remainder of <a> [divided by|over] <b>',
    `${please}divide <a> by <b> and [give|tell me|report] quotient and remainder`,
    '[Divide <a> by <b>|<a> divided by <b>], [with the|and give the|giving the] remainder',
  ],
  unseen: ['How many times does <b> fit into <a>, and how much is left over'],
  draw(random, { divisor, quotient }) {
    const b = between(random, 2, divisor)
    return { a: b * between(random, 1, quotient) + random.int(b), b }
  },
  pose({ a, b }) {
    const quotient = Math.floor(a / b)
    const rest = a % b
    return {
      key: `${a}/${b}`,
      holes: { a: String(a), b: String(b) },
      thought: [`${b} * ${quotient} = ${b * quotient}`, `${a} - ${b * quotient} = ${rest}`],
      answer: `${quotient} remainder ${rest}`,
      score(given) {
        const said =
          /^(?:quotient\D{0,6}|q = )?(\d{1,15})\s*(?:,|r|rem|remainder|and)[a-z=:,\s]{0,24}?(\d{1,15})$/.exec(
            given.toLowerCase(),
          )
        if (said === null) return 0
        const right = Number(Number(said[1]) === quotient) + Number(Number(said[2]) === rest)
        return right === 2 ? 1 : partly(right / 2)
      },
    }
  },
})
