import { defineKind, numberOf, scoreNumber, scoreWord } from '../kind.ts'
import { between, please } from '../shared/draws.ts'

export const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

/** Euclid's algorithm; the least common multiple by it. */
export const gcdLcm = defineKind({
  name: 'gcd-lcm',
  about: 'the greatest common divisor or least common multiple of two numbers',
  knobs: {
    largest: { least: 20, most: 999, about: 'number' },
    multiples: { least: 0, most: 1, about: '1 = half of the questions ask for the multiple' },
  },
  levels: [
    { largest: 40, multiples: 0 },
    { largest: 60, multiples: 1 },
    { largest: 300, multiples: 1 },
  ],
  templates: [
    '[What is|Compute|Calculate|Find|Give me] the <wanted> of <a> and <b>',
    `${please}[find|compute|tell me] the <wanted> of <a> and <b>`,
    '[Take|Look at|Here are|Given are] <a> and <b>. [What is|Tell me|Find] their <wanted>',
  ],
  unseen: ['Two numbers are given, <a> and <b>: state their <wanted>'],
  draw(random, { largest, multiples }) {
    const common = between(random, 1, Math.floor(Math.sqrt(largest)))
    const most = Math.floor(largest / common)
    const [a, b] = [common * between(random, 2, most), common * between(random, 2, most)]
    return { a, b, multiple: multiples === 1 && random.int(2) === 0 }
  },
  pose({ a, b, multiple }) {
    const divisor = gcd(a, b)
    const answer = multiple ? (a * b) / divisor : divisor
    const lines: string[] = []
    for (let [x, y] = [Math.max(a, b), Math.min(a, b)]; y > 0; [x, y] = [y, x % y])
      lines.push(`${x} = ${Math.floor(x / y)} * ${y} + ${x % y}`)
    if (multiple) lines.push(`${a} / ${divisor} * ${b} = ${answer}`)
    return {
      key: `${multiple ? 'lcm' : 'gcd'} ${Math.min(a, b)} ${Math.max(a, b)}`,
      holes: {
        a: String(a),
        b: String(b),
        wanted: multiple ? 'least common multiple' : 'greatest common divisor',
      },
      thought: lines,
      answer: String(answer),
      score: (given) => scoreNumber(given, answer),
    }
  },
})

/** By trial division; factors that are not prime but give the number are worth a part. */
export const primeFactors = defineKind({
  name: 'prime-factors',
  about: 'the prime factors of a number',
  knobs: { largest: { least: 200, most: 5000, about: 'number' } },
  levels: [{ largest: 200 }, { largest: 500 }, { largest: 2000 }],
  templates: [
    `${please}[factor|factorise|decompose] <number> into primes`,
    '[Write|Give me|Show me] <number> as a product of primes',
    '[What are|Find|List|Name] [the|all] prime factors of <number>, [each as often as it divides|with repetitions]',
  ],
  unseen: ['Break <number> down until only primes are left'],
  draw: (random, { largest }) => ({ number: between(random, 4, largest) }),
  pose({ number }) {
    const factors = primesOf(number)
    let rest = number
    const lines = factors.slice(0, -1).map((factor) => {
      const before = rest
      rest /= factor
      return `${before} = ${factor} * ${rest}`
    })
    return {
      key: String(number),
      holes: { number: String(number) },
      thought: lines.length === 0 ? [`${number} is prime`] : lines,
      answer: factors.join(' * '),
      score(given) {
        const text = given.replace(/^\d+ = /, '').replaceAll('and', ',')
        const said = text.split(/\s*[*×x,]\s*/).map((part) => numberOf(part))
        if (said.length > 40 || said.reduce((product, factor) => product * factor, 1) !== number) return 0
        if (said.sort((a, b) => a - b).join(' ') === factors.join(' ')) return 1
        // One times the number, or signs, are no step towards the factors.
        return said.length > 1 && said.every((factor) => factor > 1) ? 0.3 : 0
      },
    }
  },
})

function primesOf(number: number): number[] {
  const found: number[] = []
  let rest = number
  for (let factor = 2; factor * factor <= rest; factor++) {
    while (rest % factor === 0) {
      found.push(factor)
      rest /= factor
    }
  }
  return rest > 1 ? [...found, rest] : found
}

const names: Readonly<Record<number, string>> = { 2: 'binary', 8: 'octal', 10: 'decimal', 16: 'hexadecimal' }
const bases = [
  [2, 10],
  [2, 8, 10],
  [2, 8, 10, 16],
] as const

/** Whole numbers in bases 2, 8, 10 and 16. */
export const baseConversion = defineKind({
  name: 'base-conversion',
  about: 'a whole number in another base',
  knobs: {
    largest: { least: 100, most: 65_535, about: 'number' },
    bases: { least: 1, most: 3, about: '1 = binary and decimal, 2 = octal too, 3 = hexadecimal too' },
  },
  levels: [
    { largest: 100, bases: 1 },
    { largest: 255, bases: 2 },
    { largest: 4095, bases: 3 },
  ],
  templates: [
    `${please}[convert|translate|change|turn] <digits> from <from> [to|into] <to>`,
    '[What is|Write|Give me|Show me|Tell me] the <from> number <digits> in <to>',
    'The number <digits> is <from>. [What is it in|How is it written in|Write it in|Give it in|Show it in] <to>',
  ],
  unseen: ['<from> <digits> equals which <to> number'],
  draw(random, { largest, bases: kinds }) {
    const [from, to] = random.shuffle(bases[kinds - 1])
    return { value: between(random, 2, largest), from, to }
  },
  pose({ value, from, to }) {
    const digits = value.toString(from)
    const answer = value.toString(to)
    const plain = (text: string): string =>
      text
        .toLowerCase()
        .replace(/^0[bxo](?=.)/, '')
        .replace(/^0+(?=.)/, '')
    return {
      key: `${digits} ${from} ${to}`,
      holes: { digits, from: names[from], to: names[to] },
      thought: [
        ...(from === 10 ? [] : [readDigits(digits, from)]),
        ...(to === 10 ? [] : [divide(value, to)]),
      ],
      answer,
      score: (given) => (plain(given) === answer ? 1 : 0),
    }
  },
})

/** Horner's scheme: the value after each digit. */
function readDigits(digits: string, base: number): string {
  let value = 0
  return Array.from(digits)
    .map((digit) => {
      value = value * base + Number.parseInt(digit, base)
      return String(value)
    })
    .join(', ')
}

/** What is left and its last digit, digit by digit. */
function divide(value: number, base: number): string {
  const parts: string[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / base))
    parts.push(`${rest} ${(rest % base).toString(base)}`)
  return parts.join(', ')
}

const values = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
] as const

/** Roman numerals in both directions. */
export const romanNumerals = defineKind({
  name: 'roman-numerals',
  about: 'a number as a Roman numeral, or the other way round',
  knobs: { largest: { least: 100, most: 3999, about: 'number' } },
  levels: [{ largest: 100 }, { largest: 500 }, { largest: 3999 }],
  templates: [
    `${please}[write|give me] <given> as [a|an ordinary] <kind>`,
    '[What is|How do you write|How does one write] <given> as a <kind>',
    '[Convert|Translate|Turn|Change] <given> [into|to] a <kind>',
  ],
  unseen: ['<given> is meant to stand here as a <kind>, so what should be written'],
  draw: (random, { largest }) => ({ number: between(random, 1, largest), roman: random.int(2) === 0 }),
  pose({ number, roman }) {
    const parts: (readonly [string, number])[] = []
    let rest = number
    for (const part of values) {
      for (; rest >= part[1]; rest -= part[1]) parts.push(part)
    }
    const numeral = parts.map(([letters]) => letters).join('')
    return {
      key: `${number} ${roman ? 'to' : 'from'} roman`,
      holes: roman
        ? { given: String(number), kind: 'Roman numeral' }
        : { given: `the numeral ${numeral}`, kind: 'number' },
      thought: [
        parts.map(([letters, value]) => (roman ? `${value} ${letters}` : `${letters} ${value}`)).join(', '),
      ],
      answer: roman ? numeral : String(number),
      score: (given) => (roman ? scoreWord(given, numeral) : scoreNumber(given, number)),
    }
  },
})
