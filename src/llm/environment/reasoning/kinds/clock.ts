import { defineKind } from '../kind.ts'
import { between } from '../shared/draws.ts'

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
