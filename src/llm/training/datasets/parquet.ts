import { parquetWriteBuffer } from 'hyparquet-writer'

/** An element of a Parquet schema, in depth-first order. */
interface Element {
  name: string
  type?: 'BOOLEAN' | 'INT32' | 'DOUBLE' | 'BYTE_ARRAY'
  converted_type?: 'UTF8' | 'LIST'
  repetition_type?: 'OPTIONAL' | 'REPEATED'
  num_children?: number
}

/** `json`: JSON strings, for values of different types. */
interface Described extends Element {
  json?: true
}

type Row = Readonly<Record<string, unknown>>

/**
 * Encodes rows as a Parquet file. Column types follow from the values: strings, booleans, numbers, lists and records. A record
 * type has the fields of all its values; missing fields are null. Values of mixed types, and records that are always empty,
 * become JSON strings.
 */
export function toParquet(rows: readonly Row[]): Uint8Array {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const columns = names.map((name) => {
    const data = rows.map((row) => row[name] ?? null)
    const elements = describe(name, data)
    return { name, data: data.map((value) => fit(value, elements)), elements }
  })
  const schema: Element[] = [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(({ elements }) => elements.map(withoutMark)),
  ]
  return new Uint8Array(
    parquetWriteBuffer({ columnData: columns.map(({ name, data }) => ({ name, data })), schema }),
  )
}

function withoutMark(described: Described): Element {
  const { json: _json, ...element } = described
  return element
}

const text = (name: string): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
})

const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema of the values of one column or field. */
function describe(name: string, values: readonly unknown[]): Described[] {
  const given = values.filter((value) => value !== null && value !== undefined)
  const all = (test: (value: unknown) => boolean): boolean => given.every(test)
  const leaf = (type: NonNullable<Element['type']>): Described[] => [
    { name, type, repetition_type: 'OPTIONAL' },
  ]
  if (all((value) => typeof value === 'string')) return [text(name)]
  if (all((value) => typeof value === 'boolean')) return leaf('BOOLEAN')
  if (all((value) => typeof value === 'number'))
    return leaf(all((value) => (value as number) === ((value as number) | 0)) ? 'INT32' : 'DOUBLE')
  if (all(Array.isArray)) {
    const element = describe('element', (given as unknown[][]).flat())
    return [
      { name, converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      ...element,
    ]
  }
  const json: Described[] = [{ ...text(name), json: true }]
  if (!all(isRecord)) return json
  const fields = [...new Set((given as Row[]).flatMap((value) => Object.keys(value)))]
  if (fields.length === 0) return json
  const children = fields.map((field) =>
    describe(
      field,
      (given as Row[]).map((value) => value[field]),
    ),
  )
  return [{ name, repetition_type: 'OPTIONAL', num_children: fields.length }, ...children.flat()]
}

/** The value, with JSON strings where its schema has them. */
function fit(value: unknown, elements: readonly Described[]): unknown {
  const [head] = elements
  if (value === null || value === undefined) return null
  if (head.json === true) return JSON.stringify(value)
  if (head.converted_type === 'LIST') return (value as unknown[]).map((item) => fit(item, elements.slice(2)))
  if (head.num_children === undefined) return value
  return Object.fromEntries(
    childrenOf(elements).map((child) => [child[0].name, fit((value as Row)[child[0].name], child)]),
  )
}

/** The elements of each child of the first element. */
function childrenOf(elements: readonly Described[]): Described[][] {
  const children: Described[][] = []
  let at = 1
  const skip = (): void => {
    const { num_children: count = 0 } = elements[at++]
    for (let i = 0; i < count; i++) skip()
  }
  for (let i = 0; i < (elements[0].num_children ?? 0); i++) {
    const start = at
    skip()
    children.push(elements.slice(start, at))
  }
  return children
}
