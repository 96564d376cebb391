import { inNumber } from '../../environment/mcp/request/inflect.ts'
import { between, chance, type Draw, pick } from './draw.ts'
import { drawFields, type Field, nameText } from './servers/fields.ts'
import { drawNoun } from './servers/records.ts'

export type Row = Record<string, unknown>

/** Records of one kind, as a tool would show them. */
export interface Records {
  noun: string
  things: string
  fields: readonly Field[]
  keyOf: (field: Field) => string
  rows: Row[]
}

/** The tools of these conversations. They are memorised: nothing describes them. */
export interface RecordTools {
  /** All records, or the first of them. */
  look: (of: Records, first?: number) => RecordCall
  find: (of: Records, key: string, value: unknown) => RecordCall
  add: (of: Records, row: Row) => RecordCall
  change: (of: Records, key: string, value: unknown, to: Row) => RecordCall
  drop: (of: Records, key: string, value: unknown) => RecordCall
}

export interface RecordCall {
  name: string
  arguments: Record<string, unknown>
}

/** Two sets, with names that no server has on which models are judged. */
export const recordTools: readonly RecordTools[] = [
  {
    look: ({ things }, first) => ({
      name: 'ledger-view',
      arguments: { of: things, ...(first === undefined ? {} : { top: first }) },
    }),
    find: ({ things }, where, is) => ({ name: 'ledger-pick', arguments: { of: things, where, is } }),
    add: ({ things }, row) => ({ name: 'ledger-enter', arguments: { into: things, ...row } }),
    change: ({ things }, where, is, to) => ({
      name: 'ledger-revise',
      arguments: { in: things, where, is, fresh: to },
    }),
    drop: ({ things }, where, is) => ({ name: 'ledger-strike', arguments: { from: things, where, is } }),
  },
  {
    look: ({ noun }, first) => ({
      name: 'pullSheet',
      arguments: { kind: noun, ...(first === undefined ? {} : { most: first }) },
    }),
    find: ({ noun }, key, value) => ({ name: 'pullSheet', arguments: { kind: noun, match: [key, value] } }),
    add: ({ noun }, row) => ({ name: 'growSheet', arguments: { kind: noun, line: row } }),
    change: ({ noun }, key, value, to) => ({
      name: 'mendSheet',
      arguments: { kind: noun, match: [key, value], put: to },
    }),
    drop: ({ noun }, key, value) => ({ name: 'thinSheet', arguments: { kind: noun, match: [key, value] } }),
  },
]

/** One to six records of two to six properties. */
export function drawRecords(d: Draw): Records {
  const noun = drawNoun({ d })
  const camel = chance(d, 0.25)
  const keyOf = ({ words }: Field): string =>
    camel ? words.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase()) : words.replaceAll(' ', '_')
  const naming: Field = {
    words: pick(d, ['name', 'name', 'title', 'label']),
    schema: { type: 'string' },
    draw: () => nameText(d),
  }
  const others = drawFields(d, between(d, 1, 4), [naming.words, 'id']).map((field) =>
    // "customer_id": a number that leads to a record of another kind.
    chance(d, 0.15)
      ? {
          ...field,
          words: `${drawNoun({ d })} id`,
          schema: { type: 'integer' },
          draw: () => between(d, 1, 99),
        }
      : field,
  )
  const fields = chance(d, 0.85) ? [naming, ...others] : others
  const first = between(d, 1, chance(d, 0.7) ? 9 : 900)
  const numbered = chance(d, 0.7)
  const rows = Array.from({ length: pick(d, [1, 2, 2, 3, 3, 4, 4, 5, 6]) }, (_, at): Row => ({
    ...(numbered ? { id: first + at } : {}),
    ...Object.fromEntries(fields.map((field) => [keyOf(field), field.draw()])),
  }))
  return { noun, things: inNumber(noun, true), fields, keyOf, rows }
}

/** Records as the text of a result. */
export function recordsText(d: Draw, { things, rows }: Records): string {
  const form = d.random.int(8)
  if (rows.length === 1 && form < 3) {
    const [row] = rows
    const lines = Object.entries(row).map(
      ([key, value]) => `${key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
    )
    return form === 0 && lines.length > 1 ? lines.join('\n') : JSON.stringify(row)
  }
  if (form < 5) return JSON.stringify(rows)
  if (form === 5) return JSON.stringify(rows, null, 2)
  const name = pick(d, [things.replaceAll(' ', '_'), 'items', 'results', 'rows', 'data'])
  return JSON.stringify(form === 6 ? { count: rows.length, [name]: rows } : { [name]: rows })
}

/** The properties of which every record has a text or a number. */
export const plainKeys = (records: Records): Field[] =>
  records.fields.filter((field) =>
    records.rows.every((row) => ['string', 'number'].includes(typeof row[records.keyOf(field)])),
  )
