import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

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
