import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, scoreNumber } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'

interface Rule {
  draw(random: Random, largest: number): number[]
  terms(parameters: readonly number[], count: number): number[]
}

const count = (length: number, value: (i: number) => number): number[] =>
  Array.from({ length }, (_, i) => value(i))

/** Rules from easy to hard; what they show is six terms, which no other rule here continues otherwise. */
const rules: Readonly<Record<string, Rule>> = {
  steps: {
    draw: (random, n) => [between(random, 1, n), between(random, 2, n) * random.pick([1, 1, -1])],
    terms: ([start, step], length) => count(length, (i) => start + i * step),
  },
  growing: {
    draw: (random, n) => [between(random, 1, n), between(random, 1, 9), between(random, 1, 5)],
    terms: ([start, step, more], length) => count(length, (i) => start + i * step + (more * i * (i - 1)) / 2),
  },
  factors: {
    draw: (random, n) => [between(random, 1, n), between(random, 2, 4)],
    terms: ([start, factor], length) => count(length, (i) => start * factor ** i),
  },
  sums: {
    draw: (random, n) => [between(random, 1, n), between(random, 1, n)],
    terms([first, second], length) {
      const terms = [first, second]
      while (terms.length < length) terms.push(terms[terms.length - 1] + terms[terms.length - 2])
      return terms
    },
  },
  turns: {
    draw: (random, n) => [between(random, 1, n), between(random, 2, n), -between(random, 1, n)],
    terms: ([start, one, other], length) =>
      count(length, (i) => start + Math.ceil(i / 2) * one + Math.floor(i / 2) * other),
  },
}
const shown = 6

/** The next number of a row. */
export const sequence = defineKind({
  name: 'sequence',
  about: 'the next number of a sequence',
  knobs: {
    rules: {
      least: 1,
      most: 5,
      about: 'steps, growing steps, factors, sums of the last two, two steps in turn',
    },
    largest: { least: 5, most: 50, about: 'first term and step' },
  },
  levels: [
    { rules: 1, largest: 20 },
    { rules: 3, largest: 12 },
    { rules: 5, largest: 20 },
  ],
  templates: [
    '[What is|What comes|Which number comes|Which number is] next: <terms>',
    `${please}[continue|go on with] <terms> by one [number|term]`,
    '[Find|Give me|Tell me] the next [number|term] of <terms>',
  ],
  unseen: ['The row <terms> follows a rule, so what must be written after it'],
  draw(random, { rules: most, largest }) {
    const rule = random.pick(Object.keys(rules).slice(0, most))
    return { rule, parameters: rules[rule].draw(random, largest) }
  },
  pose({ rule, parameters }) {
    const terms = rules[rule].terms(parameters, shown + 1)
    const next = terms[shown]
    const given = terms.slice(0, shown)
    const gaps = given.slice(1).map((term, i) => term - given[i])
    const last = given[shown - 1]
    const [row, step] =
      rule === 'factors'
        ? [`times ${parameters[1]}`, `${last} * ${parameters[1]} = ${next}`]
        : rule === 'sums'
          ? ['sums of two', `${given[shown - 2]} + ${last} = ${next}`]
          : [`steps ${gaps.join(', ')}, then ${next - last}`, `${last} + ${next - last} = ${next}`]
    return {
      key: given.join(', '),
      holes: { terms: given.join(', ') },
      thought: [row, step.replace('+ -', '- ')],
      answer: String(next),
      score: (answer) => scoreNumber(answer, next),
    }
  },
})

/** Its value as an exact fraction. */
function fraction(text: string): [number, number] {
  if (text.includes('/')) return text.split('/').map(Number) as [number, number]
  const places = text.split('.')[1]?.length ?? 0
  return [Math.round(Number(text) * 10 ** places), 10 ** places]
}

const draws: readonly ((random: Random, digits: number) => string)[] = [
  (random, digits) => String(between(random, 1, 10 ** digits - 1)),
  (random, digits) => `${random.int(3)}.${between(random, 1, 10 ** between(random, 1, digits) - 1)}`,
  (random, digits) => `${between(random, 1, 4 * digits)}/${between(random, 2, 4 * digits + 1)}`,
]

/** Which is larger: whole numbers, decimals (0.9 and 0.11), fractions. */
export const comparison = defineKind({
  name: 'comparison',
  about: 'the larger or smaller of two numbers, decimals or fractions',
  knobs: {
    kinds: { least: 1, most: 3, about: '1 = whole numbers, 2 = decimals too, 3 = fractions too' },
    digits: { least: 2, most: 5, about: 'of a number; fractions grow with it' },
  },
  levels: [
    { kinds: 1, digits: 3 },
    { kinds: 2, digits: 3 },
    { kinds: 3, digits: 3 },
  ],
  templates: [
    '[Which is|Which number is|Tell me which is|What is] <wanted>, <a> or <b>',
    `${please}[give me|name|tell me] the <wanted> of <a> and <b>`,
    '[Compare|Look at] <a> and <b>. Which [is|one is] <wanted>',
  ],
  unseen: ['Of the two values <a> and <b>, pick the <wanted>'],
  draw(random, { kinds, digits }) {
    const draw = draws[random.int(kinds)]
    return until(() => {
      const [a, b] = [draw(random, digits), draw(random, digits)]
      const [[p, q], [r, s]] = [fraction(a), fraction(b)]
      return p * s === r * q ? undefined : { a, b, larger: random.int(2) === 0 }
    })
  },
  pose({ a, b, larger }) {
    const [[p, q], [r, s]] = [fraction(a), fraction(b)]
    const wanted = p * s > r * q === larger ? a : b
    const sign = p * s > r * q ? '>' : '<'
    return {
      key: `${larger ? 'larger' : 'smaller'} ${[a, b].sort().join(' ')}`,
      holes: { a, b, wanted: larger ? 'larger' : 'smaller' },
      thought: a.includes('/')
        ? [`${p} * ${s} = ${p * s}, ${r} * ${q} = ${r * q}`, `${a} ${sign} ${b}`]
        : [`${a} ${sign} ${b}`],
      answer: wanted,
      score: (given) => (given.replaceAll(' ', '') === wanted ? 1 : 0),
    }
  },
})
