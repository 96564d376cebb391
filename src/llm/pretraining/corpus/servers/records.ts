import { inNumber } from '../../../environment/mcp/request/inflect.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { between, chance, distinct, pick, shuffled } from '../draw.ts'
import { lexiconWord } from '../lexicon.ts'
import { drawFields, type Field, nameText } from './fields.ts'
import {
  type Arguments,
  choice,
  type Component,
  integer,
  listOf,
  listText,
  makeTool,
  many,
  recordText,
  type ServerTool,
  some,
  type Style,
  text,
  ToolFailure,
  writtenText,
} from './server.ts'

type Row = Record<string, unknown>

/** Records of one kind, and how tools name and change them. */
interface Store {
  style: Style
  noun: string
  fields: readonly Field[]
  rows: Row[]
  /** The property that identifies a record, in results. */
  id: string
  /** The argument that does. */
  idKey: string
  nextId: () => unknown
  keyOf: (field: Field) => string
}

const kinds =
  'contact,note,event,invoice,order,recipe,song,ticket,product,customer,booking,member,lesson,plant,animal,trip,expense,device,course,project,team,bug,wish,book,article,film,tool,visit,payment,room,car,parcel,idea,goal,habit,exam,poem,garden,ship,flight,account,photo,letter,patient,driver,job,meal,game,player,shop'.split(
    ',',
  )

/** What a store is about: something that servers are often about, or any noun of the lexicon. */
export function drawNoun({ d }: Pick<Style, 'd'>): string {
  const noun = chance(d, 0.45) && d.pool === 'train' ? pick(d, kinds) : lexiconWord(d, 'noun')
  return chance(d, 0.08) ? `${lexiconWord(d, 'noun')} ${noun}` : noun
}

function makeStore(style: Style): Store {
  const { d } = style
  const noun = drawNoun(style)
  const title = pick(d, ['name', 'name', 'title', 'label'])
  const byName = chance(d, 0.35)
  const numbered = chance(d, 0.5)
  const prefix = `${noun[0]}${chance(d, 0.4) ? (noun[1] ?? '') : ''}${pick(d, ['', '', '-', '_'])}`
  let last = chance(d, 0.6) ? 0 : between(d, 10, 900)
  const nextId = (): unknown => {
    last += 1
    return numbered ? last : `${prefix}${last}`
  }
  const naming: Field = { words: title, schema: text, draw: () => nameText(d) }
  const fields = [naming, ...drawFields(d, between(d, 1, 4), [title, 'id'])]
  const keyOf = (field: Field): string => style.key(field.words)
  const id = byName ? keyOf(naming) : 'id'
  const idWords = byName
    ? pick(d, [title, title, noun, `${noun} ${title}`])
    : pick(d, ['id', 'id', `${noun} id`, noun, 'key', 'code'])
  const store: Store = { style, noun, fields, rows: [], id, idKey: style.key(idWords), nextId, keyOf }
  const names = distinct(between(d, 2, 4), naming.draw)
  for (const name of names) store.rows.push(newRow(store, { ...drawRow(store), [keyOf(naming)]: name }))
  return store
}

const drawRow = ({ fields, keyOf }: Store): Row =>
  Object.fromEntries(fields.map((field) => [keyOf(field), field.draw()]))

function newRow({ id, fields, keyOf, nextId }: Store, row: Row): Row {
  return id === keyOf(fields[0]) ? row : { id: nextId(), ...row }
}

const idSchema = ({ rows, id }: Store): JsonSchema => (typeof rows[0][id] === 'number' ? integer : text)

function find({ rows, id, noun }: Store, value: unknown): Row {
  const row = rows.find((one) => String(one[id]) === String(value))
  if (row === undefined) throw new ToolFailure(`Error: no ${noun} ${String(value)}`)
  return row
}

const someRow = ({ rows, style: { d } }: Store): Row | undefined =>
  rows.length === 0 ? undefined : pick(d, rows)
const said = ({ id }: Store, row: Row): string => String(row[id])
const schemas = (store: Store, fields: readonly Field[]): Record<string, JsonSchema> =>
  Object.fromEntries(fields.map((field) => [store.keyOf(field), field.schema]))

function adding(store: Store): ServerTool {
  const { style, noun, fields, rows } = store
  const { d } = style
  const optional = fields
    .slice(1)
    .filter(() => chance(d, 0.3))
    .map(store.keyOf)
  const draw = (): Arguments => {
    const row = Object.fromEntries(
      Object.entries(drawRow(store)).filter(([key]) => !optional.includes(key) || chance(d, 0.5)),
    )
    return row
  }
  const put = (row: Row): Row => {
    const made = newRow(store, { ...row })
    if (rows.some((other) => other[store.id] === made[store.id]))
      throw new ToolFailure(`Error: ${noun} ${said(store, made)} exists`)
    rows.push(made)
    return made
  }
  const shape = d.random.next()
  const common = { action: 'add', effect: 'adds', noun } as const
  const object = {
    type: 'object',
    properties: schemas(store, fields),
    required: fields.map(store.keyOf).filter((key) => !optional.includes(key)),
  }
  if (shape < 0.12) {
    const key = style.key(pick(d, [many(noun), 'items', 'entries', 'list']))
    return makeTool(style, {
      ...common,
      object: many(noun),
      about: pick(d, [many(noun), `several ${many(noun)}`, `one or more ${many(noun)}`]),
      properties: { [key]: listOf(object) },
      draw: () => ({ [key]: distinct(between(d, 1, 2), draw) }),
      run(args) {
        const made = (args[key] as Row[]).map(put)
        return writtenText(style, { added: made.length }, `Added ${made.length}`)
      },
    })
  }
  const nested = shape < 0.2 ? style.key(noun) : undefined
  return makeTool(style, {
    ...common,
    object: noun,
    about: pick(d, [some(noun), `a new ${noun}`, `${some(noun)} with its ${fields.at(-1)?.words ?? 'name'}`]),
    properties: nested === undefined ? schemas(store, fields) : { [nested]: object },
    optional,
    draw: () => (nested === undefined ? draw() : { [nested]: draw() }),
    run(args) {
      const made = put(nested === undefined ? args : (args[nested] as Row))
      return writtenText(style, made, `Added ${noun} ${said(store, made)}`)
    },
  })
}

function getting(store: Store): ServerTool {
  const { style, noun, idKey, id } = store
  return makeTool(style, {
    action: 'get',
    effect: 'reads',
    object: noun,
    noun,
    about: pick(style.d, [
      `one ${noun}`,
      some(noun),
      `the details of ${some(noun)}`,
      `everything about ${some(noun)}`,
    ]),
    properties: { [idKey]: idSchema(store) },
    draw: () => pickId(store, idKey),
    run: (args) => recordText(style, find(store, args[idKey])),
  })
  function pickId(of: Store, key: string): Arguments | undefined {
    const row = someRow(of)
    return row === undefined ? undefined : { [key]: row[id] }
  }
}

function listing(store: Store): ServerTool {
  const { style, noun, rows } = store
  const { d } = style
  const filter = chance(d, 0.3) ? pick(d, store.fields.slice(1)) : undefined
  const plain =
    filter !== undefined && ['string', 'integer', 'number'].includes(String(filter.schema['type']))
  const key = filter === undefined || !plain ? undefined : store.keyOf(filter)
  return makeTool(style, {
    action: 'list',
    effect: 'reads',
    object: many(noun),
    noun,
    about:
      pick(d, [`all ${many(noun)}`, many(noun), `the ${many(noun)}`]) +
      (key === undefined ? '' : `, or those with ${some(filter?.words ?? '')}`),
    properties: key === undefined || filter === undefined ? {} : { [key]: filter.schema },
    optional: key === undefined ? [] : [key],
    lists: true,
    draw() {
      const row = someRow(store)
      return key === undefined || row === undefined || row[key] === undefined || chance(d, 0.5)
        ? {}
        : { [key]: row[key] }
    },
    run: (args) =>
      listText(
        style,
        style.key(many(noun)),
        rows.filter((row) => key === undefined || args[key] === undefined || row[key] === args[key]),
      ),
  })
}

function searching(store: Store): ServerTool {
  const { style, noun, rows } = store
  const { d } = style
  const key = style.key(pick(d, ['query', 'text', 'search', 'term', 'words', 'phrase']))
  const limit = chance(d, 0.25) ? style.key(pick(d, ['limit', 'max results', 'count'])) : undefined
  return makeTool(style, {
    action: 'search',
    effect: 'reads',
    object: many(noun),
    noun,
    about: pick(d, [
      `${many(noun)} by text`,
      `${many(noun)} that contain a text`,
      `${some(noun)} by its words`,
    ]),
    properties: { [key]: text, ...(limit === undefined ? {} : { [limit]: integer }) },
    optional: limit === undefined ? [] : [limit],
    draw() {
      const row = someRow(store)
      const texts = Object.values(row ?? {}).filter(
        (value): value is string => typeof value === 'string' && value.length > 2,
      )
      return texts.length === 0
        ? undefined
        : {
            [key]: pick(
              d,
              pick(d, texts)
                .split(/[ ]/)
                .filter((part) => part.length > 1)
                .concat(texts[0]),
            ),
          }
    },
    run(args) {
      const wanted = String(args[key]).toLowerCase()
      return listText(
        style,
        'results',
        rows.filter((row) => JSON.stringify(row).toLowerCase().includes(wanted)).slice(0, 3),
      )
    },
  })
}

function updating(store: Store): ServerTool | undefined {
  const { style, noun, idKey, id } = store
  const { d } = style
  const changed = shuffled(
    d,
    store.fields.filter((field) => store.keyOf(field) !== id),
  ).slice(0, between(d, 1, 3))
  if (changed.length === 0 || changed.some((field) => store.keyOf(field) === idKey)) return undefined
  const keys = changed.map(store.keyOf)
  const nested = chance(d, 0.2)
    ? style.key(pick(d, ['changes', 'values', 'data', 'fields', 'patch']))
    : undefined
  const properties = schemas(store, changed)
  const single = changed.length === 1
  return makeTool(style, {
    action: single ? 'set' : 'update',
    effect: 'changes',
    object: single && nested === undefined && chance(d, 0.7) ? `${noun} ${changed[0].words}` : noun,
    noun,
    about: single
      ? `the ${changed[0].words} of ${some(noun)}`
      : pick(d, [some(noun), `the values of ${some(noun)}`, `what is known of ${some(noun)}`]),
    properties: {
      [idKey]: idSchema(store),
      ...(nested === undefined ? properties : { [nested]: { type: 'object', properties } }),
    },
    optional: single || nested !== undefined ? [] : keys,
    draw() {
      const row = someRow(store)
      if (row === undefined) return undefined
      const some = shuffled(d, changed).slice(0, between(d, 1, Math.min(2, changed.length)))
      const values = Object.fromEntries(
        changed.filter((field) => some.includes(field)).map((field) => [store.keyOf(field), field.draw()]),
      )
      if (Object.entries(values).every(([key, value]) => JSON.stringify(row[key]) === JSON.stringify(value)))
        return undefined
      return { [idKey]: row[id], ...(nested === undefined ? values : { [nested]: values }) }
    },
    run(args) {
      const row = find(store, args[idKey])
      const { [idKey]: _, ...plain } = args
      Object.assign(row, nested === undefined ? plain : args[nested])
      return writtenText(style, row, `Updated ${noun} ${said(store, row)}`)
    },
  })
}

function removing(store: Store): ServerTool {
  const { style, noun, id, rows } = store
  const { d } = style
  const several = chance(d, 0.15)
  const key = several
    ? style.key(inNumber(store.idKey.replaceAll('_', ' ').toLowerCase(), true))
    : store.idKey
  return makeTool(style, {
    action: 'remove',
    effect: 'removes',
    object: several ? many(noun) : noun,
    noun,
    about: pick(
      d,
      several
        ? [many(noun), `${many(noun)} for good`]
        : [some(noun), `${some(noun)} for good`, `one ${noun}`],
    ),
    properties: { [key]: several ? listOf(idSchema(store)) : idSchema(store) },
    draw() {
      if (rows.length === 0) return undefined
      const ids = shuffled(d, rows)
        .slice(0, several ? between(d, 1, 2) : 1)
        .map((row) => row[id])
      return { [key]: several ? ids : ids[0] }
    },
    run(args) {
      const ids = several ? (args[key] as unknown[]) : [args[key]]
      const gone = ids.map((one) => find(store, one))
      for (const row of gone) rows.splice(rows.indexOf(row), 1)
      return writtenText(style, { removed: ids.length }, `Removed ${noun} ${ids.join(', ')}`)
    },
  })
}

function counting(store: Store): ServerTool {
  const { style, noun, rows } = store
  return makeTool(style, {
    action: 'count',
    effect: 'reads',
    object: many(noun),
    noun,
    about: pick(style.d, [`the ${many(noun)}`, `all ${many(noun)}`]),
    properties: {},
    draw: () => ({}),
    run: () => (style.record === 'json' ? JSON.stringify({ count: rows.length }) : String(rows.length)),
  })
}

/** Sets a property with choices to one of them, by a verb: "close a ticket". */
function finishing(store: Store): ServerTool | undefined {
  const { style, noun, idKey, id } = store
  const { d } = style
  const field = store.fields.find(({ schema }) => Array.isArray(schema['enum']))
  if (field === undefined) return undefined
  const values = field.schema['enum'] as string[]
  const key = store.keyOf(field)
  const argument = style.key(pick(d, [field.words, `new ${field.words}`, 'to', 'value']))
  if (argument === idKey) return undefined
  return makeTool(style, {
    action: 'set',
    effect: 'changes',
    object: `${noun} ${field.words}`,
    noun,
    about: `the ${field.words} of ${some(noun)}`,
    properties: { [idKey]: idSchema(store), [argument]: choice(values) },
    draw() {
      const row = someRow(store)
      const others = values.filter((value) => value !== row?.[key])
      return row === undefined || others.length === 0
        ? undefined
        : { [idKey]: row[id], [argument]: pick(d, others) }
    },
    run(args) {
      const row = find(store, args[idKey])
      row[key] = args[argument]
      return writtenText(style, row, `${noun} ${said(store, row)} is ${String(args[argument])}`)
    },
  })
}

/** Records of one kind with two to six tools: customers, notes, tasks, events, stock. */
export const records: Component = (style) => {
  const store = makeStore(style)
  const { d } = style
  const makers = shuffled(d, [adding, getting, searching, updating, removing, counting, finishing])
  const chosen = [listing, ...makers.slice(0, between(d, 1, 5))]
  return chosen.flatMap((make) => {
    const tool = make(store)
    return tool === undefined ? [] : [tool]
  })
}
