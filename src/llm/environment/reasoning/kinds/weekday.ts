import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'
import { scoreWord } from '../shared/scores.ts'

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
