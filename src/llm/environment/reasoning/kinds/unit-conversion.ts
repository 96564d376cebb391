import { defineKind } from '../kind.ts'
import { between, until } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

/** Units of one measure with their size in the smallest. */
const measures: readonly (readonly (readonly [string, number])[])[] = [
  [
    ['mm', 1],
    ['cm', 10],
    ['m', 1000],
    ['km', 1_000_000],
  ],
  [
    ['g', 1],
    ['kg', 1000],
    ['t', 1_000_000],
  ],
  [
    ['ml', 1],
    ['l', 1000],
  ],
  [
    ['seconds', 1],
    ['minutes', 60],
    ['hours', 3600],
    ['days', 86_400],
    ['weeks', 604_800],
  ],
  [
    ['eggs', 1],
    ['dozens', 12],
  ],
]

/** Exact conversions within one measure, one or two steps of units apart. */
export const unitConversion = defineKind({
  name: 'unit-conversion',
  about: 'a quantity in another unit',
  knobs: {
    largest: { least: 20, most: 999, about: 'quantity' },
    apart: { least: 1, most: 2, about: 'steps between the units at most' },
    smaller: { least: 0, most: 1, about: '1 = also from smaller to larger units' },
  },
  levels: [
    { largest: 60, apart: 1, smaller: 0 },
    { largest: 99, apart: 1, smaller: 1 },
    { largest: 200, apart: 2, smaller: 1 },
  ],
  templates: [
    `${please}[convert|change] <amount> <from> [to|into] <to>`,
    '[How many|Tell me how many|Compute how many] <to> are <amount> <from>',
    '[Express|Write|Give] <amount> <from> in <to>',
  ],
  unseen: ['<amount> <from>: the same in <to>, please'],
  draw(random, { largest, apart, smaller }) {
    const upwards = smaller === 1 && random.int(2) === 0
    return until(() => {
      const measure = random.pick(measures)
      const low = random.int(measure.length)
      const high = low + between(random, 1, apart)
      if (high >= measure.length) return undefined
      const quantity = between(random, 2, largest)
      const factor = measure[high][1] / measure[low][1]
      const [small, large] = [measure[low][0], measure[high][0]]
      return upwards
        ? { amount: quantity * factor, from: small, to: large, factor, upwards }
        : { amount: quantity, from: large, to: small, factor, upwards }
    })
  },
  pose({ amount, from, to, factor, upwards }) {
    const result = upwards ? amount / factor : amount * factor
    const [large, small] = upwards ? [to, from] : [from, to]
    return {
      key: `${amount} ${from} ${to}`,
      holes: { amount: String(amount), from, to },
      thought: [
        `1 ${large.replace(/s$/, '')} = ${factor} ${small}`,
        `${amount} ${upwards ? '/' : '*'} ${factor} = ${result}`,
      ],
      answer: String(result),
      score: (given) => scoreNumber(given, result, [to, to.replace(/s$/, '')]),
    }
  },
})
