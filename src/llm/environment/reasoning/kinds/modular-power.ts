import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** Powers modulo a number, one factor at a time. */
export const modularPower = defineKind({
  name: 'modular-power',
  about: 'the remainder of a power',
  knobs: {
    base: { least: 9, most: 50, about: 'largest base' },
    exponent: { least: 2, most: 8, about: 'largest exponent' },
    modulus: { least: 5, most: 50, about: 'largest modulus' },
  },
  levels: [
    { base: 20, exponent: 2, modulus: 15 },
    { base: 12, exponent: 4, modulus: 12 },
    { base: 30, exponent: 6, modulus: 30 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out|Find] <base>^<exponent> mod <modulus>',
    `${please}[find|compute|tell me] the remainder of <base>^<exponent> [divided by|over] <modulus>`,
    '[Give me|Tell me] [the remainder when|what is left when] <base>^<exponent> is divided by <modulus>',
  ],
  unseen: ['Reduce <base>^<exponent> modulo <modulus>'],
  draw: (random, { base, exponent, modulus }) => ({
    base: between(random, 2, base),
    exponent: between(random, 2, exponent),
    modulus: between(random, 3, modulus),
  }),
  pose({ base, exponent, modulus }) {
    let value = base % modulus
    const lines: string[] = base === value ? [] : [`${base} mod ${modulus} = ${value}`]
    const factor = value
    for (let i = 1; i < exponent; i++) {
      const next = (value * factor) % modulus
      lines.push(`${value} * ${factor} = ${value * factor} mod ${modulus} = ${next}`)
      value = next
    }
    return {
      key: `${base}^${exponent} mod ${modulus}`,
      holes: { base: String(base), exponent: String(exponent), modulus: String(modulus) },
      thought: lines,
      answer: String(value),
      score: (given) => scoreNumber(given, value),
    }
  },
})
