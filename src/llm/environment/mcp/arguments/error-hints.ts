import { choicesIn, examplesIn, type Hints, listedValues, rangeIn } from './hints.ts'
import { isPlainObject, objectsIn, parseJson } from '../salient.ts'

const mostText = 4000

/** What an error message asks for, by the path of the property (`filters.city`, `[]` for an item of a list). */
export type Corrections = ReadonlyMap<string, Hints>

/**
 * Reads what an error message asks for. Knows the texts of zod, Ajv, pydantic and MCP SDKs, and sentences that name a
 * property of the call ("`unit` must be one of: km, mi"). A sentence that names no property, but repeats a value of the
 * call, is about the property with that value.
 *
 * @param names the properties of the tool, nested ones with dots.
 * @returns an empty map if nothing can be learnt.
 */
export function correctionsOf(
  error: string,
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Corrections {
  const corrections = new Map<string, Hints>()
  const learn = (path: string, hints: Hints): void => {
    if (path === '' || Object.keys(hints).length === 0) return
    corrections.set(path, { ...corrections.get(path), ...hints })
  }
  const text = error.slice(0, mostText)
  const leaves = leavesOf(args)
  for (const sentence of sentencesOf(text)) {
    const reported = reportedIssue(sentence)
    if (reported !== undefined) {
      learn(reported.path, reported.hints)
      continue
    }
    const excluded = exclusions(sentence, names)
    for (const [path, hints] of excluded) learn(path, hints)
    // "Provide only one of `text` or `regex`" names properties, and no values.
    if (excluded.length > 0) continue
    for (const path of subjectsOf(sentence, leaves, names)) learn(path, hintsOfSentence(sentence))
    for (const path of requirements(sentence, names)) learn(path, { required: true })
  }
  for (const { path, hints } of jsonIssues(text)) learn(path, hints)
  return corrections
}

/** Properties that a sentence calls required: "WHERE clause is required for delete", "objectType and objectName are required". */
function requirements(sentence: string, names: readonly string[]): string[] {
  const [, said] = /(?:^|[:.] )([\w ,'"`]{2,80}?) (?:is|are) required\b/.exec(sentence) ?? []
  const words = new Set((said ?? '').toLowerCase().match(/\w+/g))
  return names.filter((name) => words.has(name.toLowerCase()))
}

interface Leaf {
  path: string
  value: string | number | boolean
}

function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return [{ path, value }]
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, `${path}[]`))
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => leavesOf(item, path === '' ? key : `${path}.${key}`))
}

/** Lines, and sentences of long lines. pydantic writes the property on one line and the message on the next. */
function sentencesOf(text: string): string[] {
  const joined = text
    .replaceAll(/\n\s*→ at (\S+)/g, ' at $1')
    // Ajv joins its errors.
    .replaceAll(/, (?=data[/.]\w)/g, '\n')
    // "Could not find:" belongs to what the next line names.
    .replaceAll(/:[ \t]*\n(?=[^\n])/g, ': ')
    .replaceAll(/^(\w[\w.]*)\n {2}(\S.*)$/gm, 'property "$1": $2')
  return joined
    .split('\n')
    .flatMap((line) => line.split(/(?<=[.!?])\s+(?=[A-Z])/))
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 60)
}

/** `entities.0.name`, `/entities/0/name` and `entities[0].name` as `entities[].name`. */
function normalPath(path: string): string {
  return path
    .replace(/^(?:data|instance|arguments|args|params|body|input|root)?[/.](?=\w)/, '')
    .replaceAll('/', '.')
    .replaceAll(/\[["']?(\w+)["']?\]/g, '.$1')
    .replace(/^\./, '')
    .split('.')
    .reduce(
      (whole, part) => (/^\d+$/.test(part) ? `${whole}[]` : whole === '' ? part : `${whole}.${part}`),
      '',
    )
}

const pathText = '["\'`]?([\\w$][\\w$./[\\]-]*)["\'`]?'
/** Where validators name the property. */
const reports: readonly RegExp[] = [
  // zod 4 of the MCP SDK: "Invalid input: expected string, received undefined at time"
  new RegExp(
    `^(?:MCP error.*?: )?(?:.*Invalid arguments for tool \\S+: )?(?:✖ )?((?:Invalid|Too|Expected|Unrecognized|Required).*?) at ${pathText}$`,
    'i',
  ),
  // Ajv: "data/unit must be equal to one of the allowed values"
  /(?:^|[\s:])(?:data|instance)?(\/[\w/-]+|\.[\w.[\]]+) ((?:must|should|is) .*)$/,
  // pydantic and others: property "unit": Field required
  /^property "([\w.]+)": (.*)$/,
]

function reportedIssue(sentence: string): { path: string; hints: Hints } | undefined {
  for (const [index, pattern] of reports.entries()) {
    const found = pattern.exec(sentence)
    if (found === null) continue
    const [message, path] = index === 0 ? [found[1], found[2]] : [found[2], found[1]]
    return { path: normalPath(path), hints: hintsOfSentence(message) }
  }
  return undefined
}

/** Issues that a validator wrote as JSON, such as zod 3's `[{ "code": "too_big", "maximum": 10, "path": ["count"] }]`. */
function jsonIssues(text: string): { path: string; hints: Hints }[] {
  const from = text.search(/\[\s*\{|\{\s*"/)
  if (from < 0) return []
  const rest = text.slice(from).trim()
  const json =
    parseJson(rest) ?? parseJson(rest.slice(0, Math.max(rest.lastIndexOf(']'), rest.lastIndexOf('}')) + 1))
  return objectsIn(json).flatMap((issue) => {
    const place = issue['path'] ?? issue['loc'] ?? issue['instancePath'] ?? issue['field']
    const parts = Array.isArray(place) ? place.filter((part) => part !== 'body') : [place]
    if (parts.length === 0 || !parts.every((part) => typeof part === 'string' || typeof part === 'number'))
      return []
    const path = normalPath(parts.join('.'))
    const said = [issue['message'], issue['msg'], issue['detail']]
      .filter((item) => typeof item === 'string')
      .join('. ')
    const hints: Hints = { ...hintsOfSentence(said) }
    const options =
      issue['options'] ??
      issue['values'] ??
      (isPlainObject(issue['params']) ? issue['params']['allowedValues'] : undefined)
    if (Array.isArray(options) && options.length > 0)
      hints.values = options.filter(
        (item): item is string | number => typeof item === 'string' || typeof item === 'number',
      )
    if (typeof issue['minimum'] === 'number')
      Object.assign(
        hints,
        issue['type'] === 'string' ? { shortest: issue['minimum'] } : { low: issue['minimum'] },
      )
    if (typeof issue['maximum'] === 'number')
      Object.assign(
        hints,
        issue['type'] === 'string' ? { longest: issue['maximum'] } : { high: issue['maximum'] },
      )
    if (typeof issue['expected'] === 'string' && typeof issue['received'] === 'string')
      Object.assign(hints, hintsOfSentence(`expected ${issue['expected']}, received ${issue['received']}`))
    if (typeof issue['pattern'] === 'string') hints.pattern = issue['pattern'].replace(/^\/(.*)\/\w*$/, '$1')
    return [{ path, hints }]
  })
}

/** The properties that a sentence is about: named in it, or with a value that it repeats. */
function subjectsOf(sentence: string, leaves: readonly Leaf[], names: readonly string[]): string[] {
  const last = (path: string): string => path.split(/[.[\]]+/).findLast((part) => part !== '') ?? path
  const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const called = names.filter((path) => {
    const name = escape(last(path))
    return (
      new RegExp(
        `["'\`]${name}["'\`]|\\b(?:property|parameter|argument|field|key|option|arg|param)s?:?\\s+["'\`]?${name}\\b`,
        'i',
      ).test(sentence) ||
      new RegExp(
        `(?:^|: )${name}\\s*(?:must|should|is required|is missing|cannot|can not|has to|needs)`,
        'i',
      ).test(sentence) ||
      new RegExp(
        `\\b(?:missing|required|invalid|unknown|unexpected)\\b[^:]{0,30}[: ]+["'\`]?${name}\\b`,
        'i',
      ).test(sentence)
    )
  })
  if (called.length > 0) return called
  const repeated = leaves.filter(
    ({ value }) =>
      String(value).length > 1 &&
      typeof value !== 'boolean' &&
      new RegExp(`(?<![\\w])${escape(String(value))}(?![\\w])`).test(sentence),
  )
  return [...new Set(repeated.map(({ path }) => path))]
}

/** `Cannot specify both head and tail`: the later of the two is left out. */
function exclusions(sentence: string, names: readonly string[]): [string, Hints][] {
  const [, first, second] =
    /(?:both|either|neither|only one of)\s+["'`]?(\w+)["'`]?\s+(?:and|or|nor)\s+["'`]?(\w+)/i.exec(
      sentence,
    ) ??
    /["'`]?(\w+)["'`]?\s+and\s+["'`]?(\w+)["'`]?\s+(?:are mutually exclusive|cannot be (?:used|given|specified|combined) together)/i.exec(
      sentence,
    ) ??
    []
  const [, three] =
    /\beither ((?:["'`]?\w+["'`]?, )+["'`]?\w+["'`]? or ["'`]?\w+)["'`]? (?:must|is required|has to)/i.exec(
      sentence,
    ) ?? []
  const listed = three === undefined ? [] : listedValues(three).filter((name) => names.includes(name))
  // Waiting for a time says nothing.
  const one = listed.find((name) => !/^(?:time|timeout|duration|delay|wait)/.test(name)) ?? listed[0]
  if (one !== undefined) return [[one, { required: true }]]
  if (first === undefined || second === undefined || !names.includes(first) || !names.includes(second))
    return []
  if (
    /\b(?:either|one of|at least one)\b/i.test(sentence) &&
    !/\bonly one\b|\bnot both\b/i.test(sentence) &&
    /\b(?:required|must|provide|specify|need)/i.test(sentence)
  )
    return [[first, { required: true }]]
  return [[second, { forbidden: true }]]
}

const types: readonly [RegExp, string][] = [
  [
    /\bexpected (?:a |an )?["'`]?(?:number|float|double)\b|must be (?:a )?number|valid number|is not a number/i,
    'number',
  ],
  [
    /\bexpected (?:a |an )?["'`]?int(?:eger)?\b|must be (?:an )?integer|valid integer|whole number/i,
    'integer',
  ],
  [/\bexpected (?:a |an )?["'`]?bool(?:ean)?\b|must be (?:a )?boolean|valid boolean/i, 'boolean'],
  [/\bexpected (?:a |an )?["'`]?(?:array|list)\b|must be (?:an )?array|valid list/i, 'array'],
  [/\bexpected (?:a |an )?["'`]?(?:object|dict|record)\b|must be (?:an )?object|valid dictionary/i, 'object'],
  [/\bexpected (?:a |an )?["'`]?str(?:ing)?\b|must be (?:a )?string|valid string/i, 'string'],
]

const missing =
  /received (?:undefined|null|None)|\bis required\b|\bfield required\b|^required$|\bmissing\b|\bmust have required property\b|\bmust be (?:provided|specified|given)\b|\bcannot be empty\b|\bmust provide\b/i
const absent =
  /\bnot found\b|\bno such\b|\bdoes ?n[o']t exist\b|\bunknown\b|\bcould not (?:be )?f(?:ind|ound)\b|\bcannot find\b|\bno \w+ (?:found|with)\b|\bENOENT\b/i
const present =
  /\balready (?:exists?|taken|in use|registered)\b|\bduplicate\b|\bEEXIST\b|\bUNIQUE constraint\b/i

/** What one sentence asks of the property that it is about. */
export function hintsOfSentence(sentence: string): Hints {
  const hints: Hints = {}
  const wanted = [
    ...sentence.matchAll(
      /expected (?:one of|value to be one of|:)\s*(.+?)(?:, (?:but )?(?:got|received).*)?$/gi,
    ),
  ].flatMap(([, list]) => listedValues(list))
  const values = wanted.length > 1 ? wanted : choicesIn(sentence)
  const suggested =
    /\b(?:did you mean|perhaps you meant|similar|closest|suggestions?|available(?: \w+){0,2}|existing(?: \w+){0,2}|known(?: \w+){0,2})(?: are| is)?\s*[:?]?\s*(.+)$/i.exec(
      sentence,
    )?.[1]
  const one =
    suggested === undefined
      ? []
      : (/["'`]([^"'`]+)["'`]/.exec(suggested)?.slice(1) ??
        [/^[\w./@-]+/.exec(suggested)?.[0] ?? ''].filter((item) => item !== ''))
  const offered = suggested === undefined ? [] : [...new Set([...listedValues(suggested), ...one])]
  if (values.length > 1) hints.values = values
  else if (offered.length > 0) hints.examples = offered
  else {
    const examples = examplesIn(sentence)
    if (examples.length > 0) hints.examples = examples
  }
  if (missing.test(sentence)) hints.required = true
  const type = types.find(([pattern]) => pattern.test(sentence))?.[1]
  if (type !== undefined && !missing.test(sentence)) hints.type = type
  const range = rangeIn(sentence)
  const length = /\bcharacters?\b|\blength\b|\bstring to have\b/i.test(sentence)
  if (range.low !== undefined) Object.assign(hints, length ? { shortest: range.low } : { low: range.low })
  if (range.high !== undefined) Object.assign(hints, length ? { longest: range.high } : { high: range.high })
  if (absent.test(sentence) && values.length < 2) hints.existing = true
  if (present.test(sentence)) hints.existing = false
  if (
    /\b(?:unrecogni[sz]ed|unknown|unexpected|additional|extra) (?:key|property|properties|field|argument|parameter|inputs?)\b|not permitted/i.test(
      sentence,
    )
  ) {
    hints.forbidden = true
    delete hints.existing
  }
  const [letters] =
    /\b(?:YYYY|DD|MM)[-/.](?:MM|DD)[-/.](?:DD|YYYY)(?:[T ]HH:mm(?::ss)?Z?)?\b|\bHH:mm(?::ss)?\b/i.exec(
      sentence,
    ) ?? []
  if (letters !== undefined) hints.moment = letters
  const [, pattern] =
    /(?:match(?:es)?(?: the)?(?: pattern| regex| format)?|must match pattern)\s*[:=]?\s*["'`/]([^"'`\n]+?)["'`/]?$/i.exec(
      sentence,
    ) ?? []
  if (pattern !== undefined && /[\\^$[\](){}+*?]/.test(pattern)) hints.pattern = pattern
  const folder =
    /outside(?: of)?(?: the)? allowed director(?:y|ies).*? not in (\/[^\s,]+)|(?:must (?:be|lie) (?:in|inside|within|under|below)|allowed director(?:y|ies):?)\s+["'`]?(\/[^\s,"'`]+)/i.exec(
      sentence,
    )
  const inside = folder?.[1] ?? folder?.[2]
  if (inside !== undefined) hints.folder = inside
  if (/\bEISDIR\b|\bis a directory\b/i.test(sentence)) return { said: 'file path' }
  if (/\bENOTDIR\b|\bnot a directory\b/i.test(sentence)) return { said: 'directory' }
  if (/\binvalid\b|\bmust be\b|\bexpected\b|\bformat\b|\bparse\b/i.test(sentence))
    hints.said = sentence.slice(0, 300)
  return hints
}

/** Beginnings and contents of results that report a failure without saying so in `isError`. */
const failures: readonly RegExp[] = [
  /^\W{0,3}(?:(?:[A-Z]\w*)?Error\b(?!\s+\w+:? \d)|error:|failed to\b|failed:|failure:|fatal:|exception\b|traceback\b|invalid\b|unable to\b|cannot\b|could not\b|access denied|permission denied)/i,
  /\bNaN\b|\bInvalid date\b|(?:^|[:=] |\bis )undefined\b|\[object Object\]/i,
  /^#+ (?:\w+ )?error\b/im,
  /^\W{0,3}(?:unknown|unsupported|missing|no such)\b/i,
  /^[^\n]{0,80}\b(?:not found|does not exist|is required|is not valid|is invalid)\b[^\n]{0,40}$/i,
]

/**
 * Whether a result says that the call failed although it is not marked as an error: "Error: ...", "Invalid Date",
 * `{ "error": ... }`. What the call itself gave does not count: an echo of "invalid" is an answer.
 */
export function saysFailure(text: string, args: Readonly<Record<string, unknown>> = {}): boolean {
  const given = leavesOf(args).map(({ value }) => String(value))
  const rest = given
    .filter((value) => value.length > 2)
    .reduce((left, value) => left.replaceAll(value, '·'), text)
  const json = parseJson(rest)
  if (isPlainObject(json)) {
    const { error, success, ok, status } = json
    return (
      (error !== undefined && error !== null && error !== false && error !== '') ||
      success === false ||
      ok === false ||
      status === 'error' ||
      status === 'failed'
    )
  }
  return json === undefined && failures.some((pattern) => pattern.test(rest.slice(0, 600)))
}
