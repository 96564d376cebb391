/**
 * Exercises in finding a row by what stands in it. In trials a model of 0.9M parameters learnt this, for short rows, where the rows of each
 * conversation are set apart in a way of their own and many rows are chosen. With the same marks every time it learnt the marks, and
 * took a value of any row.
 */
import type { ChatMessage } from '../../tokenizer/template.ts'
import {
  between,
  chance,
  distinct,
  type Draw,
  itemName,
  key,
  pick,
  quoted,
  say,
  shuffled,
  word,
  words,
} from './draw.ts'
import { drawRecords, plainKeys, type Records, recordsText, recordTools, type Row } from './records.ts'

/** What stands before each value of a row, and after the last. */
interface Layout {
  before: string[]
  after: string
  isJson: boolean
}

function drawLayout(d: Draw, columns: readonly string[]): Layout {
  const marked = (mark: (name: string, at: number) => string, after = '', isJson = false): Layout => ({
    before: columns.map(mark),
    after,
    isJson,
  })
  switch (d.random.int(7)) {
    case 0: {
      const mark = pick(d, [',', ', ', ' ', ' | ', '; ', '\t', ' - ', '/', ' : '])
      return marked((_, at) => (at === 0 ? '' : mark))
    }
    case 1: {
      const is = pick(d, [': ', '=', ' = ', ' is ', ':'])
      const end = pick(d, [', ', '; ', ' ', ' | ', ' and '])
      return marked((name, at) => `${at === 0 ? '' : end}${name}${is}`)
    }
    case 2:
    case 3:
      return marked((name, at) => `${at === 0 ? '{' : ','}"${name}":`, '}', true)
    case 4:
      return marked((_, at) => (at === 0 ? '[' : ','), ']', true)
    default:
      // Any words and marks at all.
      return marked(
        (_, at) => {
          const said = words(d, 0, 3).join(' ')
          if (at === 0) return said === '' ? '' : `${said} `
          return said === '' ? pick(d, [', ', ' ']) : ` ${said} `
        },
        pick(d, ['', '.', ';', ' end']),
      )
  }
}

/** A value of a column; columns are of five kinds. */
function drawValue(d: Draw, kind: number): string {
  if (kind === 0) return String(between(d, 1, chance(d, 0.5) ? 99 : 999))
  if (kind === 1) return itemName(d)
  return kind === 2 ? words(d, 1, 3).join(' ') : word(d)
}

/** Three to seven rows, of which some are said again, in another order. The request names them by the values of one column. */
export function rowsAgain(d: Draw): ChatMessage[] {
  const columns = distinct(between(d, 2, 4), () => key(d))
  // Rows that share their values can be told apart only by several of them.
  const few = chance(d, 0.3) ? distinct(between(d, 4, 8), () => word(d)) : undefined
  const kinds = columns.map(() => d.random.int(5))
  const rows = distinct(between(d, 3, 7), () =>
    kinds.map((kind) => (few === undefined ? drawValue(d, kind) : pick(d, few))).join('\n'),
  ).map((row) => row.split('\n'))
  const { before, after, isJson } = drawLayout(d, columns)
  const cell = (text: string): string => (isJson && !/^\d+$/.test(text) ? JSON.stringify(text) : text)
  const line = (row: readonly string[]): string =>
    row.map((text, at) => before[at] + cell(text)).join('') + after
  const by = chance(d, 0.5) ? 0 : d.random.int(columns.length)
  const chosen = Array.from({ length: between(d, 5, 10) }, () => pick(d, rows))
  const shown = isJson && chance(d, 0.5) ? `[${rows.map(line).join(',')}]` : rows.map(line).join('\n')
  const ask = say(
    d,
    '[the rows|rows|lines|the lines|say again|give me|write the ones] [of|with|for] {list}',
    { list: chosen.map((row) => row[by]).join(', ') },
  )
  return [
    { role: 'user', text: chance(d, 0.8) ? `${shown}\n${ask}` : `${ask}:\n${shown}` },
    { role: 'assistant', text: chosen.map(line).join('\n') },
  ]
}

const simpleKeys = ['name', 'type', 'city', 'id', 'price', 'status', 'code', 'colour', 'place', 'owner']

/** Two to five short records of two to four properties, each a word or a number. */
function simpleRecords(d: Draw): Records {
  const keys = shuffled(d, chance(d, 0.7) ? simpleKeys : distinct(4, () => key(d))).slice(
    0,
    pick(d, [2, 2, 3, 4]),
  )
  const fields = keys.map((name) => {
    const isNumber = ['id', 'price', 'code'].includes(name)
    return {
      words: name,
      schema: { type: isNumber ? 'integer' : 'string' },
      draw: (): unknown => (isNumber ? between(d, 1, 99) : word(d)),
    }
  })
  const rows = Array.from({ length: pick(d, [2, 3, 3, 4, 4, 5]) }, (): Row =>
    Object.fromEntries(fields.map((field) => [field.words, field.draw()])),
  )
  return { noun: 'thing', things: 'things', fields, keyOf: ({ words: name }) => name, rows }
}

const lookUpQuestions =
  '[the {wanted} of {by} {value}|{wanted} with {by} {value}|{by} {value}: the {wanted}|[what is|and] the {wanted} of the {by} {value}?|{wanted} of {value}|which {wanted} has {value}?]'

/** Up to twelve questions about records, each of which names one record by a value that it alone has, and wants another of its values. */
export function lookUps(d: Draw): ChatMessage[] {
  const of = chance(d, 0.5) ? simpleRecords(d) : drawRecords(d)
  const { rows, keyOf } = of
  const fields = plainKeys(of)
  const isOnly = (row: Row, name: string): boolean =>
    rows.every((other) => other === row || other[name] !== row[name])
  const pairs = rows.flatMap((row) =>
    fields
      .filter((by) => isOnly(row, keyOf(by)))
      .flatMap((by) => fields.filter((wanted) => wanted !== by).map((wanted) => ({ row, by, wanted }))),
  )
  if (rows.length < 2 || pairs.length === 0) return lookUps(d)
  return [
    {
      role: 'user',
      text: say(d, '[the {things}|list the {things}|{things}|show the {things}]', { things: of.things }),
    },
    { role: 'assistant', text: '', calls: [recordTools[0].look(of)] },
    { role: 'tool', text: recordsText(d, of) },
    { role: 'assistant', text: 'done' },
    ...shuffled(d, pairs)
      .slice(0, 12)
      .flatMap(({ row, by, wanted }): ChatMessage[] => {
        const holes = {
          wanted: wanted.words,
          by: by.words,
          value: quoted(d, String(row[keyOf(by)]), 0.1),
        }
        return [
          { role: 'user', text: say(d, lookUpQuestions, holes) },
          { role: 'assistant', text: `${keyOf(wanted)}: ${String(row[keyOf(wanted)])}` },
        ]
      }),
  ]
}
