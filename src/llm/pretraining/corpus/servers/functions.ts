import { between, chance, distinct, pick, sentence, shuffled, word, words } from '../draw.ts'
import { lexiconWord } from '../lexicon.ts'
import { dateText, valueText } from './fields.ts'
import {
  choice,
  type Component,
  integer,
  listOf,
  listText,
  makeTool,
  many,
  number,
  type ServerTool,
  type Style,
  text,
  ToolFailure,
} from './server.ts'

const shown = (style: Style, key: string, value: unknown): string =>
  style.record === 'json' ? JSON.stringify({ [key]: value }) : String(value)

const round = (value: number): number => Math.round(value * 100) / 100

interface Operation {
  names: readonly string[]
  about: string
  of: (a: number, b: number) => number
}

const operations: readonly Operation[] = [
  { names: ['sum', 'total'], about: 'the sum of two numbers', of: (a, b) => a + b },
  { names: ['difference', 'gap'], about: 'the difference of two numbers', of: (a, b) => a - b },
  { names: ['product'], about: 'the product of two numbers', of: (a, b) => a * b },
  { names: ['remainder'], about: 'the remainder of a division', of: (a, b) => a % b },
  { names: ['larger number', 'maximum'], about: 'the larger of two numbers', of: (a, b) => Math.max(a, b) },
  { names: ['smaller number', 'minimum'], about: 'the smaller of two numbers', of: (a, b) => Math.min(a, b) },
  { names: ['mean', 'average'], about: 'the mean of two numbers', of: (a, b) => round((a + b) / 2) },
]

/** Arithmetic on two numbers. */
export const calculator: Component = (style) => {
  const { d } = style
  const keys = pick(d, [
    ['a', 'b'],
    ['x', 'y'],
    ['first', 'second'],
    ['num1', 'num2'],
    ['p', 'q'],
  ] as const)
  const type = pick(d, [number, integer])
  return shuffled(d, operations)
    .slice(0, between(d, 2, 4))
    .map(({ names, about, of }) =>
      makeTool(style, {
        action: 'compute',
        effect: 'reads',
        object: pick(d, names),
        noun: names[0],
        about,
        properties: { [keys[0]]: type, [keys[1]]: type },
        draw: () => ({ [keys[0]]: between(d, 2, 90), [keys[1]]: between(d, 2, 40) }),
        run: (args) => shown(style, 'result', of(Number(args[keys[0]]), Number(args[keys[1]]))),
      }),
    )
}

const units: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
  ['length', { meter: 1, kilometer: 1000, foot: 0.3048, mile: 1609.344 }],
  ['weight', { gram: 1, kilogram: 1000, pound: 453.6, ounce: 28.35 }],
  ['duration', { second: 1, minute: 60, hour: 3600, day: 86_400 }],
  ['volume', { liter: 1, gallon: 3.785, cup: 0.24 }],
]

/** Units into other units. */
export const converter: Component = (style) => {
  const { d } = style
  const [from, to] = pick(d, [
    ['from', 'to'],
    ['unit', 'target'],
    ['source unit', 'target unit'],
  ] as const).map(style.key)
  const amount = style.key(pick(d, ['amount', 'value', 'quantity', 'number']))
  return shuffled(d, units)
    .slice(0, between(d, 1, 2))
    .map(([quantity, factors]) => {
      const names = Object.keys(factors)
      return makeTool(style, {
        action: 'convert',
        effect: 'reads',
        object: quantity,
        noun: quantity,
        about: `a ${quantity} to another unit`,
        properties: { [amount]: number, [from]: choice(names), [to]: choice(names) },
        draw() {
          const [a, b] = shuffled(d, names)
          return { [amount]: between(d, 1, 60), [from]: a, [to]: b }
        },
        run: (args) =>
          shown(
            style,
            'result',
            round((Number(args[amount]) * factors[String(args[from])]) / factors[String(args[to])]),
          ),
      })
    })
}

interface TextTool {
  names: readonly string[]
  about: string
  of: (value: string) => string | number
}

const textTools: readonly TextTool[] = [
  {
    names: ['letters', 'characters'],
    about: 'how many letters a text has',
    of: (value) => value.replaceAll(' ', '').length,
  },
  {
    names: ['words', 'word number'],
    about: 'how many words a text has',
    of: (value) => value.split(' ').length,
  },
  { names: ['first word', 'opening'], about: 'the first word of a text', of: (value) => value.split(' ')[0] },
  {
    names: ['last word', 'ending'],
    about: 'the last word of a text',
    of: (value) => value.split(' ').at(-1) ?? '',
  },
  { names: ['capitals', 'upper case'], about: 'a text in capitals', of: (value) => value.toUpperCase() },
  {
    names: ['initials', 'short form'],
    about: 'the first letters of a text',
    of: (value) =>
      value
        .split(' ')
        .map((part) => part[0])
        .join(''),
  },
]

/** Tools that look at a text. */
export const textWork: Component = (style) => {
  const { d } = style
  const key = style.key(pick(d, ['text', 'input', 'words', 'value', 'phrase']))
  return shuffled(d, textTools)
    .slice(0, between(d, 1, 3))
    .map(({ names, about, of }) =>
      makeTool(style, {
        action: 'get',
        effect: 'reads',
        object: pick(d, names),
        noun: names[0],
        about,
        properties: { [key]: text },
        draw: () => ({ [key]: words(d, 2, 4).join(' ') }),
        run: (args) => shown(style, 'result', of(String(args[key]))),
      }),
    )
}

/** Days between dates, and later dates. */
export const dates: Component = (style) => {
  const { d } = style
  const [from, days] = [
    style.key(pick(d, ['date', 'day', 'start'])),
    style.key(pick(d, ['days', 'number of days', 'count'])),
  ]
  const [first, second] = pick(d, [
    ['from', 'to'],
    ['start', 'end'],
    ['first date', 'second date'],
  ] as const).map(style.key)
  const at = (value: unknown): number => {
    const time = Date.parse(`${String(value)}T00:00:00Z`)
    if (Number.isNaN(time)) throw new ToolFailure(`Error: ${String(value)} is no date`)
    return time
  }
  const day = 86_400_000
  const dateType = chance(d, 0.5) ? text : { type: 'string', format: 'date' }
  return [
    makeTool(style, {
      action: 'compute',
      effect: 'reads',
      object: pick(d, ['later date', 'date after']),
      noun: 'date',
      about: 'the date some days after another',
      properties: { [from]: dateType, [days]: integer },
      draw: () => ({ [from]: dateText(d), [days]: between(d, 2, 90) }),
      run: (args) =>
        shown(style, 'date', new Date(at(args[from]) + Number(args[days]) * day).toISOString().slice(0, 10)),
    }),
    makeTool(style, {
      action: 'count',
      effect: 'reads',
      object: 'days between',
      noun: 'number of days',
      about: 'the days between two dates',
      properties: { [first]: dateType, [second]: dateType },
      draw: () => ({ [first]: dateText(d), [second]: dateText(d) }),
      run: (args) => shown(style, 'days', Math.round((at(args[second]) - at(args[first])) / day)),
    }),
  ]
}

/** Texts that are found by search and read by id. */
export const documents: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['article', 'page', 'document', 'story', 'report', 'guide', lexiconWord(d, 'noun')])
  const [query, id] = [
    style.key(pick(d, ['query', 'term', 'words', 'about'])),
    style.key(pick(d, ['id', `${noun} id`])),
  ]
  const all = distinct(between(d, 2, 4), () => valueText(d)).map((title, i) => ({
    id: i + 1,
    title,
    text: sentence(d).replaceAll('"', ''),
  }))
  return [
    makeTool(style, {
      action: 'search',
      effect: 'reads',
      object: many(noun),
      noun,
      about: `${many(noun)} about a topic`,
      properties: { [query]: text },
      draw: () => ({ [query]: pick(d, all).title }),
      run(args) {
        const wanted = String(args[query]).toLowerCase()
        return listText(
          style,
          'results',
          all
            .filter(({ title, text }) => `${title} ${text}`.toLowerCase().includes(wanted))
            .map(({ id, title }) => ({ id, title })),
        )
      },
    }),
    makeTool(style, {
      action: 'get',
      effect: 'reads',
      object: noun,
      noun,
      about: `the text of one ${noun}`,
      properties: { [id]: integer },
      draw: () => ({ [id]: pick(d, all).id }),
      run(args) {
        const found = all.find((one) => one.id === args[id])
        if (found === undefined) throw new ToolFailure(`Error: no ${noun} ${String(args[id])}`)
        return style.record === 'json' ? JSON.stringify({ title: found.title, text: found.text }) : found.text
      },
    }),
  ]
}

/** Tables that are asked by column and value. */
export const tables: Component = (style) => {
  const { d } = style
  const [table, column, value] = [
    style.key('table'),
    style.key(pick(d, ['column', 'field'])),
    style.key(pick(d, ['value', 'equals', 'is'])),
  ]
  const columns = ['name', ...distinct(2, () => lexiconWord(d, 'noun'))]
  const names = distinct(between(d, 1, 3), () => many(lexiconWord(d, 'noun')))
  const held = new Map(
    names.map((name) => [
      name,
      distinct(between(d, 2, 4), () => word(d)).map((first) => ({
        [columns[0]]: first,
        [columns[1]]: word(d),
        [columns[2]]: between(d, 1, 50),
      })),
    ]),
  )
  const rows = (name: unknown): Record<string, unknown>[] => {
    const found = held.get(String(name))
    if (found === undefined) throw new ToolFailure(`Error: no table ${String(name)}`)
    return found
  }
  const tools: ServerTool[] = [
    makeTool(style, {
      action: 'get',
      effect: 'reads',
      object: 'rows',
      noun: 'row',
      about: 'the rows of a table in which a column has a value',
      properties: { [table]: text, [column]: text, [value]: text },
      draw() {
        const name = pick(d, names)
        const row = pick(d, rows(name))
        const by = pick(d, columns.slice(0, 2))
        return { [table]: name, [column]: by, [value]: row[by] }
      },
      run: (args) =>
        listText(
          style,
          'rows',
          rows(args[table]).filter((row) => String(row[String(args[column])]) === String(args[value])),
        ),
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: 'columns',
      noun: 'column',
      about: 'the columns of a table',
      properties: { [table]: text },
      draw: () => ({ [table]: pick(d, names) }),
      run(args) {
        rows(args[table])
        return listText(
          style,
          'columns',
          columns.map((name) => ({ column: name })),
        )
      },
    }),
    makeTool(style, {
      action: 'total',
      effect: 'reads',
      object: 'column',
      noun: 'column',
      about: 'the numbers in a column of a table',
      properties: { [table]: text, [column]: text },
      draw: () => ({ [table]: pick(d, names), [column]: columns[2] }),
      run: (args) =>
        shown(
          style,
          'total',
          rows(args[table]).reduce((sum, row) => sum + Number(row[String(args[column])]), 0),
        ),
    }),
    makeTool(style, {
      action: 'add',
      effect: 'adds',
      object: 'row',
      noun: 'row',
      about: 'a row to a table',
      properties: { [table]: text, values: listOf(text) },
      draw: () => ({ [table]: pick(d, names), values: words(d, 2, 3) }),
      run: () => 'ok',
    }),
  ]
  return shuffled(d, tools).slice(0, between(d, 2, 4))
}
