import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { resolveSchema } from '../arguments/schema-parts.ts'
import { isPlainObject } from '../salient.ts'
import { inNumber, listed, singular, withArticle } from './inflect.ts'
import { verbs } from './lexicon.ts'
import { nameWords } from './name-words.ts'

/** How a request words what it says about things. Drawn once a request; part of its template. */
export interface Style {
  /** Free text of several words stands in quotes. */
  quotes: boolean
  /** "with the email x", "whose email is x", "(email x)", "email: x". */
  detail: 'with' | 'whose' | 'plain' | 'as' | 'colon'
  naming: 'called' | 'named' | 'plain'
  /** "the contact c1", or "the contact with the id c1". */
  bare: boolean
  /** Details that follow come in reverse order. */
  reversed: boolean
}

/** What a call does to the state. It decides articles and prepositions. */
export type Effect = 'adds' | 'removes' | 'changes' | 'reads'

/** A thing as a request names it. */
export interface Thing {
  /** Singular, without article: "entity". Empty if the tool has no noun for it. */
  noun: string
  /** What follows the noun directly: `copper`, `called copper`, `"tall lake"`. */
  name: string
  /** Replaces article, noun and name: "the contact whose email is x". */
  reference?: string
  /** "of type tall lake", "from A to B", "with the observation x". */
  details: string[]
  /** Values without a name of their own, as the numbers of a sum. */
  values: string[]
  many: boolean
}

/** Words that stand for the value of an argument which the request does not state, such as "the result". */
export type Replaced = Readonly<Record<string, string>>

interface Place {
  noun: string
  effect: Effect
  style: Style
  root: JsonSchema
  /** Words by the name of a top-level argument. */
  replaced: Replaced
  /** Words by which the reference to something looked up replaces the thing itself. */
  references: Replaced
  verb: string
  /** The call gives a value or a text. It is no record, so the arguments are no properties of it. */
  givesValue?: boolean
}

const naming = new Set(['name', 'title', 'label', 'heading'])
const identifying = new Set([
  'id',
  'uuid',
  'key',
  'slug',
  'identifier',
  'code',
  'number',
  'path',
  'index',
  'symbol',
  'handle',
])
const contents = new Set(
  'content contents text message body data value note thought prompt input question sentence comment expression sql code markdown'.split(
    ' ',
  ),
)
const queries = new Set('query search term keyword keywords pattern q phrase'.split(' '))
const prepositions = new Set(
  'from to in into at by on for with since until before after between about within under over via near'.split(
    ' ',
  ),
)
const sources = new Set(['source', 'from', 'origin', 'start', 'old'])
const targets = new Set(['target', 'destination', 'output', 'to', 'end'])
const hollow = new Set(
  'deletion addition update change item record entry data list element object batch operation input value argument param parameter option'.split(
    ' ',
  ),
)

/** The things that the arguments of a call are about. */
export function describeArguments(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  place: Place,
): Thing[] {
  const properties = propertiesOf(schema, place.root)
  const nested = Object.entries(args).find(
    ([, value]) => Array.isArray(value) && value.length > 0 && value.every(isPlainObject),
  )
  if (nested !== undefined) {
    const [key, records] = nested as [string, Record<string, unknown>[]]
    const own = inNumber(nameWords(key).join(' '), false)
    const noun = hollow.has(own.split(' ').at(-1) ?? '') && place.noun !== '' ? place.noun : own
    const items = itemsOf(properties[key], place.root)
    const { [key]: _, ...rest } = args
    const things = records.map((record) =>
      describeRecord(record, items, { ...place, noun, replaced: {}, references: {} }),
    )
    const others = describeRecord(rest, schema, place)
    const last = things[things.length - 1]
    last.details.push(...others.details, ...(others.name === '' ? [] : [`for ${others.noun} ${others.name}`]))
    return things
  }
  const [single] = Object.entries(args)
  if (Object.keys(args).length === 1 && isPlainObject(single[1]) && Object.keys(single[1]).length > 0) {
    const noun = inNumber(nameWords(single[0]).join(' '), false)
    const inner = hollow.has(noun) && place.noun !== '' ? place.noun : noun
    return [
      describeRecord(single[1], properties[single[0]] ?? {}, {
        ...place,
        noun: inner,
        replaced: {},
        references: {},
      }),
    ]
  }
  return [describeRecord(args, schema, place)]
}

function describeRecord(record: Readonly<Record<string, unknown>>, schema: JsonSchema, place: Place): Thing {
  const { noun, effect, givesValue = false } = place
  const thing: Thing = { noun, name: '', details: [], values: [], many: false }
  const properties = propertiesOf(schema, place.root)
  const entries = Object.entries(record)
  const style = { ...place.style, detail: detailOf(place.style, entries.length, effect, givesValue) }
  const anonymous = entries.filter(
    ([key, value]) => typeof value === 'number' && isAnonymous(key, properties[key]),
  )
  const fronts: string[] = []
  const backs: string[] = []
  const head = singular(noun.split(' ').at(-1) ?? '')
  const only = entries.length === 1
  // The first property that names the thing does so; further ones are details.
  const keyOf = namingKey(
    entries.map(([key]) => key),
    noun,
  )
  for (const [key, value] of entries) {
    const property = properties[key] ?? {}
    const reference = place.references[key]
    const replaced = place.replaced[key]
    const said = replaced ?? valueWords(value, property, place)
    if (anonymous.some(([name]) => name === key)) {
      thing.values.push(said)
      continue
    }
    const all = nameWords(key)
    const words = all.map((word, index) => (index === all.length - 1 ? singular(word) : word))
    const own = dropNoun(words, head)
    const last = words[words.length - 1]
    // "the expire seconds 60": a number counts what its name says in the plural.
    const many = Array.isArray(value)
      ? value.length > 1
      : typeof value === 'number' && value !== 1 && last !== all.at(-1)
    if (reference !== undefined) {
      if (key === keyOf || noun === '' || thing.name === '') thing.reference = reference
      else backs.push(`${prepositionOf(effect, place.verb)} ${reference}`)
    } else if (key === keyOf && givesValue && own.length === 0 && noun !== head) {
      // The time is none of the relative times: it has one.
      fronts.push(`of ${said}`)
    } else if (key === keyOf) {
      thing.many = many
      if (own.length === 0 || own.join(' ') === noun) thing.name = said
      else if (naming.has(last) && style.naming !== 'plain' && !many && effect === 'adds')
        thing.name = `${style.naming} ${said}`
      else if (style.bare || naming.has(last) || many) thing.name = said
      else thing.name = `with the ${own.join(' ')} ${said}`
    } else if (words.length === 1 && contents.has(last) && thing.name === '' && (only || head !== '')) {
      thing.name = said
      thing.many = many && !['content', 'text'].includes(head)
    } else if (words.length === 1 && queries.has(last)) {
      fronts.push(`for ${said}`)
    } else if (words.length === 1 && prepositions.has(last)) {
      fronts.push(`${last} ${said}`)
    } else if (words.length > 1 && (sources.has(words[0]) || targets.has(words[0])) && !naming.has(last)) {
      fronts.push(`${sources.has(words[0]) ? 'from' : 'to'} the ${words.slice(1).join(' ')} ${said}`)
    } else if (words.length === 1 && (last === 'source' || last === 'destination' || last === 'target')) {
      fronts.push(`${last === 'source' ? 'from' : 'to'} ${said}`)
    } else if (own.length === 1 && (own[0] === 'type' || own[0] === 'kind') && style.detail !== 'colon') {
      fronts.push(`of ${style.detail === 'with' ? 'the ' : ''}${own[0]} ${said}`)
    } else if (words.length > 1 && words[0] === 'exclude' && typeof value !== 'boolean') {
      fronts.push(`excluding ${said}`)
    } else if (typeof value === 'boolean' && replaced === undefined) {
      backs.push(flagWords(words, value))
    } else if (
      words.length > 1 &&
      (last === 'name' || last === 'id') &&
      own.length === words.length &&
      head !== '' &&
      !['new', 'old', 'first', 'last', 'user', 'file', 'full', 'display'].includes(words[0])
    ) {
      fronts.push(
        `${prepositionOf(effect, place.verb)} the ${inNumber(words.slice(0, -1).join(' '), many)} ${said}`,
      )
    } else {
      const about = effect === 'reads' && typeof value === 'string'
      backs.push(detailWords(own.length === 0 ? words : own, said, many, style, about ? 'for' : 'with'))
    }
  }
  if (style.reversed) backs.reverse()
  thing.details = [...fronts, ...joinDetails(backs, style)]
  return thing
}

/** How details are said where the drawn way does not fit: one is no list, a value has no properties, and what shall change has none yet. */
function detailOf({ detail }: Style, entries: number, effect: Effect, givesValue: boolean): Style['detail'] {
  if (givesValue || (effect === 'changes' && detail === 'whose')) return 'with'
  return detail === 'colon' && entries < 3 ? 'plain' : detail
}

/** `a`, `b`, `x1`: letters and numbered words mean nothing to a reader. */
function isAnonymous(key: string, property: JsonSchema | undefined): boolean {
  if (/^[a-z]\d?$/i.test(key)) return true
  return (
    /^(?:num|number|value|n|arg|operand|addend)_?\d$/i.test(key) ||
    /^(?:first|second|third)_?(?:number|num|value|operand)$/i.test(key) ||
    (/^(?:value|number)$/.test(key) && property !== undefined && property['type'] !== 'string')
  )
}

/** The property by which a thing of this noun is named: a name or an id of its own. */
function namingKey(keys: readonly string[], noun: string): string | undefined {
  const head = singular(noun.split(' ').at(-1) ?? '')
  const rank = (key: string): number => {
    const words = nameWords(key).map(singular)
    const own = dropNoun(words, head)
    if (own.length === 0 || words.join(' ') === noun) return 3
    if (own.length === 1 && naming.has(own[0])) return 2
    if (own.length === 1 && identifying.has(own[0])) return 1
    return 0
  }
  const best = Math.max(0, ...keys.map(rank))
  const [first] = keys
  if (best > 0) return keys.find((key) => rank(key) === best)
  // The only argument of a tool that says no noun, or whose argument names another thing: "weather of a city".
  const words = keys.length === 1 ? nameWords(first).map(singular) : []
  const last = words.at(-1) ?? ''
  return keys.length === 1 && words.length > 1 && (naming.has(last) || identifying.has(last)) && noun === ''
    ? first
    : undefined
}

/** The words of a property without those of the thing that it is of: the type of an entity is its "entity type". */
function dropNoun(words: readonly string[], head: string): string[] {
  return words.length > 0 && words[0] === head ? words.slice(1) : [...words]
}

function prepositionOf(effect: Effect, verb: string): string {
  if (effect === 'removes') return 'from'
  if (effect === 'adds') return /^(?:add|append|attach|assign|insert|put|push)$/.test(verb) ? 'to' : 'for'
  return effect === 'changes' ? 'of' : 'of'
}

function flagWords(words: readonly string[], value: boolean): string {
  const [first] = words
  const rest = words.slice(1).join(' ')
  if (
    ['include', 'show', 'use', 'allow', 'keep', 'skip', 'return', 'add', 'with'].includes(first) &&
    rest !== ''
  )
    return value ? `with the ${rest}` : `without the ${rest}`
  if (['is', 'are', 'be'].includes(first) && rest !== '') return `that is ${value ? '' : 'not '}${rest}`
  if (['has', 'have'].includes(first) && rest !== '')
    return `${value ? 'with' : 'without'} ${withArticle(rest)}`
  if (verbs.has(first) && rest !== '') return `and ${value ? '' : 'do not '}${words.join(' ')}`
  if (words.length === 1 && /(?:ed|ive|able|done|open|public|private|active|urgent|ful|ous)$/.test(first))
    return `that is ${value ? '' : 'not '}${first}`
  return `with ${words.join(' ')} ${value ? 'on' : 'off'}`
}

function detailWords(
  words: readonly string[],
  said: string,
  many: boolean,
  { detail }: Style,
  by: string,
): string {
  const noun = inNumber(words.join(' '), many)
  switch (detail) {
    case 'with':
      return `${by} the ${noun} ${said}`
    case 'whose':
      return `whose ${noun} ${many ? 'are' : 'is'} ${said}`
    case 'plain':
      return `${by} ${noun} ${said}`
    case 'as':
      return `with ${said} as the ${noun}`
    case 'colon':
      return `${noun}: ${said}`
  }
}

/** "with the email x and the phone y", "whose email is x and whose phone is y". */
function joinDetails(details: readonly string[], { detail }: Style): string[] {
  if (details.length < 2)
    return details.length === 1 && detail === 'colon' ? [bracketed(details)] : [...details]
  if (detail === 'colon') return [bracketed(details)]
  const starts = detail === 'whose' ? ['whose '] : ['for ', 'with ']
  const groups = starts.map((start) => details.filter((item) => item.startsWith(start)))
  const others = details.filter((item) => !starts.some((start) => item.startsWith(start)))
  const lists = groups.map((same, at) =>
    detail === 'whose'
      ? same
      : same.map((item, index) => (index === 0 ? item : item.slice(starts[at].length))),
  )
  return [...lists.filter((list) => list.length > 0).map((list) => listed(list)), ...others]
}

function bracketed(details: readonly string[]): string {
  return `(${details.join(', ')})`
}

/** A value as a request states it: exact, but choices of the schema in spoken words. */
function valueWords(value: unknown, given: JsonSchema, place: Place): string {
  const schema = safely(given, place.root)
  if (Array.isArray(value)) {
    const items = itemsOf(schema, place.root)
    const quoted = value.some((item) => /\s/.test(String(item)))
    const words = value.map((item) => valueWords(item, items, place))
    return listed(
      words.map((word, at) =>
        quoted && place.style.quotes && word === value[at] && !/["\n]/.test(word) ? `"${word}"` : word,
      ),
    )
  }
  if (isPlainObject(value)) {
    return listed(
      Object.entries(value).map(
        ([key, item]) => `${nameWords(key).join(' ')} ${valueWords(item, {}, place)}`,
      ),
    )
  }
  const text = String(value)
  if ('enum' in schema || 'const' in schema) return choiceWords(text)
  // A dot would end the sentence.
  if (/^[.,:;!?]+$/.test(text)) return `"${text}"`
  return place.style.quotes && typeof value === 'string' && /\s/.test(text) && !/["\n]/.test(text)
    ? `"${text}"`
    : text
}

/** `in_progress` and `IN_PROGRESS` as people say it. Other choices stay as they are. */
export function choiceWords(text: string): string {
  if (/^[a-z0-9]+(?:[_-][a-z0-9]+)+$/i.test(text) && /[_]|^[a-z-]+$/.test(text))
    return text.replace(/[_-]/g, ' ').toLowerCase()
  return /^[a-z]+(?:[A-Z][a-z0-9]*)+$/.test(text) ? nameWords(text).join(' ') : text
}

function propertiesOf(schema: JsonSchema, root: JsonSchema): Record<string, JsonSchema> {
  const { properties } = safely(schema, root)
  return isPlainObject(properties) ? (properties as Record<string, JsonSchema>) : {}
}

function itemsOf(schema: JsonSchema | undefined, root: JsonSchema): JsonSchema {
  const { items } = safely(schema ?? {}, root)
  return isPlainObject(items) ? items : {}
}

/** The resolved schema. A part that cannot be resolved has no say in wording. */
function safely(schema: JsonSchema, root: JsonSchema): JsonSchema {
  try {
    return resolveSchema(schema, root)
  } catch {
    return {}
  }
}
