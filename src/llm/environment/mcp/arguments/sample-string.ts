import type { Random } from '../../../../engine/random/index.ts'
import { readPattern, type Work } from '../../../../untrusted/linear-pattern.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { spoken, type SplitWords } from './words.ts'

type Maker = (words: SplitWords, random: Random) => string

const noun: Maker = (words, random) => random.pick(words.nouns)
const phrase: Maker = (words, random) => `${random.pick(words.traits)} ${random.pick(words.nouns)}`
const day: Maker = (_, random) =>
  `20${20 + random.int(10)}-${String(1 + random.int(12)).padStart(2, '0')}-${String(1 + random.int(28)).padStart(2, '0')}`

/** A date, a time of day or both in a description, as letters (`YYYY-MM-DD HH:mm:ss`) or an example (`2025-03-23`). */
const moment =
  /(?:YYYY|20\d\d)-(?:MM|\d\d)-(?:DD|\d\d)(?:[T ](?:HH|\d\d):(?:MM|\d\d)(?::(?:SS|\d\d)(?:\.(?:SSS|\d{3}))?)?Z?)?|\b(?:HH|\d\d):(?:MM|\d\d)(?::(?:SS|\d\d))?\b/i

/** Makes dates and times in the format that a description shows; undefined if it shows none. */
function likeMoment(description: unknown): Maker | undefined {
  const [shape] = typeof description === 'string' ? (moment.exec(description) ?? []) : []
  if (shape === undefined) return undefined
  const two = (below: number, random: Random): string => String(random.int(below)).padStart(2, '0')
  return (words, random) => {
    const [date, time] = /^[\dY]{4}-/i.test(shape) ? [shape.slice(0, 10), shape.slice(10)] : ['', shape]
    // The first pair after the date or its separator is the hour, followed by minutes and seconds. Fractions of a
    // second are zero.
    const [clock, fraction = ''] = time.replace('Z', '').split('.')
    const pairs = clock.match(/[A-Z\d]{2}/gi) ?? []
    const made = pairs.map((_, index) => two(index === 0 ? 24 : 60, random)).join(':')
    const separator = /^[T ]/i.test(time) ? time[0] : ''
    const end = `${fraction === '' ? '' : '.000'}${time.endsWith('Z') ? 'Z' : ''}`
    return `${date === '' ? '' : day(words, random)}${separator}${made}${end}`
  }
}

/** Topics of texts, recognised by words in the property's name. The first match is used. */
const cues: readonly [RegExp, Maker][] = [
  [/^(timezone|timezones|tz|zone)$/, (words, random) => random.pick(words.zones)],
  [/^(url|uri|link|website|href)$/, (words, random) => `https://example.com/${noun(words, random)}`],
  [/^(email|mail)$/, (words, random) => `${noun(words, random)}@example.com`],
  [/^(path|file|filename|filepath|source|destination)$/, (words, random) => `${noun(words, random)}.txt`],
  [/^(dir|directory|folder)$/, noun],
  [/^(date|day|since|until|before|after)$/, day],
  [/^(city|location|place|town)$/, (words, random) => random.pick(words.cities)],
  [
    /^(content|contents|text|message|body|description|observation|observations|note|comment|summary|title|topic|value|data|prompt)$/,
    phrase,
  ],
  [
    /^(id|identifier|uuid|code|slug|key)$/,
    (words, random) => `${noun(words, random)}-${10 + random.int(90)}`,
  ],
]

const formats: Readonly<Record<string, Maker>> = {
  uri: (words, random) => `https://example.com/${noun(words, random)}`,
  email: (words, random) => `${noun(words, random)}@example.com`,
  date: day,
  'date-time': (words, random) => `${day(words, random)}T0${random.int(10)}:00:00Z`,
  time: (_, random) => `0${random.int(10)}:00:00`,
  uuid: (_, random) => '00000000-0000-4000-8000-000000000000'.replace(/0/g, () => random.int(10).toString()),
}

/**
 * Makes a text that the schema accepts and that is natural for a property of this name.
 *
 * @throws Error with the reason if no generator matches (a pattern, for example).
 * @throws WorkLimit if matching the pattern exceeds `work`.
 */
export function sampleString(
  name: string,
  schema: JsonSchema,
  words: SplitWords,
  random: Random,
  work: Work,
): string {
  const examples = Array.isArray(schema['examples'])
    ? schema['examples'].filter((example): example is string => typeof example === 'string')
    : []
  const last = spoken(name)
  const cue = cues.find(([pattern]) => last.toReversed().some((word) => pattern.test(word)))?.[1] ?? noun
  const format = typeof schema['format'] === 'string' ? formats[schema['format']] : undefined
  const isMoment = last.some((word) =>
    /^(date|datetime|day|time|timestamp|start|end|from|to|since|until)$/.test(word),
  )
  const shaped = isMoment ? likeMoment(schema['description']) : undefined
  const makers: Maker[] = [
    ...(examples.length > 0 ? [() => random.pick(examples)] : []),
    ...(shaped === undefined ? [] : [shaped]),
    ...(format === undefined ? [cue, noun, phrase] : [format]),
    day,
    () => String(random.int(100)),
    (w, r) => noun(w, r).toUpperCase(),
    (w, r) => `${noun(w, r)}_${noun(w, r)}`,
    (w, r) => `/${noun(w, r)}`,
  ]
  const shortest = typeof schema['minLength'] === 'number' ? schema['minLength'] : 1
  const longest = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : Infinity
  const pattern = typeof schema['pattern'] === 'string' ? readPattern(schema['pattern']) : undefined
  if (pattern !== undefined && 'unusable' in pattern) throw new Error(pattern.unusable)
  for (const make of makers) {
    for (let attempt = 0; attempt < 4; attempt++) {
      let text = make(words, random)
      for (let more = 0; text.length < shortest && more < 20; more++) text += ` ${noun(words, random)}`
      if (text.length > longest) text = text.slice(0, longest)
      if (text.length >= shortest && (pattern === undefined || pattern.test(text, work))) return text
    }
  }
  throw new Error(
    pattern === undefined
      ? `no text of ${shortest} to ${longest} characters can be made up`
      : `no text can be made up that matches ${String(schema['pattern'])}`,
  )
}
