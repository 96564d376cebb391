import type { Random } from '../../random/index.ts'
import { readPattern } from '../../tool/linear-pattern.ts'
import type { Work } from '../../tool/linear-pattern.ts'
import type { JsonSchema } from '../../tool/types.ts'
import type { SplitWords } from './words.ts'
import { spoken } from './words.ts'

type Maker = (words: SplitWords, random: Random) => string

const noun: Maker = (words, random) => random.pick(words.nouns)
const phrase: Maker = (words, random) => `${random.pick(words.traits)} ${random.pick(words.nouns)}`
const day: Maker = (_, random) =>
  `20${20 + random.int(10)}-${String(1 + random.int(12)).padStart(2, '0')}-${String(1 + random.int(28)).padStart(2, '0')}`

/** What a text is about, told by the words of its property's name; the first that fits is used. */
const cues: readonly [RegExp, Maker][] = [
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
 * A text that the schema accepts, natural for a property of this name. Throws an Error with the reason where none
 * of the kinds we can make fits (a pattern, say), and WorkLimit where matching the pattern takes more than `work` allows.
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
  const makers: Maker[] = [
    ...(examples.length > 0 ? [() => random.pick(examples)] : []),
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
