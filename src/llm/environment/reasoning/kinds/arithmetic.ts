import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, partly, scoreNumber } from '../kind.ts'
import { between, chance, please, until } from '../shared/draws.ts'
import { evaluate, type Expression, parse, print, reduce } from '../shared/expressions.ts'
import { gcd } from './numbers.ts'

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

/** A number of so many digits, not below 2. */
const ofDigits = (random: Random, digits: number): number =>
  between(random, digits === 1 ? 2 : 10 ** (digits - 1), 10 ** digits - 1)

/** Products of numbers of several digits, by the digits of the second. */
export const multiplication = defineKind({
  name: 'multiplication',
  about: 'the product of two whole numbers',
  knobs: {
    left: { least: 1, most: 5, about: 'digits of the first factor' },
    right: { least: 1, most: 4, about: 'digits of the second factor' },
  },
  levels: [
    { left: 2, right: 1 },
    { left: 3, right: 1 },
    { left: 2, right: 2 },
  ],
  templates: [
    '[What is|Compute|Calculate|Work out] <a> [times|multiplied by] <b>',
    `${please}[multiply <a> by <b>|multiply <a> and <b>]`,
    '[Give me|Tell me|Find|I need] the product of <a> and <b>',
  ],
  unseen: ['A floor has <a> rows of <b> tiles, how many tiles is that'],
  draw: (random, { left, right }) => ({ a: ofDigits(random, left), b: ofDigits(random, right) }),
  pose({ a, b }: { a: number; b: number }) {
    const answer = a * b
    const places = Array.from(String(b)).map((digit, i, all) => Number(digit) * 10 ** (all.length - 1 - i))
    const parts = places.filter((part) => part > 0)
    const split = parts.map((part) => `${a} * ${part}`).join(' + ')
    const summed = parts.map((part) => String(a * part)).join(' + ')
    return {
      key: [a, b].sort((x, y) => x - y).join('*'),
      holes: { a: String(a), b: String(b) },
      thought: [
        parts.length === 1 ? `${a} * ${b} = ${answer}` : `${a} * ${b} = ${split} = ${summed} = ${answer}`,
      ],
      answer: String(answer),
      score: (given) => scoreNumber(given, answer),
    }
  },
})

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
