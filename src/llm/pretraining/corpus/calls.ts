import {
  between,
  chance,
  itemName,
  number,
  personOrPlace,
  pick,
  placePath,
  quoted,
  say,
  shortLine,
  word,
  words,
} from './draw.ts'
import type { Draw } from './draw.ts'
import { isReservedName } from './words.ts'

/** One use of an invented tool outside the tree: request, arguments, result, answer. */
export interface InventedCall {
  ask: string
  args: Record<string, unknown>
  result: string
  answer: string
}

export interface InventedTool {
  name: string
  toolDescriptions: string
  use: (d: Draw) => InventedCall
}

const person = personOrPlace
const small = (d: Draw): number => between(d, 1, 60)
const ok = (ask: string, args: Record<string, unknown>, result = 'ok'): InventedCall => ({
  ask,
  args,
  result,
  answer: 'done',
})

/** Memorised tools with varied arguments: none to four, numbers, booleans, choices, lists, nested objects. */
export const inventedTools: readonly InventedTool[] = [
  {
    name: 'relay_note',
    toolDescriptions: 'relay_note(to, text): send a note',
    use: (d) => {
      const to = person(d),
        text = shortLine(d)
      return ok(
        say(d, '[send|pass|relay] [a note to {to} [saying|that says|:] {text}|{text} to {to} as a note]', {
          to,
          text: quoted(d, text, 0.6),
        }),
        { to, text },
        'sent',
      )
    },
  },
  {
    name: 'start-timer',
    toolDescriptions: 'start-timer(minutes): start a timer',
    use: (d) => {
      const minutes = small(d)
      return ok(say(d, '[start|set|run] a timer [for|of] {minutes} minutes', { minutes: String(minutes) }), {
        minutes,
      })
    },
  },
  {
    name: 'lampSwitch',
    toolDescriptions: 'lampSwitch(room, on): turn a lamp on or off',
    use: (d) => {
      const room = word(d),
        on = chance(d, 0.5)
      return ok(say(d, '[turn|switch] {how} the lamp [in|of] the {room}', { room, how: on ? 'on' : 'off' }), {
        room,
        on,
      })
    },
  },
  {
    name: 'weather_at',
    toolDescriptions: 'weather_at(town): the weather now',
    use: (d) => {
      const town = person(d),
        sky = pick(d, ['rain', 'sun', 'snow', 'fog', 'wind', 'hail']),
        degrees = d.random.int(35)
      const maybe = chance(d, 0.5) ? sky : pick(d, ['rain', 'sun', 'snow', 'fog', 'wind', 'hail'])
      const kind = d.random.int(3)
      return {
        ask: say(
          d,
          kind === 0
            ? '[how is the weather|what is the weather like] in {town}'
            : kind === 1
              ? '[how many degrees|how warm is it|what temperature has it] in {town}'
              : '[is there|do they have|is it] {maybe} in {town}',
          { town, maybe },
        ),
        args: { town },
        result: `${sky}, ${degrees}`,
        answer:
          kind === 0 ? `${sky}, ${degrees}` : kind === 1 ? String(degrees) : maybe === sky ? 'yes' : 'no',
      }
    },
  },
  {
    name: 'tally_two',
    toolDescriptions: 'tally_two(p, q): both numbers together',
    use: (d) => {
      const p = d.random.int(100),
        q = d.random.int(100)
      return {
        ask: say(
          d,
          '[what do {p} and {q} make|tally {p} and {q}|{p} and {q} together|how much is {p} plus {q}]',
          { p: String(p), q: String(q) },
        ),
        args: { p, q },
        result: String(p + q),
        answer: String(p + q),
      }
    },
  },
  {
    name: 'stock-of',
    toolDescriptions: 'stock-of(goods): how many are left',
    use: (d) => {
      const goods = word(d),
        left = d.random.int(200)
      return {
        ask: say(
          d,
          '[how many {goods} are left|what is the stock of {goods}|do we still have {goods}, how many]',
          { goods },
        ),
        args: { goods },
        result: `${left} left`,
        answer: String(left),
      }
    },
  },
  {
    name: 'bumpGauge',
    toolDescriptions: 'bumpGauge(gauge, by): raise a gauge',
    use: (d) => {
      const gauge = word(d),
        by = between(d, 1, 20),
        now = by + d.random.int(50)
      return {
        ask: say(
          d,
          '[raise|bump|turn up] the {gauge} gauge by {by}[ and tell me the new value|; what does it stand at then|, what is it then]',
          { gauge, by: String(by) },
        ),
        args: { gauge, by },
        result: `now ${now}`,
        answer: String(now),
      }
    },
  },
  {
    name: 'tie_pairs',
    toolDescriptions: 'tie_pairs(pairs[left, right]): tie things together',
    use: (d) => {
      const pairs = Array.from({ length: between(d, 1, 3) }, () => ({ left: word(d), right: word(d) }))
      return ok(
        say(d, '[tie|bind|knot] {all} [together|]', {
          all: pairs.map(({ left, right }) => `${left} to ${right}`).join(' and '),
        }),
        { pairs },
        `tied ${pairs.length}`,
      )
    },
  },
  {
    name: 'guest_list',
    toolDescriptions: 'guest_list(): all guests',
    use: (d) => {
      const guests = Array.from({ length: between(d, 1, 6) }, () => person(d))
      const count = chance(d, 0.5)
      return {
        ask: count
          ? say(d, '[how many guests are [coming|there]|count the guests]')
          : say(d, '[who is coming|who are the guests|name the guests]'),
        args: {},
        result: guests.join('\n'),
        answer: count ? String(guests.length) : guests.join(', '),
      }
    },
  },
  {
    name: 'add-guests',
    toolDescriptions: 'add-guests(guests[]): add guests',
    use: (d) => {
      const guests = Array.from({ length: between(d, 1, 4) }, () => person(d))
      return ok(
        say(d, '[invite|add|welcome] [the guests|] {guests} [as guests|to the party]', {
          guests: guests.join(pick(d, [', ', ' and '])),
        }),
        { guests },
      )
    },
  },
  {
    name: 'order_meal',
    toolDescriptions: 'order_meal(dish, size small|medium|large, table)',
    use: (d) => {
      const dish = word(d),
        size = pick(d, ['small', 'medium', 'large']),
        table = between(d, 1, 40)
      return ok(
        say(d, '[order|bring] a {size} {dish} [for|to] table {table}', { dish, size, table: String(table) }),
        { dish, size, table },
      )
    },
  },
  {
    name: 'person_card',
    toolDescriptions: 'person_card(person{name, town, age}): keep a person',
    use: (d) => {
      const name = person(d),
        town = person(d),
        age = between(d, 1, 99)
      return ok(
        say(d, '[keep|register|enter] [a person|] {name}[,| from] {town}, [age|aged] {age}', {
          name,
          town,
          age: String(age),
        }),
        { person: { name, town, age } },
      )
    },
  },
  {
    name: 'where-did',
    toolDescriptions: 'where-did(who, what): where someone put a thing',
    use: (d) => {
      const who = person(d),
        what = word(d),
        place = `${placePath(d, 1)}/${itemName(d)}`
      return {
        ask: say(d, 'where did {who} [put|leave|hide] the {what}', { who, what }),
        args: { who, what },
        result: place,
        answer: place,
      }
    },
  },
  {
    name: 'voteOn',
    toolDescriptions: 'voteOn(topic, choice yes|no|skip)',
    use: (d) => {
      const topic = word(d),
        choice = pick(d, ['yes', 'no', 'skip'])
      return ok(say(d, 'vote {choice} on [the|] {topic}', { topic, choice }), { topic, choice }, 'counted')
    },
  },
  {
    name: 'dice',
    toolDescriptions: 'dice(sides): roll',
    use: (d) => {
      const sides = pick(d, [4, 6, 8, 10, 12, 20]),
        got = between(d, 1, sides)
      return {
        ask: say(d, 'roll a die [with|of] {sides} sides', { sides: String(sides) }),
        args: { sides },
        result: String(got),
        answer: String(got),
      }
    },
  },
  {
    name: 'say_back',
    toolDescriptions: 'say_back(phrase): hear a phrase',
    use: (d) => {
      const phrase = shortLine(d)
      return {
        ask: say(d, '[let it say back|have it said back|call it out and tell me what you hear]: {phrase}', {
          phrase: quoted(d, phrase, 0.4),
        }),
        args: { phrase },
        result: phrase,
        answer: phrase,
      }
    },
  },
]

interface Hole {
  key: string
  value: unknown
  shown: string
}

/** A new tool, described in the conversation. The request names its values by key or only in order. */
export function inventedCall(d: Draw): { toolDescriptions: string; name: string } & InventedCall {
  const sep = pick(d, ['_', '_', '-'])
  const parts = words(d, 1, 3)
  const made = chance(d, 0.2)
    ? parts.map((part, i) => (i === 0 ? part : part[0].toUpperCase() + part.slice(1))).join('')
    : parts.join(sep)
  const name = isReservedName(made) ? `my${sep}${made}` : made
  const keys = [
    ...new Set(
      Array.from({ length: chance(d, 0.08) ? 0 : 1 + d.random.int(4) }, () =>
        chance(d, 0.5)
          ? word(d)
          : pick(d, [
              'name',
              'to',
              'from',
              'kind',
              'size',
              'amount',
              'note',
              'place',
              'by',
              'message',
              'a',
              'b',
              'query',
              'title',
              'tags',
              'id',
              'unit',
              'path',
            ]),
      ),
    ),
  ]
  const kinds: string[] = []
  const holes = keys.map((key): Hole => {
    const draw = d.random.next()
    const at = (kind: string, value: unknown, shown = String(value)): Hole => {
      kinds.push(kind)
      return { key, value, shown }
    }
    if (draw < 0.45) return at('', chance(d, 0.7) ? word(d) : shortLine(d))
    if (draw < 0.6)
      return at(
        ' number',
        chance(d, 0.8) ? d.random.int(200) : Number(`${d.random.int(50)}.${between(d, 1, 9)}`),
      )
    if (draw < 0.7) return at(' true|false', chance(d, 0.5))
    if (draw < 0.78) {
      const choices = words(d, 2, 3)
      return at(` ${choices.join('|')}`, pick(d, choices))
    }
    if (draw < 0.88) {
      const items = words(d, 1, 3)
      return at('[]', items, items.join(' and '))
    }
    if (draw < 0.94) return at('', `${placePath(d, between(d, 1, 2))}/${itemName(d)}`)
    const [inner, outer] = [word(d), number(d)]
    return at(`{${inner}}`, { [inner]: outer }, `${inner} ${outer}`)
  })
  const args = Object.fromEntries(holes.map(({ key, value }) => [key, value]))
  const named = holes.map(
    ({ key, shown, value }) =>
      `${key}${pick(d, [' ', ' ', ': ', ' = '])}${typeof value === 'string' ? quoted(d, shown, 0.3) : shown}`,
  )
  const inOrder = holes.map(({ shown, value }) => (typeof value === 'string' ? quoted(d, shown, 0.3) : shown))
  const all = (chance(d, 0.75) ? named : inOrder).join(pick(d, [', ', ', ', ' and ', '; ']))
  const ask =
    holes.length === 0
      ? say(d, '[use|call|run|do|try] {name}', { name })
      : say(d, '[use|call|run|do|try] {name} [with|:|for|on] {all}', { name, all })
  const effect = chance(d, 0.4)
  const result = effect ? pick(d, ['ok', 'done', 'accepted']) : chance(d, 0.6) ? shortLine(d) : number(d)
  return {
    name,
    ask: ask.replace(' :', ':'),
    args,
    result,
    answer: effect ? 'done' : result,
    toolDescriptions: `${name}(${holes.map(({ key }, i) => `${key}${kinds[i]}`).join(', ')})`,
  }
}
