import { limitedWork, WorkLimit } from '../../../../untrusted/linear-pattern.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { validateArguments } from '../../../../untrusted/validate.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'
import { isStatement, pathsOf, wantsText } from './argument-kinds.ts'
import { type Hints, hintsOf } from './hints.ts'
import { knowledgeOf } from './knowledge.ts'
import { rowBeside } from './database-arguments.ts'
import { knownArgument } from './known-argument.ts'
import { choosesAction, effectOfAction } from '../profile/tool-verbs.ts'
import { below, knownSource, type Making, type Place, type SampleContext, weightOf } from './making.ts'
import { pickElement } from './page-elements.ts'
import { namingProperty, pickSource, type SourceWish } from './known-records.ts'
import { sampleNumber } from './sample-number.ts'
import { sampleString } from './sample-string.ts'
import { wantsReading } from './sql.ts'
import {
  asArray,
  asNumber,
  asObject,
  descriptionOf,
  resolveSchema,
  typeOf,
  UnusableSchema,
} from './schema-parts.ts'
import { partOf, partOfWords, spoken } from './words.ts'

/** Work limit for the arguments of one call: properties, candidate values, characters of patterns. */
const mostSteps = 1_000_000
/** What a name and description of a property cost to be read. */
const stepsOfProperty = 100
/** Most properties of one object. No request states more of them, and most are looked at together with all others. */
const mostProperties = 300

/**
 * Draws arguments that the schema accepts: examples of the configuration, members of enums and values that descriptions
 * and error messages list, values of records that exist, values of the topic that the property is about (dates, zones,
 * paths, SQL ...), everyday words, small numbers, lists of one or two items, and some of the optional properties.
 *
 * @throws UnusableSchema if the schema requires a value that cannot be made.
 */
export function sampleArguments(schema: JsonSchema, context: SampleContext): Record<string, unknown> {
  const { tool, knowledge } = knowledgeOf(schema) ?? { tool: undefined, knowledge: undefined }
  const making: Making = { ...context, tool, knowledge, work: limitedWork(mostSteps), uses: [] }
  try {
    const example = pickExample(schema, making)
    if (example !== undefined) return example
    const value = sample(schema, schema, { path: '', name: '', depth: 0 }, making)
    if (!isPlainObject(value)) throw new UnusableSchema('', 'is not of type object')
    knowledge?.note(value, making.uses)
    return value
  } catch (error) {
    if (error instanceof WorkLimit) throw new UnusableSchema('', `making up its arguments: ${error.message}`)
    throw error
  }
}

/** How often the arguments of the configuration are used as they are. Else they are a source of single values. */
const exampleShare = 0.5
/** With fewer examples than this, all splits use the same ones. */
const fewestToSplit = 6

function pickExample(
  schema: JsonSchema,
  { knowledge, tool, words, random }: Making,
): PlainObject | undefined {
  const all = (tool === undefined ? undefined : knowledge?.examples(tool)) ?? []
  if (all.length === 0 || random.next() >= exampleShare) return undefined
  const own = all.filter((example) => partOf(JSON.stringify(example)) === partOfWords(words))
  const example = random.pick(all.length >= fewestToSplit && own.length > 0 ? own : all)
  const args = structuredClone(example)
  return validateArguments(schema, args) === undefined ? args : undefined
}

/** What is known about a property: its description, its values in the examples of the configuration, error messages. */
function hintsAt(schema: JsonSchema, { path }: Place, { knowledge, tool }: Making): Hints {
  if (tool === undefined || knowledge === undefined) return hintsOf(schema, undefined)
  const hints = hintsOf(schema, knowledge.hints(tool, path))
  const values = knowledge
    .examples(tool)
    .map((example) => example[path])
    .filter((value): value is string | number => typeof value === 'string' || typeof value === 'number')
  return values.length === 0 ? hints : { ...hints, examples: [...values, ...(hints.examples ?? [])] }
}

function sample(
  given: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  source?: PlainObject,
  beside: PlainObject = {},
): unknown {
  if (place.depth > 6) throw new UnusableSchema(place.path, 'is nested too deeply')
  const { random, work } = context
  work.spend(1)
  const schema = resolveSchema(given, root, place.path)
  if ('const' in schema) return schema['const']
  const members = schema['enum']
  if (Array.isArray(members)) return pickMember(members, place, context)
  const type = typeOf(schema)
  switch (type) {
    case 'object':
      return sampleObject(schema, root, place, context, source, beside)
    case 'array':
      return sampleArray(schema, root, place, context, beside)
    case 'boolean':
      return random.next() < 0.5
    case 'integer':
    case 'number':
      return sampleNumber(schema, place, random, hintsAt(schema, place, context))
    case 'null':
      return null
    case 'string':
    case undefined:
      if (type === 'string' || place.depth > 0) return sampleText(schema, place, context, beside)
  }
  throw new UnusableSchema(place.path, `cannot make a value of type ${JSON.stringify(schema['type'])}`)
}

/** A member of an enum. Members that failed before are drawn less often. */
function pickMember(all: readonly unknown[], { path, name }: Place, context: Making): unknown {
  if (all.length === 0) throw new UnusableSchema(path, 'an empty enum')
  const members = choosesAction(name) ? wantedActions(all.slice(0, 200), context) : all.slice(0, 200)
  const weights = members.map((member) => weightOf(context, path, `member ${JSON.stringify(member)}`))
  const member = members[context.random.weighted(weights)]
  context.uses.push({ path, source: `member ${JSON.stringify(member)}` })
  return member
}

/** The actions that may do what is wanted: a question is not asked by dropping what is not there. All of them if none may. */
function wantedActions(actions: readonly unknown[], { wants }: Making): readonly unknown[] {
  if (wants === undefined) return actions
  const unwanted = wantsReading(wants) ? 'changes' : 'reads'
  const wanted = actions.filter((action) => effectOfAction(String(action)) !== unwanted)
  return wanted.length > 0 ? wanted : actions
}

function about({ knowledge, tool }: Making): string {
  return tool === undefined ? '' : (knowledge?.about(tool) ?? '')
}

function sampleText(schema: JsonSchema, place: Place, context: Making, beside: PlainObject): unknown {
  const { words, random, work, known, recent = [] } = context
  const hints = hintsAt(schema, place, context)
  // A property without a type may be a number: the server said so.
  if (typeOf(schema) === undefined && (hints.type === 'number' || hints.type === 'integer'))
    return sampleNumber({ ...schema, type: hints.type }, place, random, hints)
  try {
    const { text, source } = sampleString(place.name, schema, {
      words,
      random,
      work,
      hints,
      about: about(context),
      records: () => [...known, ...recent],
      beside,
      wants: context.wants,
      weight: (name) => weightOf(context, place.path, name),
    })
    context.uses.push({ path: place.path, source })
    return text
  } catch (error) {
    if (error instanceof WorkLimit) throw error
    throw new UnusableSchema(place.path, (error as Error).message)
  }
}

function sampleObject(
  schema: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  given?: PlainObject,
  beside: PlainObject = {},
): PlainObject {
  const properties = asObject(schema['properties']) as Record<string, JsonSchema>
  const required = asArray(schema['required'])
  const names = Object.keys(properties)
  const needed = new Set(required)
  context.work.spend(stepsOfProperty * (names.length + required.length))
  if (names.length > mostProperties)
    throw new UnusableSchema(
      place.path,
      `has ${names.length} properties, and at most ${mostProperties} are given values`,
    )
  for (const name of required) {
    if (!Object.hasOwn(properties, String(name))) {
      throw new UnusableSchema(place.path, `requires "${String(name)}" but does not describe it`)
    }
  }
  if (names.length === 0) return place.depth === 0 ? {} : freeObject(schema, root, place, context, beside)
  const wish: SourceWish = {
    path: pathsOf(properties, root, context),
    text: wantsText(schema, root),
    weigh: (name, value) => weightOf(context, below(place, name), knownSource(value)),
  }
  const element = pickElement(properties, about(context), [...context.known, ...(context.recent ?? [])], {
    random: context.random,
    weigh: (name, ref) => weightOf(context, below(place, name), knownSource(ref)),
  })
  const source =
    given ?? element ?? (context.reuse ? pickSource(names, context, wish) : undefined) ?? place.outer
  const naming =
    source !== undefined && context.changes === true && context.random.next() < 0.5
      ? namingProperty(names, source)
      : undefined
  // A tool without required arguments gets at least one optional argument, because a call without any is uninformative.
  const often = required.length === 0 ? 2 : 1
  const statement = isStatement(properties, needed, root, context)
  const made: PlainObject = {}
  for (const name of names) {
    const property = resolveSchema(properties[name], root, name)
    const at = {
      path: place.path === '' ? name : `${place.path}.${name}`,
      name,
      depth: place.depth + 1,
      among: names,
      outer: source,
    }
    const hints = hintsAt(property, at, context)
    const optional = !needed.has(name) && name !== context.always
    if (statement && hints.required !== true && name !== context.always) {
      // A request does not say how a statement is run.
      const [usual] = 'default' in property ? [property['default']] : asArray(property['enum'])
      if (!optional && usual !== undefined) made[name] = usual
      if (optional || usual !== undefined) continue
    }
    if (optional && hints.required !== true) {
      // How long a tool waits by default may be too long.
      const usual = waits.test(`${name} ${descriptionOf(property)}`)
        ? 10
        : ('default' in property ? 0.15 : 0.3) * often
      const share = usual * weightOf(context, at.path, 'given')
      // What will vanish is not known: a call would wait for it until its deadline.
      const vanishes = /\bto (?:disappear|vanish)\b/.test(descriptionOf(property))
      const isLeftOut = hints.forbidden === true || vanishes || connects.test(spoken(name).join(' '))
      if (isLeftOut || context.random.next() >= share) continue
      context.uses.push({ path: at.path, source: 'given' })
    }
    try {
      made[name] =
        knownArgument(
          at,
          property,
          root,
          { source, changed: naming !== undefined && name !== naming, hints, beside: made },
          context,
        ) ?? sample(property, root, at, context, source, made)
    } catch (error) {
      if (!optional || !(error instanceof UnusableSchema)) throw error
    }
  }
  return withoutLoneOffset(made, names, needed)
}

/** Many servers skip nothing unless a limit is given too. */
function withoutLoneOffset(
  made: PlainObject,
  names: readonly string[],
  needed: ReadonlySet<unknown>,
): PlainObject {
  const limit = names.find((name) => /^(?:limit|take)$/i.test(name))
  if (limit === undefined || limit in made) return made
  return Object.fromEntries(
    Object.entries(made).filter(([name]) => needed.has(name) || !/^(?:offset|skip)$/i.test(name)),
  )
}

/** Optional texts that say where another server is. The one that is there is configured. */
const connects = /^(?:connection (?:string|ur[il])|dsn|(?:database|db) ur[il])$/

/** Optional numbers that say how long a tool takes: by the name, or by the description. */
const waits = /^(?:duration|delay|wait|sleep)(?:$|[A-Z_-])|\btime to wait\b/

/**
 * An object whose properties the schema does not name. Beside the name of a known table it is a row of that table, else
 * it has one or two everyday properties.
 */
function freeObject(
  schema: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  beside: PlainObject,
): PlainObject {
  const { random } = context
  const values = schema['additionalProperties'] ?? true
  const least = asNumber(schema['minProperties']) ?? 0
  const row = least > 1 ? undefined : rowBeside(place, beside, context)
  if (row !== undefined) return row
  if (values === false) return {}
  const keys = random
    .shuffle(['name', 'colour', 'city', 'count', 'size', 'year', 'note', 'owner'])
    .slice(0, Math.max(1, Math.min(least, 8)))
  return Object.fromEntries(
    keys.map((name) => {
      const at = { path: `${place.path}.${name}`, name, depth: place.depth + 1 }
      const free = isPlainObject(values) ? values : {}
      return [name, sample(free, root, at, context)]
    }),
  )
}

function sampleArray(
  schema: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  beside: PlainObject,
): unknown[] {
  const items = schema['items'] ?? { type: 'string' }
  if (!isPlainObject(items)) throw new UnusableSchema(place.path, 'its items are not one schema')
  const least = Math.max(1, asNumber(schema['minItems']) ?? 1)
  if (least > 4) throw new UnusableSchema(place.path, `needs ${least} items`)
  const most = Math.min(asNumber(schema['maxItems']) ?? 2, Math.max(2, least))
  // Mostly one item: two double the length of the request.
  const count = most > least && context.random.next() < 0.2 ? least + 1 : least
  const made: unknown[] = []
  for (let attempt = 0; made.length < count && attempt < 20; attempt++) {
    const item = sample(
      items,
      root,
      { ...place, path: `${place.path}[]`, depth: place.depth + 1 },
      context,
      undefined,
      beside,
    )
    const twice = made.some((other) => JSON.stringify(other) === JSON.stringify(item))
    // Distinct items are preferred, but the schema may allow only equal ones.
    if (!twice || (attempt > 10 && schema['uniqueItems'] !== true)) made.push(item)
  }
  if (made.length < least) throw new UnusableSchema(place.path, `needs ${least} different items`)
  return made
}
