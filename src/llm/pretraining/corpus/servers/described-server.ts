import { toolSignatures } from '../../../agent/chat-format/tool-signatures.ts'
import type { Asked } from '../../../environment/mcp/request/asked-words.ts'
import { renderRequest } from '../../../environment/mcp/request/request.ts'
import { type RequestStep, type Speech, speechOf } from '../../../environment/mcp/request/step-words.ts'
import { nameWords } from '../../../environment/mcp/request/name-words.ts'
import type { ChatMessage } from '../../../tokenizer/template.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { chance, pick, say, shuffled } from '../draw.ts'
import type { Draw, WordPool } from '../draw.ts'
import { isBenchmarkPhrase } from '../benchmark-phrases.ts'
import { synonymsOf } from '../lexicon.ts'
import { requestVerbs } from './action-words.ts'
import { calculator, converter, dates, documents, tables, textWork } from './functions.ts'
import { drawPlan, type Plan } from './plan.ts'
import { singleTools } from './single-tools.ts'
import { records } from './records.ts'
import { type Component, drawStyle, type ServerTool } from './server.ts'
import { isTableShape } from './shape.ts'
import { calendar, devices, lending, messages, poll, queue } from './activities.ts'
import { counters, graph, keyValue, lists } from './stores.ts'

/** What servers of training are made of. Records are the commonest, then tools of any verb. */
const components: readonly Component[] = [
  records,
  records,
  records,
  records,
  singleTools,
  singleTools,
  singleTools,
  singleTools,
  singleTools,
  keyValue,
  counters,
  lists,
  graph,
  devices,
  messages,
  calendar,
  queue,
  calculator,
  converter,
  textWork,
  dates,
  documents,
  tables,
]
/** Kinds of server that training never has. */
const unseenComponents: readonly Component[] = [poll, lending]

/** The tools of an invented server: three to twelve, unlike those of any server that models are judged on. */
export function inventServer(d: Draw, from: readonly Component[] = components): ServerTool[] {
  for (;;) {
    const style = drawStyle(d)
    const wanted = pick(d, [3, 3, 4, 4, 5, 5, 6, 7, 8, 10, 12])
    const tools: ServerTool[] = []
    for (let tries = 0; tools.length < wanted && tries < 6; tries += 1) tools.push(...pick(d, from)(style))
    const shown = tools.slice(0, wanted)
    if (shown.length >= 3 && !isTableShape(shown.map(({ spec }) => spec))) return shuffled(d, shown)
  }
}

/** Where the words of a request come from. */
interface RequestWords {
  /** Words that occur in no training conversation, wherever there are any. */
  unseen: boolean
}

/**
 * A conversation with a server that only its description explains: a system message in the form that the chat format writes,
 * a request as a person would word it, the calls, and the answer.
 */
export const describedServer = (d: Draw): ChatMessage[] => converse(d, components, { unseen: false })

/** As `describedServer`, with kinds of server that training does not have. */
export const unseenServer = (d: Draw): ChatMessage[] => converse(d, unseenComponents, { unseen: false })

/** As `describedServer`, with a request in verbs and nouns that training does not have. */
export const unseenWords = (d: Draw): ChatMessage[] => converse(d, components, { unseen: true })

function converse(d: Draw, from: readonly Component[], style: RequestWords): ChatMessage[] {
  for (;;) {
    const tools = inventServer(d, from)
    const plan = drawPlan(d, tools)
    const request = plan === undefined ? undefined : wordRequest(d, tools, plan, style)
    if (plan === undefined || request === undefined) continue
    const turns = plan.calls.flatMap(({ name, arguments: args, result }): ChatMessage[] => [
      { role: 'assistant', text: '', calls: [{ name, arguments: args }] },
      { role: 'tool', text: result },
    ])
    const messages: ChatMessage[] = [
      { role: 'system', text: describe(d, tools, plan) },
      { role: 'user', text: request },
      ...turns,
      { role: 'assistant', text: plan.answer },
    ]
    if (!isBenchmarkPhrase(request) && isReadable(messages)) return messages
  }
}

const preambles =
  '[You [help|work] with the tools above.|Use the tools when you need them.|Answer [briefly|in few words].|You are a helpful assistant.|Do what is asked, then say done.]'

/** The tools as the prompt of a chat format shows them, sometimes shortened as where they do not fit. */
function describe(d: Draw, tools: readonly ServerTool[], { calls }: Plan): string {
  const specs = tools.map(({ spec }) => spec)
  const full = toolSignatures(specs, () => true)
  const budget = chance(d, 0.3) ? full.length * (0.45 + 0.5 * d.random.next()) : Infinity
  const short = toolSignatures(specs, (text) => text.length <= budget)
  // What a call needs must be read somewhere.
  const text = calls.every((call) => isDescribed(short, call)) ? short : full
  return chance(d, 0.15) ? `${text}\n\n${say(d, preambles)}` : text
}

function isDescribed(text: string, { name, arguments: args }: Plan['calls'][number]): boolean {
  const line = text.split('\n').find((one) => one.startsWith(`${name}(`))
  return line !== undefined && keysOf(args).every((key) => new RegExp(`[ ({]${key}\\??[:,)}]`).test(line))
}

/** Whether every value of a call stands in a message before it, so that reading is enough to know it. */
function isReadable(messages: readonly ChatMessage[]): boolean {
  const known = new Set<string>()
  return messages.every(({ text, calls = [] }) => {
    const read = calls
      .flatMap((call) => leavesOf(call.arguments).flatMap(wordsOf))
      .every((part) => known.has(part))
    for (const part of wordsOf(text)) known.add(part)
    return read
  })
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []

const leavesOf = (value: unknown): string[] =>
  typeof value === 'string' || typeof value === 'number'
    ? [String(value)]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(leavesOf)
      : []

const keysOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap(keysOf)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)])
      : []

/** Words for words: a request says "mail address" where the tool says `email`. */
type Aliases = ReadonlyMap<string, string>

const fixed = new Set(
  'id name title label key number from to first second third start end left right source target by at text value query date day time content message body a b x y p q on table column'.split(
    ' ',
  ),
)

function drawAliases(d: Draw, tools: readonly ServerTool[], { unseen }: RequestWords): Aliases {
  const all = new Set(
    tools.flatMap(({ spec, noun }) => [
      noun,
      ...propertyNames(spec.inputSchema).map((key) => nameWords(key).join(' ')),
    ]),
  )
  const pool: WordPool = unseen ? 'probe' : d.pool
  const aliases = new Map<string, string>()
  for (const words of all) {
    if (fixed.has(words) || !(unseen || chance(d, 0.3))) continue
    const others = synonymsOf('noun', words, pool).filter(
      (other) => !all.has(other) && ![...aliases.values()].includes(other),
    )
    if (others.length > 0) aliases.set(words, pick(d, others))
  }
  return aliases
}

function propertyNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, items } = schema as Record<string, unknown>
  return [
    ...Object.entries(Object(properties) as Record<string, unknown>).flatMap(([key, inner]) => [
      key,
      ...propertyNames(inner),
    ]),
    ...propertyNames(items),
  ]
}

/** The request, realised from a copy of the tools in other words; undefined if no composition of training fits. */
function wordRequest(
  d: Draw,
  tools: readonly ServerTool[],
  plan: Plan,
  style: RequestWords,
): string | undefined {
  const aliases = drawAliases(d, tools, style)
  const speech = speechIn(d, tools, aliases, style)
  const rename = (key: string): string => {
    const alias = aliases.get(nameWords(key).join(' '))
    return alias === undefined ? key : alias.replaceAll(' ', '_')
  }
  const steps = plan.steps.map((step): RequestStep => ({
    ...step,
    arguments: renamedKeys(step.arguments, rename) as Record<string, unknown>,
    ...(step.references === undefined ? {} : { references: renamedTop(step.references, rename) }),
  }))
  const asked = plan.asked === undefined ? undefined : renamedAsked(plan.asked, aliases)
  return renderRequest(speech, steps, asked, 'train', d.random)
}

function speechIn(d: Draw, tools: readonly ServerTool[], aliases: Aliases, { unseen }: RequestWords): Speech {
  const rename = (key: string): string => aliases.get(nameWords(key).join(' '))?.replaceAll(' ', '_') ?? key
  const specs = tools.map(({ spec }): ToolSpec => ({
    ...spec,
    inputSchema: renamedSchema(spec.inputSchema, rename),
  }))
  const { specs: byName, words } = speechOf(specs)
  const spoken = new Map(
    tools.map(({ spec, action, object, noun, effect }) => {
      const known = words.get(spec.name)
      if (known === undefined) throw new Error(`no words for ${spec.name}`)
      const alias = aliases.get(noun)
      // "set the status of the bug", not "set the bug status".
      const usual = action === 'set' ? noun : object
      const objects = alias === undefined ? [usual] : [usual.replace(noun, alias), ...(unseen ? [] : [usual])]
      const verbs = shuffled(d, requestVerbs(action, unseen)).slice(0, 5)
      const { phrase: _, ...rest } = known
      return [
        spec.name,
        {
          ...rest,
          // The description's own phrase would tell the tool by its words.
          phrase: unseen || chance(d, 0.5) ? undefined : known.phrase,
          usualVerbs: verbs,
          rareVerbs: [],
          object: objects[0],
          usualObjects: objects,
          rareObjects: [],
          place: unseen ? undefined : known.place,
          asks: effect === 'reads',
        },
      ]
    }),
  )
  return { specs: byName, words: spoken }
}

const renamedTop = (
  record: Readonly<Record<string, string>>,
  rename: (key: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]))

function renamedKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamedKeys(item, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [rename(key), renamedKeys(inner, rename)]),
  )
}

function renamedSchema(
  schema: Record<string, unknown>,
  rename: (key: string) => string,
): Record<string, unknown> {
  const { properties, items } = schema
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Record<string, Record<string, unknown>>).map(([key, inner]) => [
              rename(key),
              renamedSchema(inner, rename),
            ]),
          ),
        }),
    ...(items === undefined ? {} : { items: renamedSchema(items as Record<string, unknown>, rename) }),
  }
}

function renamedAsked(asked: Asked, aliases: Aliases): Asked {
  const named = ['noun', 'of', 'by']
  return Object.fromEntries(
    Object.entries(asked).map(([key, value]: [string, unknown]) => [
      key,
      named.includes(key) ? (aliases.get(String(value)) ?? value) : value,
    ]),
  ) as Asked
}
