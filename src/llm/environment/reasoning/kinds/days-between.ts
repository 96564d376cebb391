import { defineKind } from '../kind.ts'
import { between, until } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

const months = [
  ['January', 31],
  ['February', 28],
  ['March', 31],
  ['April', 30],
  ['May', 31],
  ['June', 30],
  ['July', 31],
  ['August', 31],
  ['September', 30],
  ['October', 31],
  ['November', 30],
  ['December', 31],
] as const

const leap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const lengthOf = (month: number, year: number): number => (month === 1 && leap(year) ? 29 : months[month][1])

/** Days from one date to a later one of the same year; leap years count. */
export const daysBetween = defineKind({
  name: 'days-between',
  about: 'the number of days from one date to another of the same year',
  knobs: {
    months: { least: 0, most: 11, about: 'from one to the other at most' },
    years: { least: 1, most: 200, about: 'to choose from, back from 2100' },
  },
  levels: [
    { months: 1, years: 50 },
    { months: 2, years: 100 },
    { months: 6, years: 200 },
  ],
  templates: [
    '[How many|Tell me how many|Count how many] days are [there from|it from] <start> [to|until] <end> <year>',
    `${please}count the days [from|after] <start> [to|until] <end> in <year>`,
    '[What is|Find|Give me] the number of days [from|after] <start> <year> [to|until] <end> <year>',
  ],
  unseen: ['In <year> somebody waits from <start> till <end>. For how many days'],
  draw(random, { months: most, years }) {
    return until(() => {
      const year = 2100 - random.int(years)
      const from = random.int(12)
      const to = from + random.int(most + 1)
      if (to > 11) return undefined
      const [first, last] = [between(random, 1, lengthOf(from, year)), between(random, 1, lengthOf(to, year))]
      return from === to && last <= first ? undefined : { year, from, first, to, last }
    })
  },
  pose({ year, from, first, to, last }) {
    const parts: [string, number][] = []
    if (from !== to) parts.push([months[from][0], lengthOf(from, year) - first])
    for (let month = from + 1; month < to; month++) parts.push([months[month][0], lengthOf(month, year)])
    parts.push([months[to][0], from === to ? last - first : last])
    const days = parts.reduce((sum, [, part]) => sum + part, 0)
    const sum = parts.map(([, part]) => part).join(' + ')
    return {
      key: `${year} ${from} ${first} ${to} ${last}`,
      holes: { start: `${first} ${months[from][0]}`, end: `${last} ${months[to][0]}`, year: String(year) },
      thought: [
        parts.map(([name, part]) => `${name} ${part}`).join(', '),
        ...(parts.length === 1 ? [] : [`${sum} = ${days}`]),
      ],
      answer: String(days),
      score: (given) => scoreNumber(given, days, ['days', 'day']),
    }
  },
})
