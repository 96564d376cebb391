import { plural, withArticle } from '../../../environment/mcp/request/inflect.ts'
import type { Effect } from '../../../environment/mcp/request/argument-words.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { chance, pick } from '../draw.ts'
import type { Draw } from '../draw.ts'
import { isReservedName } from '../words.ts'
import { describedVerb, nameVerb } from './action-words.ts'
import type { Action, ActionVerbs } from './action-words.ts'
import { tableToolNames } from './table-servers.ts'

export type Arguments = Record<string, unknown>

/** A tool of an invented server, on its simulated state. */
export interface ServerTool {
  spec: ToolSpec
  action: Action | ActionVerbs
  effect: Effect
  /** What the tool acts on, in the singular. */
  noun: string
  /** What its name says that it acts on: "contact", "contacts", "contact status". */
  object: string
  /** Shows records that other tools take arguments from. Called without arguments. */
  lists?: boolean
  /** Arguments that make sense in the present state; undefined if there are none. */
  draw(): Arguments | undefined
  /** @throws ToolFailure if the call fails. */
  run(args: Arguments): string
}

/** The error that a tool reports. */
export class ToolFailure extends Error {}

/** How the names of a server are written. Drawn once a server. */
export interface Style {
  d: Draw
  toolName: (verb: string, object: string) => string
  key: (words: string) => string
  /** Descriptions begin with "Adds", not "Add". */
  third: boolean
  /** Whether tools are described at all. */
  described: boolean
  /** Results of tools that write. */
  written: 'ok' | 'sentence' | 'record'
  /** Results that show one record. */
  record: 'json' | 'lines'
  /** Results that list records. */
  list: 'json' | 'wrapped'
  taken: Set<string>
}

/** Some tools with a state of their own. A server is made of one to three. */
export type Component = (style: Style) => ServerTool[]

const joiners = ['snake', 'snake', 'kebab', 'camel', 'dot'] as const

export function drawStyle(d: Draw): Style {
  const joiner = pick(d, joiners)
  const nounFirst = joiner === 'dot' || chance(d, 0.12)
  const join = (words: readonly string[], style: (typeof joiners)[number]): string =>
    style === 'camel'
      ? words.map((word, at) => (at === 0 ? word : word[0].toUpperCase() + word.slice(1))).join('')
      : words.join(style === 'kebab' ? '-' : style === 'dot' ? '.' : '_')
  const keyStyle = joiner === 'camel' || chance(d, 0.15) ? 'camel' : 'snake'
  return {
    d,
    toolName(verb, object) {
      const [verbWords, objectWords] = [verb, object].map((text) =>
        text.split(' ').filter((word) => word !== ''),
      )
      if (joiner === 'dot')
        return [objectWords.join('_'), verbWords.join('_')].filter((part) => part !== '').join('.')
      return join(nounFirst ? [...objectWords, ...verbWords] : [...verbWords, ...objectWords], joiner)
    },
    key: (words) => join(words.split(' '), keyStyle),
    third: chance(d, 0.5),
    described: chance(d, 0.92),
    written: pick(d, ['ok', 'sentence', 'record'] as const),
    record: pick(d, ['json', 'json', 'lines'] as const),
    list: pick(d, ['json', 'json', 'wrapped'] as const),
    taken: new Set(),
  }
}

const normalised = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
const table = new Set(tableToolNames.map(normalised))

/** Whether a tool of the servers that models are judged on has this name, up to capitals and separators. */
export const isTableName = (name: string): boolean => isReservedName(name) || table.has(normalised(name))

interface ToolDraft {
  action: Action | ActionVerbs
  effect: Effect
  /** The object in the tool's name: "contact", "contacts". */
  object: string
  noun: string
  /** What is said behind the verb of the description: "a contact", "all contacts of a city". */
  about: string
  properties: Record<string, JsonSchema>
  /** Properties that may be left out. */
  optional?: readonly string[]
  lists?: boolean
  draw: ServerTool['draw']
  run: ServerTool['run']
}

/** A tool with a name of its own, which no real server of the benchmark has. */
export function makeTool(style: Style, draft: ToolDraft): ServerTool {
  const { action, effect, object, noun, about, properties, optional = [], lists = false, draw, run } = draft
  const { d } = style
  let name = ''
  let verb = ''
  for (let tries = 0; name === '' || isTableName(name) || style.taken.has(normalised(name)); tries += 1) {
    verb = nameVerb(d, action)
    name = style.toolName(verb, tries > 8 ? `${pick(d, extra)} ${object}` : object)
  }
  style.taken.add(normalised(name))
  const spoken = ['new', 'all', 'query', 'lookup', 'dequeue'].includes(verb)
    ? ((typeof action === 'string' ? fallback[action] : undefined) ?? 'get')
    : verb
  const said = chance(d, 0.6) ? spoken : nameVerb(d, action)
  const front = describedVerb(/^(?:new|all|query|lookup|dequeue)$/.test(said) ? spoken : said, style.third)
  return {
    spec: {
      name,
      ...(style.described ? { description: `${front} ${about}${pick(d, ['', '.', '.'])}` } : {}),
      inputSchema: {
        type: 'object',
        properties,
        required: Object.keys(properties).filter((key) => !optional.includes(key)),
      },
    },
    action,
    effect,
    noun,
    object,
    lists,
    draw,
    run,
  }
}

const extra = ['my', 'one', 'this', 'our', 'your', 'own']
const fallback: Partial<Record<Action, string>> = {
  add: 'add',
  list: 'list',
  search: 'find',
  take: 'take',
  push: 'add',
}

export const some = (noun: string): string => withArticle(noun)
export const many = (noun: string): string => plural(noun)

export const text: JsonSchema = { type: 'string' }
export const integer: JsonSchema = { type: 'integer' }
export const number: JsonSchema = { type: 'number' }
export const flag: JsonSchema = { type: 'boolean' }
export const choice = (values: readonly string[]): JsonSchema => ({ type: 'string', enum: [...values] })
export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** What a tool that writes says. */
export function writtenText(
  style: Style,
  record: Readonly<Record<string, unknown>>,
  sentence: string,
): string {
  return style.written === 'ok' ? 'ok' : style.written === 'sentence' ? sentence : JSON.stringify(record)
}

/** One record as JSON, or as lines of names and values. */
export function recordText(style: Style, record: Readonly<Record<string, unknown>>): string {
  if (style.record === 'json') return JSON.stringify(record)
  return Object.entries(record)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}

export function listText(style: Style, key: string, records: readonly unknown[]): string {
  return JSON.stringify(style.list === 'json' ? records : { [key]: records })
}
