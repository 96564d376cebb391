import type { Random } from '../../../../engine/random/index.ts'
import { readPattern, type Work } from '../../../../untrusted/linear-pattern.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import type { PlainObject } from '../salient.ts'
import type { Hints } from './hints.ts'
import { textFromPattern } from './pattern-text.ts'
import { condition, sampleSql, verbsOf, type WantedStatement, wantedOf } from './sql.ts'
import { tableBeside, tablesIn } from './sql-tables.ts'
import { type Topic, topicOf, topicOfExample, topicOfFormat } from './topics.ts'
import { pageUrl } from './typed-text.ts'
import { day, fileText, likeMoment, type Maker, makers, noun, phrase } from './typed-values.ts'
import { spoken, type SplitWords } from './words.ts'

/** A text and the source that it came from, by which later draws learn what works. */
export interface SampledText {
  text: string
  source: string
}

export interface StringContext {
  words: SplitWords
  random: Random
  work: Work
  /** What the description or an error message said. Default: nothing. */
  hints?: Hints
  /** What the tool is about, in words. Default: ''. */
  about?: string
  /** Records that exist, for statements over known tables. Default: none. */
  records?: () => readonly PlainObject[]
  /** The other values of the same object, as far as they are made. Default: none. */
  beside?: Readonly<PlainObject>
  /** What a statement in a query language should do: only read, change something, or be this one. Default: any. */
  wants?: WantedStatement | undefined
  /** How much more often than by default a source is used. Default: 1 for all. */
  weight?: (source: string) => number
}

interface Source {
  source: string
  weight: number
  make: Maker
}

/** A source that is used where the better ones have failed. */
const lastResort = 0.02

/**
 * Makes a text that the schema accepts and that is natural for a property of this name: a value that the description
 * lists, a value of the topic (a date, a zone, a path, SQL over the known tables), an example, or an everyday word.
 *
 * @throws Error with the reason if no generator matches (a pattern, for example).
 * @throws WorkLimit if matching the pattern exceeds `work`.
 */
export function sampleString(name: string, schema: JsonSchema, context: StringContext): SampledText {
  const { words, random, work, hints = {}, weight = () => 1 } = context
  const shortest = Math.max(asCount(schema['minLength']) ?? 1, hints.shortest ?? 0)
  const longest = Math.min(asCount(schema['maxLength']) ?? Infinity, hints.longest ?? Infinity)
  const source = typeof schema['pattern'] === 'string' ? schema['pattern'] : undefined
  const pattern = source === undefined ? undefined : readPattern(source)
  if (pattern !== undefined && 'unusable' in pattern) throw new Error(pattern.unusable)
  const learnt = hints.pattern === undefined ? undefined : readPattern(hints.pattern)
  const accepts = (text: string): boolean =>
    text.length >= shortest &&
    text.length <= longest &&
    (pattern === undefined || pattern.test(text, work)) &&
    (learnt === undefined || 'unusable' in learnt || learnt.test(text, work))
  const fitted = (make: Maker): string => {
    let text = make(words, random)
    for (let more = 0; text.length < shortest && more < 20; more++) text += ` ${noun(words, random)}`
    return text.length > longest ? text.slice(0, longest) : text
  }
  const sources = sourcesOf(name, schema, context)
  // Last resorts are drawn only once all better sources have mostly failed.
  const hopeful = sources.some((item) => item.weight > lastResort && weight(item.source) >= 0.25)
  const usable = sources.map((item) => ({
    ...item,
    weight: hopeful && item.weight <= lastResort ? 0 : item.weight * weight(item.source),
  }))
  // A draw by weight first; then all sources in order, because a rare one may be the only one that fits.
  for (let attempt = 0; attempt < 4; attempt++) {
    const chosen = usable[random.weighted(usable.map((item) => item.weight))]
    const text = fitted(chosen.make)
    if (accepts(text)) return { text, source: chosen.source }
  }
  for (const shape of [source, hints.pattern].filter((given) => given !== undefined)) {
    for (let attempt = 0; attempt < 8; attempt++) {
      const text = textFromPattern(shape, random, work)
      if (text !== undefined && accepts(text)) return { text, source: 'pattern' }
    }
  }
  for (const { source: from, make } of usable) {
    for (let attempt = 0; attempt < 4; attempt++) {
      const text = fitted(make)
      if (accepts(text)) return { text, source: from }
    }
  }
  throw new Error(
    pattern === undefined
      ? `no text of ${shortest} to ${longest} characters can be made up`
      : `no text can be made up that matches ${String(schema['pattern'])}`,
  )
}

const asCount = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const momentNames =
  /^(?:date|datetime|day|time|timestamp|start|end|from|to|since|until|at|due|deadline|when)$/

function sourcesOf(name: string, schema: JsonSchema, context: StringContext): Source[] {
  const { hints = {}, about = '' } = context
  const description = `${typeof schema['description'] === 'string' ? schema['description'].slice(0, 2000) : ''} ${hints.said ?? ''}`
  const found: Source[] = []
  const add = (source: string, weight: number, make: Maker): void => {
    found.push({ source, weight, make })
  }
  const format = topicOfFormat(schema['format'])
  const values = (hints.values ?? []).map(String)
  if (values.length > 0 && format === undefined) add('value', 8, (_, random) => random.pick(values))
  const examples = (hints.examples ?? []).map(String).filter((example) => example.length <= 500)
  const shown = examples.map(topicOfExample).find((topic) => topic !== undefined)
  const named = topicOf(name, description, about)
  const moment = [hints.moment, ...examples, description].map(likeMoment).find((make) => make !== undefined)
  const timely = spoken(name).some((word) => momentNames.test(word)) || isMoment(named) || isMoment(shown)
  const shaped = moment !== undefined && timely && format === undefined
  if (shaped) add('moment', 12, moment)
  // What an example shows says more than a name; a name says more than an example without a form.
  const topic = format ?? (shown === 'path' && named === 'sql' ? named : (shown ?? named))
  if (topic !== undefined)
    for (const source of topicSources(topic, context, description))
      found.push({ ...source, weight: shaped ? lastResort : source.weight * 4 })
  if (examples.length > 0 && format === undefined)
    add('example', topic === undefined || topic === 'phrase' || topic === 'id' ? 8 : 0.4, (_, random) =>
      random.pick(examples),
    )
  if (format === undefined) {
    const plain =
      !shaped && topic === undefined && values.length === 0 && examples.length === 0 ? 1 : lastResort
    add('noun', plain, noun)
    add('phrase', lastResort, phrase)
  }
  add('day', lastResort, day)
  add('number', lastResort, makers.number)
  add('capitals', lastResort, (words, random) => noun(words, random).toUpperCase())
  add('underscored', lastResort, (words, random) => `${noun(words, random)}_${noun(words, random)}`)
  add('slash', lastResort, (words, random) => `/${noun(words, random)}`)
  add('uuid', lastResort / 4, makers.uuid)
  return found
}

const isMoment = (topic: Topic | undefined): boolean =>
  topic === 'date' || topic === 'time' || topic === 'date-time'

/** The ways to make a text of a topic, the usual one first. */
function topicSources(topic: Topic, context: StringContext, description: string): Source[] {
  const { hints = {}, about = '', records = () => [], beside = {} } = context
  const one = (make: Maker): Source[] => [{ source: topic, weight: 1, make }]
  switch (topic) {
    case 'sql': {
      const verbs = verbsOf(
        /\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\b/.test(description)
          ? description
          : `${about} ${description}`,
      )
      return one((words, random) =>
        sampleSql(wantedOf(verbs, context.wants), tablesIn(records()), words, random),
      )
    }
    case 'rows':
    case 'column': {
      const table = tableBeside(records(), beside)
      if (table === undefined) return []
      return topic === 'rows'
        ? one((words, random) => condition(table, words, random))
        : one((_, random) => random.pick(table.columns).name)
    }
    case 'table':
      return one((words, random) => {
        const tables = tablesIn(records())
        return tables.length > 0 && hints.existing !== false
          ? random.pick(tables).name
          : makers.table(words, random)
      })
    case 'url':
      return [
        ...one(makers.url),
        // Where no host can be reached. Below the weight of a last resort after it is multiplied.
        { source: 'page', weight: lastResort / 4, make: pageUrl },
        ...(/\bdata ur[il]/i.test(description)
          ? [
              {
                source: 'data URI',
                weight: 1,
                make: (words: SplitWords, random: Random) =>
                  `data:text/plain;base64,${makers.base64(words, random)}`,
              },
            ]
          : []),
      ]
    case 'selector': {
      // Snapshots of pages name their elements: [ref=e5].
      const refs = records().flatMap(({ ref }) => (typeof ref === 'string' ? [ref] : []))
      return [
        ...(refs.length > 0
          ? [{ source: 'ref', weight: 2, make: (_: SplitWords, random: Random) => random.pick(refs) }]
          : []),
        ...one(makers.selector),
      ]
    }
    case 'path':
      return one((words, random) => inFolder(hints.folder, makers.path(words, random)))
    case 'directory':
      return [
        {
          source: topic,
          weight: 1,
          make: (words, random) => inFolder(hints.folder, makers.directory(words, random)),
        },
        {
          source: 'here',
          weight: /\bcreate|\bnew\b|\bmake\b/i.test(about) ? 0.01 : 0.5,
          make: () => hints.folder ?? '.',
        },
      ]
    case 'time':
      // "time" alone may be a time of day or a point in time.
      return [
        { source: 'time', weight: 0.4, make: makers.time },
        {
          source: 'date and time',
          weight: 1,
          make: (words, random) => makers['date-time'](words, random).replace('T', ' ').replace('Z', ''),
        },
        { source: 'date-time', weight: 0.3, make: makers['date-time'] },
      ]
    case 'phrase': {
      const path = Object.values(beside).find(
        (value): value is string => typeof value === 'string' && /\.\w{2,4}$/.test(value),
      )
      return one(path === undefined ? phrase : (words, random) => fileText(path, words, random))
    }
    default:
      return one(makers[topic])
  }
}

function inFolder(folder: string | undefined, name: string): string {
  return folder === undefined ? name : `${folder.replace(/[/\\]$/, '')}/${name}`
}
