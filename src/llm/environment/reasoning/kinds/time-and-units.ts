import { defineKind, scoreNumber, scoreWord } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** Weekdays so many days away. */
export const weekday = defineKind({
  name: 'weekday',
  about: 'the day of the week before or after a number of days',
  knobs: {
    days: { least: 20, most: 999, about: 'away at most' },
    back: { least: 0, most: 1, about: '1 = also back in time' },
  },
  levels: [
    { days: 30, back: 0 },
    { days: 100, back: 1 },
    { days: 500, back: 1 },
  ],
  templates: [
    '[Today is|It is] <day>. [What day|Which day|Which day of the week|What weekday] [<verb> it|<verb> that] <days> days <direction>',
    '[Tell me|Give me|Find|Name] the [day|weekday|day of the week] <days> days <direction>, [if today is|when today is] <day>',
  ],
  unseen: ['A calendar on the wall says <day>. Name the weekday <days> days <direction>'],
  draw: (random, { days: most, back }) => ({
    start: random.int(7),
    away: between(random, 2, most) * (back === 1 ? random.pick([1, -1]) : 1),
  }),
  pose({ start, away }) {
    const size = Math.abs(away)
    const rest = size % 7
    const answer = days[(start + away + 7 * size) % 7]
    return {
      key: `${start} ${away}`,
      holes: {
        day: days[start],
        days: String(size),
        direction: away > 0 ? 'from now' : 'ago',
        verb: away > 0 ? 'is' : 'was',
      },
      thought: [
        `${size} = 7 * ${Math.floor(size / 7)} + ${rest}`,
        [
          days[start],
          ...Array.from({ length: rest }, (_, i) => days[(start + Math.sign(away) * (i + 1) + 7) % 7]),
        ].join(', '),
      ],
      answer,
      score: (given) => scoreWord(given.replace(/^(?:a|on) /i, ''), answer),
    }
  },
})

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

const said = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Times of the day, 24 hours, across midnight. */
export const clock = defineKind({
  name: 'clock',
  about: 'the time of day before or after some hours and minutes',
  knobs: {
    hours: { least: 0, most: 23, about: 'away at most' },
    back: { least: 0, most: 1, about: '1 = also back in time' },
  },
  levels: [
    { hours: 0, back: 0 },
    { hours: 5, back: 0 },
    { hours: 23, back: 1 },
  ],
  templates: [
    '[It is|The clock shows|The clock says] <time>. [What time|Which time] <verb> it <span> <direction>, [as HH:MM|in the form HH:MM]',
    '[What time|Which time] <verb> it <span> <direction>, [if it is|when it is] <time> now? [Write HH:MM|As HH:MM]',
  ],
  unseen: ['<time> is on the display. Write as HH:MM what it must show <span> <direction>'],
  draw: (random, { hours, back }) => ({
    start: random.int(1440),
    away: (60 * random.int(hours + 1) + between(random, 1, 59)) * (back === 1 ? random.pick([1, -1]) : 1),
  }),
  pose({ start, away }) {
    const [hours, minutes] = [Math.floor(Math.abs(away) / 60), Math.abs(away) % 60]
    const sign = Math.sign(away)
    const middle = (start + sign * 60 * hours + 1440) % 1440
    const end = (start + away + 1440) % 1440
    const rest = middle % 60
    return {
      key: `${start} ${away}`,
      holes: {
        time: said(start),
        span: `${hours === 0 ? '' : `${hours} ${hours === 1 ? 'hour' : 'hours'} and `}${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`,
        direction: away > 0 ? 'from now' : 'ago',
        verb: away > 0 ? 'is' : 'was',
      },
      thought: [
        ...(hours === 0 ? [] : [said(middle)]),
        `${rest} ${sign > 0 ? '+' : '-'} ${minutes} = ${rest + sign * minutes}`,
      ],
      answer: said(end),
      score: (given) => (given.padStart(5, '0') === said(end) ? 1 : 0),
    }
  },
})

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
