import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { please } from '../shared/words.ts'

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
