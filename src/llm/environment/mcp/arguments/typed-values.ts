import type { Random } from '../../../../engine/random/index.ts'
import { code, expression, html, jsonText, regex } from './typed-text.ts'
import type { Topic } from './topics.ts'
import type { SplitWords } from './words.ts'

export type Maker = (words: SplitWords, random: Random) => string

const two = (value: number): string => String(value).padStart(2, '0')
const from =
  (list: string): Maker =>
  (_, random) =>
    random.pick(list.split(' '))

export const noun: Maker = (words, random) => random.pick(words.nouns)
export const phrase: Maker = (words, random) => `${random.pick(words.traits)} ${random.pick(words.nouns)}`
export const day: Maker = (_, random) =>
  `20${20 + random.int(10)}-${two(1 + random.int(12))}-${two(1 + random.int(28))}`
const clock: Maker = (_, random) => `${two(random.int(24))}:${two(random.int(12) * 5)}:00`
const hex = (count: number, random: Random): string =>
  Array.from({ length: count }, () => random.int(16).toString(16)).join('')

const extensions = ['txt', 'md', 'json', 'csv']

/** Contents of a file by its ending, so that a tool that parses the file can read it. */
export function fileText(path: string, words: SplitWords, random: Random): string {
  if (path.endsWith('.json')) return jsonText(words, random)
  if (path.endsWith('.csv')) return `name,count\n${noun(words, random)},${random.int(100)}`
  if (path.endsWith('.md')) return `# ${phrase(words, random)}`
  return phrase(words, random)
}

const units =
  'meter kilometer centimeter mile foot inch kilogram gram pound ounce liter gallon celsius fahrenheit kelvin second minute hour day'

/** Makers of a text by its topic. Names and words come from the split; codes and units are the same in all splits. */
export const makers: Readonly<Record<Exclude<Topic, 'sql' | 'rows' | 'column'>, Maker>> = {
  zone: (words, random) => random.pick(words.zones),
  url: (words, random) => `https://example.com/${noun(words, random)}`,
  email: (words, random) => `${random.pick(words.people).toLowerCase()}@example.com`,
  path: (words, random) => `${noun(words, random)}.${random.next() < 0.7 ? 'txt' : random.pick(extensions)}`,
  directory: noun,
  date: day,
  time: clock,
  'date-time': (words, random) => `${day(words, random)}T${clock(words, random)}Z`,
  duration: (_, random) =>
    random.pick([`PT${1 + random.int(12)}H`, `P${1 + random.int(28)}D`, `PT${5 * (1 + random.int(11))}M`]),
  city: (words, random) => random.pick(words.cities),
  country: from('DE FR GB US IT ES JP CN IN BR CA AU AT CH SE NO PL NL BE PT'),
  language: from('en de fr es it pt nl sv pl ja zh ko'),
  currency: from('USD EUR GBP JPY CHF CAD AUD SEK NOK DKK PLN CZK INR CNY BRL ZAR'),
  unit: from(units),
  colour: (_, random) => `#${hex(6, random)}`,
  expression,
  regex,
  glob: (words, random) => random.pick(['*.txt', '**/*.txt', '*.md', `${noun(words, random)}*`]),
  code,
  json: jsonText,
  table: (words, random) => `${noun(words, random)}s`,
  phone: (_, random) => `+1-555-01${two(random.int(100))}`,
  person: (words, random) => random.pick(words.people),
  id: (words, random) => `${noun(words, random)}-${10 + random.int(90)}`,
  uuid: (_, random) =>
    `${hex(8, random)}-${hex(4, random)}-4${hex(3, random)}-8${hex(3, random)}-${hex(12, random)}`,
  host: (words, random) => `${noun(words, random)}.example.com`,
  version: (_, random) => `${random.int(5)}.${random.int(20)}.${random.int(10)}`,
  mime: from('text/plain text/html application/json image/png text/csv'),
  selector: from('body h1 p a button input select'),
  html,
  markdown: (words, random) =>
    `# ${phrase(words, random)}\n\n- ${noun(words, random)}\n- ${noun(words, random)}`,
  cron: (_, random) => `${random.int(60)} ${random.int(24)} * * ${random.int(7)}`,
  base64: (words, random) => Buffer.from(phrase(words, random)).toString('base64'),
  hex: (_, random) => hex(8, random),
  phrase,
  sort: (words, random) => random.pick(words.sorts),
  sentence: (words, random) => `the ${phrase(words, random)} is near the ${noun(words, random)}`,
  number: (_, random) => String(random.int(100)),
}

/**
 * A date, a time of day or both in a text, as letters (`YYYY-MM-DD HH:mm:ss`) or as an example (`2025-03-23`). Other
 * orders of a date have letters or slashes: `DD/MM/YYYY`, `12/31/2024`.
 */
const moment =
  /(?:YYYY|[12]\d{3})[-/](?:MM|\d\d)(?:[-/](?:DD|\d\d))?(?:[T ](?:HH|\d\d):(?:MM|\d\d)(?::(?:SS|\d\d)(?:\.(?:SSS|\d{3}))?)?Z?)?|(?:DD|MM|\d\d)([/.-])(?:DD|MM|\d\d)\1(?:YYYY|[12]\d{3})|\b(?:HH|\d\d):(?:MM|\d\d)(?::(?:SS|\d\d))?(?:\s?[AP]M)?\b/i

/** Makes dates and times in the format that a text shows; undefined if it shows none. */
export function likeMoment(text: unknown): Maker | undefined {
  const [shape] = typeof text === 'string' ? (moment.exec(text) ?? []) : []
  if (shape === undefined) return undefined
  return (words, random) => {
    const [year, month, date] = day(words, random).split('-')
    // An example may show which of the two is the day: 31 can be no month.
    const order = /^(DD|\d\d)([/.-])(DD|MM|\d\d)\2/i.exec(shape)
    if (order !== null) {
      const dayFirst = order[1].toUpperCase() === 'DD' || Number(order[1]) > 12 || order[2] === '.'
      return [...(dayFirst ? [date, month] : [month, date]), year].join(order[2])
    }
    const [, dated = '', clockPart] =
      /^((?:YYYY|\d{4})[-/](?:MM|\d\d)(?:[-/](?:DD|\d\d))?)?(.*)$/is.exec(shape) ?? []
    const separator = dated.includes('/') ? '/' : '-'
    const made =
      dated === '' ? '' : [year, month, date].slice(0, dated.split(separator).length).join(separator)
    return `${made}${clockLike(clockPart ?? '', random)}`
  }
}

/** The first pair is the hour, followed by minutes and seconds. Fractions of a second are zero. */
function clockLike(shape: string, random: Random): string {
  if (shape === '') return ''
  const noon = /\s?[AP]M$/i.exec(shape)?.[0]
  const [plain, fraction = ''] = shape
    .replace(/\s?[AP]M$/i, '')
    .replace(/Z$/i, '')
    .split('.')
  const pairs = plain.match(/[A-Z\d]{2}/gi) ?? []
  const made = pairs.map((_, index) =>
    two(index > 0 ? random.int(60) : noon === undefined ? random.int(24) : 1 + random.int(12)),
  )
  const start = /^[T ]/i.test(shape) ? shape[0] : ''
  const half = noon === undefined ? '' : noon.replace(/[AP]M/i, random.next() < 0.5 ? 'AM' : 'PM')
  return `${start}${made.join(':')}${fraction === '' ? '' : '.000'}${/Z$/i.test(shape) ? 'Z' : ''}${half}`
}
