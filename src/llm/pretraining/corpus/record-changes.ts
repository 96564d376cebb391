/** Changes of records: asked for outright, or after a look at the records that says which of them is meant, or whether to change. */
import { saidOfRecord } from '../../environment/mcp/goals/tables.ts'
import { withArticle } from '../../environment/mcp/request/inflect.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { between, chance, type Draw, pick, quoted, say, shuffled, word } from './draw.ts'
import {
  drawRecords,
  plainKeys,
  type RecordCall,
  type Records,
  recordsText,
  type RecordTools,
  recordTools,
  type Row,
} from './records.ts'
import { drawQuestion, filters, looked, retried, wordsOfLook } from './record-stories.ts'
import { inOrder, request } from './tree-task.ts'

interface Change {
  words: string
  call: RecordCall
  result: string
}

/** Values in words: "the name Ada, the city Rome and the price 4". */
function valuesInWords(d: Draw, of: Records, row: Row): string {
  const parts = of.fields.flatMap((field) => {
    const value = row[of.keyOf(field)]
    return value === undefined ? [] : [`the ${field.words} ${quoted(d, plain(value), 0.1)}`]
  })
  return listed(parts)
}

const plain = (value: unknown): string => (Array.isArray(value) ? value.join(' and ') : String(value))

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`

const changeResults = ['ok', 'done', '{"ok":true}', '{"changed":1}', '1 row', 'saved', '[]'] as const

const removing = '[delete|remove|drop|get rid of|erase|take out|scrap|cancel]'

function drawChange(d: Draw, of: Records, tools: RecordTools): Change | undefined {
  const keys = plainKeys(of)
  if (keys.length === 0) return undefined
  const by = pick(d, keys)
  const [key, value] = [of.keyOf(by), pick(d, of.rows)[of.keyOf(by)]]
  const which = say(d, filters, { by: by.words, value: quoted(d, String(value), 0.1) })
  const result = pick(d, changeResults)
  const kind = d.random.int(3)
  if (kind === 0) {
    const row = Object.fromEntries(of.fields.map((field) => [of.keyOf(field), field.draw()]))
    const holes = { thing: withArticle(of.noun), values: valuesInWords(d, of, row) }
    const words = say(
      d,
      '[add|create|insert|enter|make|register|put in|there should be] {thing} [with|that has|having] {values}',
      holes,
    )
    return { words, call: tools.add(of, row), result }
  }
  const things = chance(d, 0.6) ? `the ${of.things}` : `the ${of.noun}`
  if (kind === 1) {
    const words = say(d, `${removing} {things} {which}`, {
      things,
      which,
    })
    return { words, call: tools.drop(of, key, value), result }
  }
  const changed = shuffled(
    d,
    of.fields.filter((field) => field !== by),
  ).slice(0, pick(d, [1, 1, 2]))
  if (changed.length === 0) return undefined
  const row = Object.fromEntries(changed.map((field) => [of.keyOf(field), field.draw()]))
  const to = listed(
    changed.map((field) => `the ${field.words} to ${quoted(d, plain(row[of.keyOf(field)]), 0.1)}`),
  )
  const words = say(d, '[set|change|update|correct|turn|move] {to} [for|of|in] {things} {which}', {
    to,
    things,
    which,
  })
  return { words, call: tools.change(of, key, value, row), result }
}

/** One to six changes of records, in the order of the request; sometimes with a question after them. */
export const changeRecords = retried((d) => {
  const tools = pick(d, recordTools)
  const kinds = Array.from({ length: between(d, 1, 3) }, () => drawRecords(d))
  if (new Set(kinds.map(({ noun }) => noun)).size < kinds.length) return undefined
  const count = pick(d, [1, 1, 2, 2, 3, 3, 4, 5, 6])
  const changes = Array.from({ length: count }, () => drawChange(d, pick(d, kinds), tools))
  if (!changes.every((change) => change !== undefined)) return undefined
  const turns = changes.flatMap(({ call, result }): ChatMessage[] => [
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text: result },
  ])
  const clauses = changes.map(({ words }) => words)
  if (count > 3 || chance(d, 0.7))
    return [
      { role: 'user', text: request(d, inOrder(d, clauses)) },
      ...turns,
      { role: 'assistant', text: 'done' },
    ]
  const { some, call, words } = looked(d, pick(d, kinds), tools)
  const text = recordsText(d, some)
  const question = drawQuestion(d, text, some.noun, `${clauses.join(' ')} ${words}`)
  if (question === undefined) return undefined
  return [
    { role: 'user', text: request(d, inOrder(d, [...clauses, wordsOfLook(d, words, question)])) },
    ...turns,
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text },
    { role: 'assistant', text: question.answer },
  ]
})

/** The property by which a tool takes a record: its number, or what it is called. */
function handleOf({ rows, fields, keyOf }: Records): string | undefined {
  const key = 'id' in rows[0] ? 'id' : keyOf(fields[0])
  return isOnly(rows, key) ? key : undefined
}

const isOnly = (rows: readonly Row[], key: string): boolean =>
  new Set(rows.map((row) => row[key])).size === rows.length

/** Look at records, then act on the one that the request names by another property than the tool takes. */
function actOnOne(d: Draw): ChatMessage[] | undefined {
  const tools = pick(d, recordTools)
  const { some, call, words } = looked(d, drawRecords(d), tools)
  const handle = handleOf(some)
  const ways = plainKeys(some).filter(
    (field) => some.keyOf(field) !== handle && isOnly(some.rows, some.keyOf(field)),
  )
  if (some.rows.length < 2 || handle === undefined || ways.length === 0) return undefined
  const by = pick(d, ways)
  const row = pick(d, some.rows)
  const holes = {
    noun: some.noun,
    which: say(d, filters, { by: by.words, value: quoted(d, String(row[some.keyOf(by)]), 0.1) }),
  }
  const changed = pick(d, some.fields)
  const to = { [some.keyOf(changed)]: changed.draw() }
  const drops = some.keyOf(changed) === handle || chance(d, 0.5)
  const wish = drops
    ? say(d, `${removing} the {noun} {which}`, holes)
    : say(d, '[set|change|update|turn] the {property} of the {noun} {which} to {value}', {
        ...holes,
        property: changed.words,
        value: quoted(d, plain(to[some.keyOf(changed)]), 0.1),
      })
  const act = drops ? tools.drop(some, handle, row[handle]) : tools.change(some, handle, row[handle], to)
  return [
    { role: 'user', text: request(d, inOrder(d, [words, wish])) },
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text: recordsText(d, some) },
    { role: 'assistant', text: saidOfRecord(row, some.keyOf(by), handle), calls: [act] },
    { role: 'tool', text: pick(d, changeResults) },
    { role: 'assistant', text: 'done' },
  ]
}

/** Look at records, then change something if a property of one of them is what the request says, else something other or nothing. */
function actIf(d: Draw): ChatMessage[] | undefined {
  const tools = pick(d, recordTools)
  const { some, call, words } = looked(d, drawRecords(d), tools)
  const handle = handleOf(some)
  const fields = plainKeys(some).filter((field) => some.keyOf(field) !== handle)
  if (some.rows.length < 2 || handle === undefined || fields.length === 0) return undefined
  const of = pick(d, fields)
  const row = pick(d, some.rows)
  const value = row[some.keyOf(of)]
  const holds = chance(d, 0.5)
  const other = typeof value === 'number' ? value + between(d, 1, 6) : chance(d, 0.5) ? of.draw() : word(d)
  const stated = holds ? value : other
  const [yes, no] = [drawChange(d, drawRecords(d), tools), drawChange(d, drawRecords(d), tools)]
  if (yes === undefined || no === undefined || holds !== (stated === value)) return undefined
  const otherwise = chance(d, 0.7)
  const wish = say(
    d,
    otherwise
      ? 'if the {of} of the {noun} {name} is {stated}, {yes}[, otherwise|, or else|. if not,|, else] {no}'
      : '[if the {of} of the {noun} {name} is {stated}, {yes}|{yes}, but only if the {of} of the {noun} {name} is {stated}]',
    {
      of: of.words,
      noun: some.noun,
      name: plain(row[handle]),
      stated: plain(stated),
      yes: yes.words,
      no: no.words,
    },
  )
  const chosen = holds ? yes : otherwise ? no : undefined
  const thought = `${saidOfRecord(row, handle, some.keyOf(of))}, ${holds ? 'yes' : 'no'}`
  const look: ChatMessage[] = [
    { role: 'user', text: request(d, inOrder(d, [words, wish])) },
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text: recordsText(d, some) },
  ]
  if (chosen === undefined) return [...look, { role: 'assistant', text: thought }]
  return [
    ...look,
    { role: 'assistant', text: thought, calls: [chosen.call] },
    { role: 'tool', text: chosen.result },
    { role: 'assistant', text: 'done' },
  ]
}

export const actOnRecords = retried((d) => (chance(d, 0.5) ? actOnOne(d) : actIf(d)))
