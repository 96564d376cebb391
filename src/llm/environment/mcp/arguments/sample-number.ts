import type { Random } from '../../../../engine/random/index.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import type { Hints } from './hints.ts'
import { asNumber, descriptionOf, UnusableSchema } from './schema-parts.ts'
import { spoken } from './words.ts'

/** Usual ranges by the last word of a name that has one. The schema and the description come first. */
const usual: readonly [RegExp, number, number][] = [
  [/^(?:latitude|lat)$/, -60, 60],
  [/^(?:longitude|lng|lon|long)$/, -170, 170],
  [/^(?:duration|delay|wait|sleep)$/, 1, 2],
  [/^hours?$/, 0, 23],
  [/^(?:minutes?|seconds?)$/, 0, 59],
  [/^months?$/, 1, 12],
  [/^days?$/, 1, 28],
  [/^years?$/, 1990, 2035],
  [/^(?:percent|percentage)$/, 0, 100],
  [/^(?:limit|size|top|max|maximum|results|count|quantity|amount|head|tail|lines|n)$/, 1, 20],
  [/^(?:page|depth|level|priority|retries|steps)$/, 1, 5],
  [/^(?:offset|skip|index|start)$/, 0, 5],
  [/^(?:precision|decimals|digits)$/, 0, 6],
  [/^(?:rating|stars|score)$/, 1, 5],
  [/^(?:width|height)$/, 100, 1000],
  [/^port$/, 1024, 9999],
]

/** What expires within seconds would be gone before an episode ends. */
const expiry = /^(?:ttl|expir(?:e|es|y|ation))$/

/**
 * Draws a number within the bounds of the schema, of the description and of error messages, else one that is usual for
 * a property of this name, else one of 0 to 99.
 *
 * @throws UnusableSchema if the schema allows none.
 */
export function sampleNumber(
  schema: JsonSchema,
  { name, path }: { name: string; path: string },
  random: Random,
  hints: Hints = {},
): number {
  const multiple = asNumber(schema['multipleOf']) ?? 1
  // Servers write 0 for "any".
  const step = multiple > 0 ? multiple : 1
  const given = [...(hints.values ?? []), ...(random.next() < 0.2 ? (hints.examples ?? []) : [])]
    .map(Number)
    .filter((value) => Number.isFinite(value) && allows(schema, value))
  if (given.length > 0) return random.pick(given)
  const least = asNumber(schema['minimum']) ?? plus(asNumber(schema['exclusiveMinimum']), step)
  const most = asNumber(schema['maximum']) ?? plus(asNumber(schema['exclusiveMaximum']), -step)
  const words = spoken(name)
  const [, from, to] = words.some((word) => expiry.test(word))
    ? [expiry, 600, 7200]
    : (usual.find(([pattern]) => pattern.test(words.at(-1) ?? '')) ?? [undefined, undefined, undefined])
  // A description says how long a tool may wait at most, which is longer than a call may take.
  const soft = /\btime to wait\b/.test(descriptionOf(schema))
    ? bounds(least, most, 1, 2)
    : bounds(least, most, hints.low ?? from, hints.high ?? to)
  const low = soft.low ?? (most !== undefined && most < 0 ? most - 99 * step : 0)
  const high = soft.high ?? low + 99 * step
  const first = Math.ceil(low / step)
  const last = Math.min(Math.floor(high / step), first + 999)
  const isCountable = Number.isSafeInteger(first) && Number.isSafeInteger(last)
  if (last < first || !isCountable || !Number.isFinite(last * step)) {
    if (low <= high && allows(schema, low)) return low
    throw new UnusableSchema(path, `no number between ${low} and ${high}`)
  }
  return Number(((first + random.int(last - first + 1)) * step).toPrecision(12))
}

const plus = (value: number | undefined, step: number): number | undefined =>
  value === undefined ? undefined : value + step

/** The bounds of the schema, narrowed to what is usual if that leaves any number. */
function bounds(
  least: number | undefined,
  most: number | undefined,
  from: number | undefined,
  to: number | undefined,
): { low: number | undefined; high: number | undefined } {
  const low = least === undefined ? from : Math.max(least, from ?? least)
  const high = most === undefined ? to : Math.min(most, to ?? most)
  if (low !== undefined && high !== undefined && low > high)
    return { low: least, high: most ?? (least === undefined ? to : undefined) }
  return { low, high }
}

function allows(schema: JsonSchema, value: number): boolean {
  const [low, high, over, under, step] = [
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
  ].map((key) => asNumber(schema[key]))
  return (
    (low === undefined || value >= low) &&
    (high === undefined || value <= high) &&
    (over === undefined || value > over) &&
    (under === undefined || value < under) &&
    (step === undefined || Math.abs(value / step - Math.round(value / step)) < 1e-9) &&
    (schema['type'] !== 'integer' || Number.isInteger(value))
  )
}
