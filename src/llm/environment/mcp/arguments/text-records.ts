import { isPlainObject, objectsIn, parseJson, type PlainObject } from '../salient.ts'
import { noteOrigin } from './known-records.ts'
import { elementsOf } from './page-elements.ts'
import { readRows, readTable } from './sql-tables.ts'

/** Lines and records that are read from one result. Longer results are cut. */
const mostLines = 400
const mostRecords = 200
const longestValue = 200

/** Records with at least one plain value, which arguments can refer to. */
export function recordsIn(value: unknown): PlainObject[] {
  return objectsIn(value).filter((record) =>
    Object.values(record).some((item) =>
      Array.isArray(item) ? item.length > 0 && !item.some(isPlainObject) : !isPlainObject(item),
    ),
  )
}

/**
 * Returns the records that a result shows: objects of JSON (also inside other text), rows of markdown and of aligned
 * tables, `key: value` blocks, and the items of lists. An item of a list has its text as `name`; a path also has its
 * folder's path before it where the call named one. A described table of a database becomes one record with its
 * columns (`readTable`).
 *
 * @param call the arguments of the call. A record of `get_tasks({ project: 'p1' })` belongs to that project.
 * @param tool the name of the tool, for properties that refer to what it lists.
 * @example
 * recordsOf('[FILE] a.txt\n[DIR] b', { path: 'home' })
 * // [{ type: 'FILE', name: 'a.txt', path: 'home/a.txt' }, { type: 'DIR', name: 'b', path: 'home/b' }]
 */
export function recordsOf(text: string, call: Readonly<PlainObject> = {}, tool?: string): PlainObject[] {
  const json = parseJson(text) ?? embeddedJson(text)
  const shown = json === undefined ? contentOf(text, call) : undefined
  const found =
    shown !== undefined ? [shown] : json === undefined ? textRecords(text, call) : jsonRecords(json, call)
  const records = [...(json === undefined ? marksOf(text) : []), ...found].slice(0, mostRecords)
  if (tool !== undefined) noteOrigin(records, tool)
  return records
}

const mark =
  /\[(\w{1,20})=([\w-]{1,40})\]|\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/gi

/** Elements of a page, else ids that stand anywhere in a text: `[id=e5]`, and UUIDs. Only the first fifty. */
function marksOf(text: string): PlainObject[] {
  const elements = elementsOf(text)
  if (elements.length > 0) return elements
  const found = new Map<string, PlainObject>()
  for (const [whole, name, value, uuid] of text.slice(0, 50_000).matchAll(mark)) {
    if (found.size === 50) break
    found.set(whole, uuid === undefined ? { [name]: value } : { id: uuid })
  }
  return [...found.values()]
}

const pathArgument = /^(?:path|file|file_?name|file_?path)$/i

/** A file that a call named, with its text: what was read of it, or what was written to it. */
function contentOf(text: string, call: Readonly<PlainObject>): PlainObject | undefined {
  const path = Object.entries(call).find(([key]) => pathArgument.test(key))?.[1]
  if (typeof path !== 'string' || !/\.\w{1,5}$/.test(path)) return undefined
  // A description of the file (`size: 12`) is a record of its own.
  if (/^[A-Za-z][\w ]{0,30}: .*\n[A-Za-z][\w ]{0,30}: /.test(text)) return undefined
  const written = Object.entries(call).find(
    ([key, value]) => /^(?:content|contents|text|data)$/i.test(key) && typeof value === 'string',
  )
  return { path, content: written === undefined ? text.slice(0, longestValue * 5) : written[1] }
}

function jsonRecords(json: unknown, call: Readonly<PlainObject>): PlainObject[] {
  const table = readTable(json, call)
  if (table !== undefined) return [table]
  if (Array.isArray(json) && json.length > 0 && json.every((item) => typeof item === 'string'))
    return json.map((name) => named(name, call))
  const records = recordsIn(json).map((record) => withFolder(record, call))
  // { "tables": ["users", "orders"] } names things in a list.
  const lists = isPlainObject(json)
    ? Object.values(json).flatMap((value) =>
        Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [],
      )
    : []
  const rows = readRows(json, call)
  return [...(rows === undefined ? [] : [rows]), ...records, ...lists.map((name) => named(name, call))]
}

/** The first JSON array or object on lines of its own, or in a code block. */
function embeddedJson(text: string): unknown {
  const fence = /```(?:json)?[^\S\n]*\n/.exec(text)
  const body = fence === null ? 0 : fence.index + fence[0].length
  const end = fence === null ? -1 : text.indexOf('\n```', body)
  if (end >= 0) return parseJson(text.slice(body, end))
  const at = text.search(/^[[{]\s*(?:["{[\]}]|$)/m)
  if (at <= 0) return undefined
  const rest = text.slice(at).trimEnd()
  return (
    parseJson(rest) ?? parseJson(rest.slice(0, Math.max(rest.lastIndexOf(']'), rest.lastIndexOf('}')) + 1))
  )
}

function textRecords(text: string, call: Readonly<PlainObject>): PlainObject[] {
  const lines = text.split('\n').slice(0, mostLines)
  const tables = tableRows(lines)
  if (tables.length > 0) return tables
  const records: PlainObject[] = []
  let block: PlainObject = {}
  const finish = (): void => {
    if (Object.keys(block).length > 0) records.push(block)
    block = {}
  }
  for (const line of lines) {
    const plain = line.replaceAll(/\*\*|__|`/g, '').trim()
    if (plain === '') {
      finish()
      continue
    }
    const heading = /^#{1,6}\s+(.+)$/.exec(plain)
    if (heading !== null) {
      finish()
      block['name'] = heading[1].trim()
      continue
    }
    const pair = /^(?:[-*•]\s+|\d+[.)]\s+)?([A-Za-z][\w ]{0,30}?)\s*[:=]\s+(\S.*)$/.exec(plain)
    // "- a1: Buy milk" begins with an id.
    const id = /^(?:[-*•]|\d+[.)])\s/.test(plain) && /\d/.test(pair?.[1] ?? '')
    if (pair !== null && !id && pair[2].length <= longestValue) {
      const key = pair[1]
      // The same key again begins the next record.
      if (key in block) finish()
      block[key] = plainValue(pair[2])
      continue
    }
    const item = listItem(plain)
    if (item !== undefined) {
      finish()
      records.push(...item.names.map((name) => ({ ...item.more, ...named(name, call) })))
    }
  }
  finish()
  return records
}

interface Item {
  names: string[]
  more: PlainObject
}

/** The name in a line of a list: a bullet, a number, a mark in brackets, or a line that is a name or a path. */
function listItem(line: string): Item | undefined {
  const marked = /^\[([A-Za-z]+)\]\s+(.+)$/.exec(line)
  if (marked !== null) return { names: [sized(marked[2])], more: { type: marked[1] } }
  const listed = /^(?:[-*•+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.+)$/.exec(line)
  if (listed !== null) {
    // "- users (3 rows)" and "- a1: Buy milk" begin with what they are about.
    const [, id, name] = /^([\w-]{1,40}):\s+(.{1,80})$/.exec(listed[1]) ?? []
    if (id !== undefined) return { names: [name], more: { id } }
    const [head] = listed[1].split(/(?<!\s)\s+[-–—(]\s*|:\s*$/)
    return head !== undefined && head.length > 0 && head.length <= 80
      ? { names: [head.trim()], more: {} }
      : undefined
  }
  const isPlace = /^(?:[A-Za-z]:)?[\w./\\ -]+$/.test(line) && /[/\\]./.test(line)
  if (isPlace || /^[\w.-]{1,60}$/.test(line)) return { names: [line], more: {} }
  const list = /^[A-Z][\w ]{2,40}:\s*((?:[\w./-]+,\s*)+[\w./-]+)\.?$/.exec(line)
  return list === null ? undefined : { names: list[1].split(/,\s*/), more: {} }
}

/** `a.txt      12 B` is the file a.txt. */
const sized = (text: string): string => text.replace(/(?<!\s)\s{2,}[\d.]{1,20}\s{0,20}\w{0,20}$/, '').trim()

function plainValue(text: string): string | number {
  const value = text.trim().replace(/^["']|(?<!["',])["',]+$/g, '')
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
}

const isPath = (text: string): boolean => /^(?:[A-Za-z]:)?[/\\]|^[\w.-]+[/\\]/.test(text)

function named(name: string, call: Readonly<PlainObject>): PlainObject {
  return isPath(name) ? { name, path: name } : withFolder({ name }, call)
}

/** A file that was listed in a folder gets its whole path. */
function withFolder(record: PlainObject, call: Readonly<PlainObject>): PlainObject {
  const { name } = record
  const folder = Object.entries(call).find(([key]) => /^(?:path|dir|directory|folder)$/i.test(key))?.[1]
  if (typeof folder !== 'string' || typeof name !== 'string' || 'path' in record) return record
  const path = folder === '.' || folder === '' ? name : `${folder.replace(/[/\\]$/, '')}/${name}`
  return { ...record, path }
}

/** Rows of markdown tables (`| a | b |`) and of tables with columns that are two blanks apart under a ruled line. */
function tableRows(lines: readonly string[]): PlainObject[] {
  const rows: PlainObject[] = []
  const cells = (line: string): string[] =>
    line.includes('|')
      ? line
          .trim()
          .replace(/^\||\|$/g, '')
          .split('|')
          .map((cell) => cell.replaceAll(/\*\*|`/g, '').trim())
      : line.trim().split(/\s{2,}|\t/)
  for (const [index, line] of lines.entries()) {
    if (index === 0 || !line.includes('--') || !/^[\s|+:-]+$/.test(line)) continue
    const names = cells(lines[index - 1])
    if (names.length === 0 || names.some((name) => name === '' || name.length > 40)) continue
    for (const row of lines.slice(index + 1)) {
      const values = cells(row)
      if (row.trim() === '' || values.length !== names.length || /^[\s|+:-]+$/.test(row)) break
      rows.push(Object.fromEntries(names.map((name, at) => [name, plainValue(values[at])])))
    }
  }
  return rows
}
