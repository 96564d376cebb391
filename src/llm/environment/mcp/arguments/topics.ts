import { statementStart } from './sql.ts'
import { spoken } from './words.ts'

/** What a text is about, which decides how one is made up. */
export type Topic =
  | 'zone'
  | 'url'
  | 'email'
  | 'path'
  | 'directory'
  | 'date'
  | 'time'
  | 'date-time'
  | 'duration'
  | 'city'
  | 'country'
  | 'language'
  | 'currency'
  | 'unit'
  | 'colour'
  | 'expression'
  | 'regex'
  | 'glob'
  | 'code'
  | 'json'
  | 'sql'
  | 'rows'
  | 'column'
  | 'table'
  | 'phone'
  | 'person'
  | 'id'
  | 'uuid'
  | 'host'
  | 'version'
  | 'mime'
  | 'selector'
  | 'html'
  | 'markdown'
  | 'cron'
  | 'base64'
  | 'hex'
  | 'phrase'
  | 'sort'
  | 'sentence'
  | 'number'

/** Topics recognised by a word in the property's name, the last word first. */
const names: readonly [RegExp, Topic][] = [
  [/^(?:timezone|timezones|tz|zone)$/, 'zone'],
  [/^(?:url|uri|link|website|href|homepage)$/, 'url'],
  [/^(?:email|mail|recipient)$/, 'email'],
  [/^(?:glob|globs)$/, 'glob'],
  [/^(?:regex|regexp)$/, 'regex'],
  [/^(?:dir|directory|directories|folder|cwd)$/, 'directory'],
  [/^(?:path|paths|file|files|filename|filepath|source|destination)$/, 'path'],
  [/^(?:datetime|timestamp)$/, 'date-time'],
  [/^(?:date|day|since|until|before|after|deadline|due|birthday)$/, 'date'],
  [/^(?:duration)$/, 'duration'],
  [/^(?:city|location|place|town)$/, 'city'],
  [/^(?:country|nation)$/, 'country'],
  [/^(?:currency|currencies)$/, 'currency'],
  [/^(?:unit|units)$/, 'unit'],
  [/^(?:colour|color|colours|colors)$/, 'colour'],
  [/^(?:expression|formula|equation)$/, 'expression'],
  [/^(?:sql)$/, 'sql'],
  [/^(?:json)$/, 'json'],
  [/^(?:html)$/, 'html'],
  [/^(?:markdown|md)$/, 'markdown'],
  [/^(?:cron)$/, 'cron'],
  [/^(?:selector|xpath|css)$/, 'selector'],
  [/^(?:phone|telephone|mobile)$/, 'phone'],
  [/^(?:host|hostname|domain|ip)$/, 'host'],
  [/^(?:version|semver)$/, 'version'],
  [/^(?:mimetype|mime)$/, 'mime'],
  [/^(?:snippet|script|javascript|typescript)$/, 'code'],
  [/^(?:author|assignee|owner|person|username|customer|contact|attendee|firstname)$/, 'person'],
  [/^(?:language|lang|locale)$/, 'language'],
  [/^(?:table|tables)$/, 'table'],
  [/^(?:type|kind|category|genre)$/, 'sort'],
  [/^(?:uuid|guid)$/, 'uuid'],
  [/^(?:base64)$/, 'base64'],
  [
    /^(?:content|contents|text|message|body|description|observation|observations|note|comment|summary|title|topic|value|data|prompt|thought|task|reason)$/,
    'phrase',
  ],
  [/^(?:id|identifier|code|slug|key)$/, 'id'],
  [/^(?:time)$/, 'time'],
]

/** Topics recognised by what a description says. The first match is used, so the more special ones stand first. */
const sayings: readonly [RegExp, Topic][] = [
  [/\bISO[ -]?4217\b|\bcurrency code\b/i, 'currency'],
  [/\bISO[ -]?3166\b|\bcountry code\b/i, 'country'],
  [/\bISO[ -]?639\b|\blanguage code\b|\bBCP[ -]?47\b/i, 'language'],
  [/\bIANA\b|\btime ?zone\b/i, 'zone'],
  [/\bcron\b/i, 'cron'],
  [/\bISO[ -]?8601 duration\b/i, 'duration'],
  [/\b(?:ISO[ -]?8601|RFC[ -]?3339|date[- ]?time|date and time)\b/i, 'date-time'],
  [/\bWHERE\b(?! keyword)/, 'rows'],
  [/\b(?:RETURNING|ORDER BY|GROUP BY)\b/, 'column'],
  [/\bSQL\b|\bSELECT\b.*\bquery\b/, 'sql'],
  [/\bregular expressions?\b|\bregex(?:p|es)?\b/i, 'regex'],
  [/\bglob\b/i, 'glob'],
  [/\bCSS selector\b|\bXPath\b|\belement (?:selector|reference)\b/i, 'selector'],
  [/\b(?:mathematical|math|arithmetic) (?:expression|formula)\b|\bexpression to evaluate\b/i, 'expression'],
  [
    /\b(?:JavaScript|TypeScript|Python) (?:code|source|snippet)\b|\b(?:source code|code) to\b|\bcode snippet\b/i,
    'code',
  ],
  [/\bJSON (?:string|text|document|data|object)\b|\bvalid JSON\b/i, 'json'],
  [/\bHTML\b/, 'html'],
  [/\bmarkdown\b/i, 'markdown'],
  [/\bhex(?:adecimal)? colou?r|\bcolou?r\b/i, 'colour'],
  [/\bUUID\b|\bGUID\b/i, 'uuid'],
  [/\bbase64\b/i, 'base64'],
  [/\be-?mail address\b/i, 'email'],
  [/\bURLs?\b|\bweb address\b/, 'url'],
  [/\b(?:host ?name|IP address|domain name)\b/i, 'host'],
  [/\bphone number\b/i, 'phone'],
  [/\bMIME type\b/i, 'mime'],
  [/\b(?:directory|folder)(?: path)?\b(?!.*\bfile\b)/i, 'directory'],
  [/\bfile ?(?:path|name)s?\b|\bpath (?:to|of) (?:the|a) file\b/i, 'path'],
  [/\b(?:unit of measure|from unit|target unit|unit to)\b/i, 'unit'],
  [/\btable name\b|\bname of (?:the|a) table\b/i, 'table'],
  [/\bcity\b/i, 'city'],
]

const formats: Readonly<Record<string, Topic>> = {
  uri: 'url',
  url: 'url',
  'uri-reference': 'url',
  iri: 'url',
  email: 'email',
  date: 'date',
  'date-time': 'date-time',
  time: 'time',
  duration: 'duration',
  uuid: 'uuid',
  hostname: 'host',
  ipv4: 'host',
  regex: 'regex',
  color: 'colour',
}

/** Topics recognised by an example of the value. */
const shapes: readonly [RegExp, Topic][] = [
  [
    /^(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)\/[A-Z]\w+(?:\/\w+)?$/,
    'zone',
  ],
  [/^https?:\/\/\S+$/, 'url'],
  [/^[\w.+-]+@[\w-]+\.[\w.]+$/, 'email'],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d/, 'date-time'],
  [/^\d{4}-\d\d-\d\d$/, 'date'],
  [/^\d\d:\d\d(?::\d\d)?$/, 'time'],
  [/^P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?$/, 'duration'],
  [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, 'uuid'],
  [/^#[0-9a-f]{3,8}$/i, 'colour'],
  [/^\d+\.\d+\.\d+$/, 'version'],
  [/^\*\*?\/|^\*\.\w+$/, 'glob'],
  [statementStart, 'sql'],
  [/^(?:USD|EUR|GBP|JPY|CHF|INR|CNY)$/, 'currency'],
  [/^[\d(][\d\s+*/^().-]*[+*/^-][\d\s+*/^().-]*$/, 'expression'],
  [/^(?:\/|\.{1,2}\/|[\w-]+\/)*[\w-]+\.[a-z]{1,4}$/, 'path'],
  [/^\{.*\}$/s, 'json'],
  [/^-?\d+(?:\.\d+)?$/, 'number'],
]

/** The topic of a value like this one; undefined if its form says nothing. */
export function topicOfExample(example: string): Topic | undefined {
  return shapes.find(([pattern]) => pattern.test(example.trim()))?.[1]
}

export function topicOfFormat(format: unknown): Topic | undefined {
  return typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined
}

/** Names that say so little that what the description or the tool is about decides. */
const vague = new Set<Topic>(['phrase', 'id', 'time', 'path'])

/**
 * Returns the topic of a text: from the property's name, and where that says little or nothing from its description
 * and then from the tool's. `query` of a tool that "executes a SELECT query on the database" is SQL.
 */
export function topicOf(name: string, description = '', about = ''): Topic | undefined {
  const words = spoken(name)
  const byName = words
    .toReversed()
    .flatMap((word) => names.find(([pattern]) => pattern.test(word))?.[1] ?? [])
    .at(0)
  if (byName !== undefined && !vague.has(byName)) return byName
  const said = sayings.find(([pattern]) => pattern.test(description))?.[1]
  if (said !== undefined && (byName !== 'path' || said === 'glob' || said === 'directory')) return said
  if (
    /^(?:query|statement|command)$/.test(words.at(-1) ?? '') &&
    /\bSQL\b|\b(?:SELECT|INSERT|UPDATE|CREATE TABLE)\b|\bdatabase\b/.test(about)
  )
    return 'sql'
  if (words.at(-1) === 'pattern') return /\bglob/i.test(`${description} ${about}`) ? 'glob' : 'regex'
  if (/^(?:code|source)$/.test(words.at(-1) ?? '') && /\bcode\b|\bscript\b|\blint/i.test(about)) return 'code'
  // The name of the tool comes first.
  if (byName === 'path' && /^\S*(?:dir|directory|folder|tree)(?:\b|[_-])/i.test(about)) return 'directory'
  return byName
}
