import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

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
