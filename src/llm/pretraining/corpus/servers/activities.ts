import { between, chance, distinct, personOrPlace, pick, shortLine, word } from '../draw.ts'
import { lexiconWord } from '../lexicon.ts'
import { dateText, timeText, valueText } from './fields.ts'
import { drawNoun } from './records.ts'
import {
  choice,
  type Component,
  flag,
  integer,
  listText,
  makeTool,
  many,
  recordText,
  some,
  text,
  ToolFailure,
  writtenText,
} from './server.ts'
import { missing, part } from './stores.ts'

/** Lamps, heaters, doors: things that are switched and set. */
export const devices: Component = (style) => {
  const { d } = style
  const noun = pick(d, [
    'lamp',
    'heater',
    'fan',
    'door',
    'pump',
    'radio',
    'screen',
    'valve',
    lexiconWord(d, 'noun'),
  ])
  const name = style.key(pick(d, [noun, 'room', 'name', 'place']))
  const on = style.key(pick(d, ['on', 'is on', 'active', 'open']))
  const level = style.key(pick(d, ['level', 'percent', 'strength', 'speed']))
  const held = new Map(
    distinct(between(d, 2, 4), () => word(d)).map((of) => [
      of,
      { [on]: chance(d, 0.5), [level]: between(d, 0, 100) },
    ]),
  )
  const one = (): string => pick(d, [...held.keys()])
  const at = (of: unknown): Record<string, unknown> => {
    const found = held.get(String(of))
    if (found === undefined) throw missing(noun, of)
    return found
  }
  return part(style, [
    makeTool(style, {
      action: 'switch',
      effect: 'changes',
      object: noun,
      noun,
      about: pick(d, [`${some(noun)} on or off`, some(noun)]),
      properties: { [name]: text, [on]: flag },
      draw() {
        const of = one()
        return { [name]: of, [on]: at(of)[on] !== true }
      },
      run(args) {
        at(args[name])[on] = args[on]
        return writtenText(style, args, `${noun} ${String(args[name])} switched`)
      },
    }),
    makeTool(style, {
      action: 'set',
      effect: 'changes',
      object: `${noun} ${level.toLowerCase()}`,
      noun,
      about: `the ${level} of ${some(noun)}`,
      properties: { [name]: text, [level]: integer },
      draw: () => ({ [name]: one(), [level]: between(d, 1, 100) }),
      run(args) {
        at(args[name])[level] = args[level]
        return writtenText(style, args, `${noun} ${String(args[name])} set`)
      },
    }),
    makeTool(style, {
      action: 'check',
      effect: 'reads',
      object: noun,
      noun,
      about: pick(d, [some(noun), `the state of ${some(noun)}`]),
      properties: { [name]: text },
      draw: () => ({ [name]: one() }),
      run: (args) => recordText(style, at(args[name])),
    }),
  ])
}

/** Mail and messages. */
export const messages: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['message', 'mail', 'letter', 'reply', 'alert', 'invitation', 'postcard'])
  const [to, body] = [
    style.key(pick(d, ['to', 'recipient', 'person', 'receiver'])),
    style.key(pick(d, ['text', 'body', 'content', 'message'])),
  ]
  const people = distinct(between(d, 2, 4), () => personOrPlace(d))
  const inbox = people.map((from, i) => ({ id: i + 1, from, subject: valueText(d), urgent: chance(d, 0.5) }))
  const urgent = chance(d, 0.3)
  const id = style.key(pick(d, ['id', `${noun} id`]))
  return part(style, [
    makeTool(style, {
      action: 'send',
      effect: 'adds',
      object: noun,
      noun,
      about: pick(d, [some(noun), `${some(noun)} to somebody`]),
      properties: { [to]: text, [body]: text, ...(urgent ? { urgent: flag } : {}) },
      optional: urgent ? ['urgent'] : [],
      draw: () => ({
        [to]: pick(d, people),
        [body]: shortLine(d).replaceAll('"', ''),
        ...(urgent && chance(d, 0.5) ? { urgent: true } : {}),
      }),
      run: (args) => writtenText(style, { sent: true }, `Sent to ${String(args[to])}`),
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: many(noun),
      noun,
      about: pick(d, [`all ${many(noun)}`, `the ${many(noun)} that arrived`]),
      properties: {},
      lists: true,
      draw: () => ({}),
      run: () => listText(style, style.key(many(noun)), inbox),
    }),
    makeTool(style, {
      action: 'remove',
      effect: 'removes',
      object: noun,
      noun,
      about: some(noun),
      properties: { [id]: integer },
      draw: () => (inbox.length === 0 ? undefined : { [id]: pick(d, inbox).id }),
      run(args) {
        const at = inbox.findIndex((mail) => mail.id === args[id])
        if (at < 0) throw missing(noun, args[id])
        inbox.splice(at, 1)
        return writtenText(style, args, `Removed ${noun} ${String(args[id])}`)
      },
    }),
  ])
}

/** Appointments on days. */
export const calendar: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['appointment', 'meeting', 'visit', 'shift', 'class', 'concert', 'call'])
  const [day, hour, title] = [
    style.key(pick(d, ['date', 'day', 'on'])),
    style.key(pick(d, ['time', 'hour', 'at', 'start'])),
    style.key(pick(d, ['title', 'name', 'subject', 'with'])),
  ]
  const minutes = chance(d, 0.4) ? style.key(pick(d, ['minutes', 'duration', 'length'])) : undefined
  const days = distinct(3, () => dateText(d))
  const draw = () => ({
    [title]: valueText(d),
    [day]: pick(d, days),
    [hour]: timeText(d),
    ...(minutes === undefined || chance(d, 0.5) ? {} : { [minutes]: pick(d, [15, 20, 30, 45, 60, 90]) }),
  })
  const held: Record<string, unknown>[] = distinct(3, draw)
  return part(style, [
    makeTool(style, {
      action: 'add',
      effect: 'adds',
      object: noun,
      noun,
      about: pick(d, [some(noun), `${some(noun)} on a day`]),
      properties: {
        [title]: text,
        [day]: chance(d, 0.5) ? text : { type: 'string', format: 'date' },
        [hour]: text,
        ...(minutes === undefined ? {} : { [minutes]: integer }),
      },
      optional: minutes === undefined ? [] : [minutes],
      draw,
      run(args) {
        held.push(args)
        return writtenText(style, args, `Added ${noun} ${String(args[title])}`)
      },
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: many(noun),
      noun,
      about: pick(d, [`the ${many(noun)} of a day`, `${many(noun)} on a date`]),
      properties: { [day]: text },
      draw: () => ({ [day]: String(pick(d, held)[day]) }),
      run: (args) =>
        listText(
          style,
          style.key(many(noun)),
          held.filter((one) => one[day] === args[day]),
        ),
    }),
    makeTool(style, {
      action: 'remove',
      effect: 'removes',
      object: noun,
      noun,
      about: some(noun),
      properties: { [title]: text },
      draw: () => (held.length === 0 ? undefined : { [title]: pick(d, held)[title] }),
      run(args) {
        const at = held.findIndex((one) => one[title] === args[title])
        if (at < 0) throw missing(noun, args[title])
        held.splice(at, 1)
        return writtenText(style, args, `Removed ${noun} ${String(args[title])}`)
      },
    }),
  ])
}

/** Work that waits in a line. */
export const queue: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['job', 'song', 'patient', 'order', 'print', lexiconWord(d, 'noun')])
  const key = style.key(pick(d, [noun, 'name', 'text']))
  const waiting = distinct(between(d, 1, 4), () => valueText(d))
  return part(style, [
    makeTool(style, {
      action: 'push',
      effect: 'adds',
      object: noun,
      noun,
      about: pick(d, [`${some(noun)} to the line`, `${some(noun)} at the end of the queue`]),
      properties: { [key]: text, ...(chance(d, 0.3) ? { priority: choice(['low', 'high']) } : {}) },
      optional: ['priority'],
      draw: () => ({ [key]: valueText(d) }),
      run(args) {
        waiting.push(String(args[key]))
        return writtenText(style, { waiting: waiting.length }, `${waiting.length} waiting`)
      },
    }),
    makeTool(style, {
      action: 'take',
      effect: 'changes',
      object: `next ${noun}`,
      noun: `next ${noun}`,
      about: `the next ${noun} of the line`,
      properties: {},
      draw: () => ({}),
      run() {
        const next = waiting.shift()
        if (next === undefined) throw new ToolFailure('Error: the line is empty')
        return style.record === 'json' ? JSON.stringify({ [key]: next }) : next
      },
    }),
    makeTool(style, {
      action: 'count',
      effect: 'reads',
      object: `waiting ${many(noun)}`,
      noun,
      about: `the ${many(noun)} that wait`,
      properties: {},
      draw: () => ({}),
      run: () => String(waiting.length),
    }),
  ])
}

/** Votes on a question. Never in training: unseen servers are measured on it. */
export const poll: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['vote', 'ballot', 'rating'])
  const [option, voter] = [
    style.key(pick(d, ['option', 'choice', 'for'])),
    style.key(pick(d, ['voter', 'by', 'member'])),
  ]
  const options = distinct(3, () => word(d))
  const votes = new Map(options.map((name) => [name, d.random.int(9)]))
  return [
    makeTool(style, {
      action: 'vote',
      effect: 'changes',
      object: pick(d, ['option', 'candidate']),
      noun,
      about: 'for an option in the name of a member',
      properties: { [option]: choice(options), [voter]: text },
      draw: () => ({ [option]: pick(d, options), [voter]: personOrPlace(d) }),
      run(args) {
        votes.set(String(args[option]), (votes.get(String(args[option])) ?? 0) + 1)
        return writtenText(style, args, 'Counted')
      },
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: 'results',
      noun: 'result',
      about: 'the results of the poll so far',
      properties: {},
      lists: true,
      draw: () => ({}),
      run: () =>
        listText(
          style,
          'results',
          [...votes].map(([name, count]) => ({ [option]: name, votes: count })),
        ),
    }),
    makeTool(style, {
      action: 'count',
      effect: 'reads',
      object: many(noun),
      noun,
      about: `the ${many(noun)} of an option`,
      properties: { [option]: choice(options) },
      draw: () => ({ [option]: pick(d, options) }),
      run: (args) => recordText(style, { [style.key(many(noun))]: votes.get(String(args[option])) ?? 0 }),
    }),
  ]
}

/** Things lent to people. Never in training, like `poll`. */
export const lending: Component = (style) => {
  const { d } = style
  const noun = drawNoun(style)
  const [thing, person] = [style.key(noun), style.key(pick(d, ['borrower', 'person', 'reader', 'to']))]
  const days = style.key(pick(d, ['days', 'weeks', 'loan days']))
  if (thing === person || thing === days) return []
  const out = new Map(distinct(3, () => valueText(d)).map((name) => [name, personOrPlace(d)]))
  return [
    makeTool(style, {
      action: 'lend',
      effect: 'adds',
      object: noun,
      noun,
      about: `${some(noun)} to a person for a time`,
      properties: { [thing]: text, [person]: text, [days]: integer },
      optional: [days],
      draw: () => ({
        [thing]: valueText(d),
        [person]: personOrPlace(d),
        ...(chance(d, 0.5) ? { [days]: between(d, 2, 30) } : {}),
      }),
      run(args) {
        out.set(String(args[thing]), String(args[person]))
        return writtenText(style, args, `Lent to ${String(args[person])}`)
      },
    }),
    makeTool(style, {
      action: 'return',
      effect: 'removes',
      object: noun,
      noun,
      about: `${some(noun)} that was lent`,
      properties: { [thing]: text },
      draw: () => (out.size === 0 ? undefined : { [thing]: pick(d, [...out.keys()]) }),
      run(args) {
        if (!out.delete(String(args[thing]))) throw missing(noun, args[thing])
        return writtenText(style, args, `Back: ${String(args[thing])}`)
      },
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: `lent ${many(noun)}`,
      noun,
      about: `the ${many(noun)} that are lent and to whom`,
      properties: {},
      lists: true,
      draw: () => ({}),
      run: () =>
        listText(
          style,
          style.key(many(noun)),
          [...out].map(([name, who]) => ({ [thing]: name, [person]: who })),
        ),
    }),
  ]
}
