import { AgogeError } from '../../error.ts'
import type { SchemaGrammar } from './compile.ts'
import type { Algebra, Expression } from './expression.ts'
import { numbers } from './numbers.ts'
import { anyCharacter, jsonCharacter, regularExpression } from './regular-expression.ts'

/** A schema object, or any JSON value. */
type Schema = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value has a JSON Schema type. */
function hasType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

const typesOf = (schema: Record<string, unknown>): unknown[] | undefined =>
  schema.type === undefined ? undefined : [schema.type].flat()
const isNumber = (type: unknown): boolean => type === 'number' || type === 'integer'

function valuesOf(schema: Readonly<Record<string, unknown>>): unknown[] | undefined {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}

/** Whether two schemas are clearly disjoint: by their types, their constants, or those of a property that both require. */
function areDisjoint(a: unknown, b: unknown): boolean {
  if (a === false || b === false) return true
  if (!isRecord(a) || !isRecord(b)) return false
  const [valuesOfA, valuesOfB] = [valuesOf(a), valuesOf(b)]
  if (valuesOfA !== undefined && valuesOfB !== undefined) {
    const texts = new Set(valuesOfB.map((value) => JSON.stringify(value)))
    return valuesOfA.every((value) => !texts.has(JSON.stringify(value)))
  }
  const [typesOfA, typesOfB] = [typesOf(a), typesOf(b)]
  const fitsNone = (values: readonly unknown[], types: readonly unknown[]): boolean =>
    values.every((value) => !types.some((type) => hasType(value, type)))
  if (valuesOfA !== undefined && typesOfB !== undefined && fitsNone(valuesOfA, typesOfB)) return true
  if (valuesOfB !== undefined && typesOfA !== undefined && fitsNone(valuesOfB, typesOfA)) return true
  if (typesOfA !== undefined && typesOfB !== undefined) {
    const barrier = typesOfA.some((x) => typesOfB.some((y) => x === y || (isNumber(x) && isNumber(y))))
    if (!barrier) return true
    if (typesOfA.length > 1 || typesOfB.length > 1) return false
  }
  const { properties: ofA, required: neededByA } = a
  const { properties: ofB, required: neededByB } = b
  if (!isRecord(ofA) || !isRecord(ofB) || !Array.isArray(neededByA) || !Array.isArray(neededByB)) return false
  const needed = new Set<unknown>(neededByB)
  return neededByA.some((name: string) => needed.has(name) && areDisjoint(ofA[name], ofB[name]))
}

/** Keywords that do not affect validity. */
const annotations = new Set(
  '$schema $id $anchor $comment $defs definitions title description default examples example deprecated readOnly writeOnly format contentMediaType contentEncoding'.split(
    ' ',
  ),
)
/** Supported keywords of each type. */
const keywords: Record<string, readonly string[]> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  boolean: [],
  null: [],
}
const general = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'])
/** Steps charged for comparing two schemas, besides their lengths. */
const stepsToCompare = 50
const everyType = ['null', 'boolean', 'number', 'string', 'array', 'object']

/**
 * The JSON that a schema allows, as `JSON.stringify` writes it. Properties come in the order of `properties`. Others
 * are allowed only if `additionalProperties` says so, or if the schema has neither keyword. Numbers have at most 15
 * digits on each side of the point. `format` is ignored.
 *
 * @throws AgogeError `unsupported-schema` naming the place, for unsupported keywords that affect validity
 */
export function schemaExpression(
  algebra: Algebra,
  { schema: root, spaces = false }: SchemaGrammar,
): Expression {
  const { text, sequence, choice, optional, repeat, both, not } = algebra
  const space = spaces ? optional(text(' ')) : algebra.empty
  const comma = sequence(text(','), space)
  const colon = sequence(text(':'), space)
  const quoted = (inner: Expression): Expression => sequence(text('"'), inner, text('"'))
  const character = jsonCharacter(algebra, anyCharacter)
  const anyString = quoted(repeat(character))
  const literal = (value: unknown): Expression => text(JSON.stringify(value))
  /** The root is part of the key, because names of rules are local to it. */
  const scope = algebra.scope(JSON.stringify([root, spaces]))

  function refuse(at: string, given: unknown, expected: string): never {
    throw new AgogeError(`the schema cannot be made into a grammar: ${at === '' ? '#' : at}`, {
      code: 'unsupported-schema',
      given,
      expected,
      hint: 'sample without this grammar, or leave out what it cannot hold',
    })
  }

  const anyValue = (): Expression => algebra.rule('any value', () => value({ type: everyType }, ''))

  function value(schema: unknown, at: string): Expression {
    if (schema === true) return anyValue()
    if (schema === false) return algebra.nothing
    if (!isRecord(schema)) refuse(at, schema, 'a schema: an object or a boolean')
    const used = Object.keys(schema).filter((key) => !annotations.has(key))
    if (used.length === 0) return anyValue()
    const only = (key: string, ...more: string[]): void => {
      const other = used.find((name) => name !== key && !more.includes(name))
      if (other !== undefined) refuse(`${at}/${other}`, schema[other], `nothing beside ${key}`)
    }
    if (typeof schema.$ref === 'string') {
      only('$ref')
      return reference(schema.$ref, at)
    }
    if ('const' in schema || 'enum' in schema) return oneOfValues(schema, used, at)
    if (Array.isArray(schema.allOf)) return allOf(schema, used, at)
    for (const key of ['anyOf', 'oneOf'] as const) {
      const list = schema[key]
      if (!Array.isArray(list)) continue
      only(key, 'type')
      if (key === 'oneOf' && !areAllDisjoint(list))
        refuse(`${at}/oneOf`, list, 'forms that differ in type or in a constant; else anyOf')
      return choice(
        ...list.map((part, i) =>
          value(schema.type === undefined ? part : typed(part, schema.type), `${at}/${key}/${i}`),
        ),
      )
    }
    return ofTypes(schema, used, at)
  }

  function areAllDisjoint(list: readonly unknown[]): boolean {
    const sizes = list.map((part) => JSON.stringify(part).length)
    return list.every((a, i) => {
      return list.slice(i + 1).every((b, j) => {
        algebra.spend(stepsToCompare + sizes[i] + sizes[i + 1 + j])
        return areDisjoint(a, b)
      })
    })
  }

  /** An alternative of a choice, merged with a type declared beside the choice. */
  function typed(part: unknown, type: unknown): unknown {
    return isRecord(part) && part.type === undefined && part.$ref === undefined ? { ...part, type } : part
  }

  function reference(pointer: string, at: string): Expression {
    if (!pointer.startsWith('#')) refuse(`${at}/$ref`, pointer, 'a reference within the schema')
    let target: unknown = root
    const path = decoded(pointer.slice(1))
    if (path === undefined) refuse(`${at}/$ref`, pointer, 'a reference that leads somewhere')
    for (const part of path.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      target = Array.isArray(target) ? target[Number(key)] : isRecord(target) ? target[key] : undefined
    }
    if (target === undefined) refuse(`${at}/$ref`, pointer, 'a reference that leads somewhere')
    return algebra.rule(`${pointer} of ${scope}`, () => value(target, pointer))
  }

  function oneOfValues(schema: Schema, used: readonly string[], at: string): Expression {
    const all: unknown = 'const' in schema ? [schema.const] : schema.enum
    if (!Array.isArray(all) || all.length === 0) refuse(`${at}/enum`, all, 'a list of at least one value')
    const types = schema.type === undefined ? undefined : [schema.type].flat()
    const fitting = all.filter((item) => types === undefined || types.some((type) => hasType(item, type)))
    const values = texts(
      algebra,
      fitting.map((item) => JSON.stringify(item)),
    )
    const rest = used.filter((key) => !['const', 'enum', 'type'].includes(key))
    if (rest.length === 0) return values
    if (fitting.some((item) => typeof item === 'object' && item !== null))
      refuse(`${at}/${rest[0]}`, schema[rest[0]], 'nothing beside enum or const')
    return both(
      values,
      value(
        Object.fromEntries([...rest, 'type'].filter((key) => key in schema).map((key) => [key, schema[key]])),
        at,
      ),
    )
  }

  /** The conjunction: merges properties; strings and numbers must match every schema. */
  function allOf(schema: Schema, used: readonly string[], at: string): Expression {
    const { allOf: list, ...own } = schema
    const parts = [...(used.length > 1 ? [own] : []), ...(list as unknown[])]
    if ((list as unknown[]).length === 0) refuse(`${at}/allOf`, list, 'a list of at least one form')
    if (parts.length === 1) return value(parts[0], `${at}/allOf/0`)
    const simple = ['string', 'number', 'integer', 'boolean', 'null']
    if (parts.every((part) => isRecord(part) && simple.includes(part.type as string)))
      return both(...parts.map((part, i) => value(part, `${at}/allOf/${i}`)))
    return refuse(`${at}/allOf`, list, 'one form, or forms of strings and numbers')
  }

  function ofTypes(schema: Schema, used: readonly string[], at: string): Expression {
    const types =
      schema.type === undefined
        ? everyType.filter((type) => keywords[type].some((key) => used.includes(key)))
        : [schema.type].flat()
    for (const type of types)
      if (typeof type !== 'string' || !Object.hasOwn(keywords, type))
        refuse(`${at}/type`, type, Object.keys(keywords).join(', '))
    const allowed = new Set([...general, ...types.flatMap((type) => keywords[type as string])])
    // Keywords for other types do not apply.
    const foreign = new Set(Object.values(keywords).flat())
    const unknown = used.find((key) => !allowed.has(key) && !foreign.has(key))
    if (unknown !== undefined)
      refuse(`${at}/${unknown}`, schema[unknown], 'words that say what a grammar can hold')
    return choice(...types.map((type) => ofType(type as string, schema, at)))
  }

  function ofType(type: string, schema: Schema, at: string): Expression {
    if (type === 'null') return text('null')
    if (type === 'boolean') return choice(text('true'), text('false'))
    if (type === 'string') return string(schema, at)
    if (type === 'array') return array(schema, at)
    if (type === 'object') return object(schema, at)
    const bounds = boundsOf(schema, at)
    return numbers(algebra, bounds, type === 'integer') ?? refuse(at, bounds, 'bounds of at most 15 digits')
  }

  /** Bounds of a number. `true` beside a bound makes it exclusive, as in draft 4. */
  function boundsOf(schema: Schema, at: string): Record<string, number> {
    const bounds: Record<string, number> = {}
    for (const key of keywords.number) {
      const isExclusive = key.startsWith('exclusive')
      const plain = key === 'exclusiveMinimum' ? 'minimum' : 'maximum'
      const given = isExclusive && schema[key] === true ? (schema[plain] ?? true) : schema[key]
      if (given === undefined || (isExclusive && given === false)) continue
      if (typeof given !== 'number' || !Number.isFinite(given))
        refuse(`${at}/${key}`, schema[key], 'a finite number')
      bounds[key] = given
    }
    return bounds
  }

  function count(schema: Schema, key: string, at: string, otherwise: number): number {
    const given = schema[key] ?? otherwise
    if (given === otherwise || (typeof given === 'number' && Number.isInteger(given) && given >= 0))
      return given
    return refuse(`${at}/${key}`, given, 'a whole number from 0')
  }

  function string(schema: Schema, at: string): Expression {
    const minLength = count(schema, 'minLength', at, 0)
    const maxLength = count(schema, 'maxLength', at, Infinity)
    const sized = repeat(character, minLength, maxLength)
    const { pattern } = schema
    if (pattern !== undefined && typeof pattern !== 'string')
      refuse(`${at}/pattern`, pattern, 'a regular expression as a text')
    if (pattern === undefined) return quoted(minLength > maxLength ? algebra.nothing : sized)
    const matching = regularExpression(algebra, pattern, (ranges) => jsonCharacter(algebra, ranges), true)
    return quoted(minLength === 0 && maxLength === Infinity ? matching : both(matching, sized))
  }

  /** `count` items in brackets. */
  function list(first: readonly Expression[], rest: Expression, least: number, most: number): Expression {
    if (least > most) return algebra.nothing
    // From last to first: what may follow, each with its comma.
    const others = repeat(sequence(comma, rest), Math.max(0, least - first.length), most - first.length)
    let behind = first.length < most ? others : algebra.empty
    for (let i = Math.min(first.length, most) - 1; i >= 0; i--) {
      const here = sequence(i === 0 ? algebra.empty : comma, first[i], behind)
      behind = i < least ? here : optional(here)
    }
    const items =
      first.length > 0
        ? behind
        : most === 0
          ? algebra.empty
          : ((): Expression => {
              const some = sequence(rest, repeat(sequence(comma, rest), Math.max(0, least - 1), most - 1))
              return least > 0 ? some : optional(some)
            })()
    return sequence(text('['), items, text(']'))
  }

  function array(schema: Schema, at: string): Expression {
    const { items, prefixItems, additionalItems } = schema
    const minItems = count(schema, 'minItems', at, 0)
    const maxItems = count(schema, 'maxItems', at, Infinity)
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    const others: unknown = Array.isArray(items) ? additionalItems : items
    return list(
      first.map((item, i) => value(item, `${at}/items/${i}`)),
      others === undefined ? anyValue() : value(others, `${at}/items`),
      minItems,
      maxItems,
    )
  }

  function object(schema: Schema, at: string): Expression {
    const { properties, required = [], additionalProperties } = schema
    if (properties !== undefined && !isRecord(properties)) refuse(`${at}/properties`, properties, 'an object')
    if (!Array.isArray(required) || !required.every((name) => typeof name === 'string'))
      refuse(`${at}/required`, required, 'a list of names')
    const known = properties ?? {}
    const others = additionalProperties ?? properties === undefined
    const names = [...new Set([...Object.keys(known), ...required])]
    const isNeeded = new Set(required)
    const members = names.map((name) =>
      sequence(
        literal(name),
        colon,
        Object.hasOwn(known, name)
          ? value(known[name], `${at}/properties/${name}`)
          : value(additionalProperties ?? true, `${at}/additionalProperties`),
      ),
    )
    const otherName =
      names.length === 0
        ? anyString
        : both(
            anyString,
            not(
              texts(
                algebra,
                names.map((name) => JSON.stringify(name)),
              ),
            ),
          )
    const other =
      others === false
        ? algebra.nothing
        : sequence(otherName, colon, value(others, `${at}/additionalProperties`))
    const moreOthers = repeat(sequence(comma, other))
    // From last to first: what may follow if a member precedes, and if none does.
    let behind = moreOthers
    let leading = optional(sequence(other, moreOthers))
    for (let i = members.length - 1; i >= 0; i--) {
      const first = sequence(members[i], behind)
      const next = sequence(comma, first)
      leading = isNeeded.has(names[i]) ? first : choice(first, leading)
      behind = isNeeded.has(names[i]) ? next : choice(next, behind)
    }
    return sequence(text('{'), leading, text('}'))
  }

  return value(root, '')
}

/** Any of the texts. Shares common prefixes, so that a long list is not traversed for every byte. */
function texts(algebra: Algebra, list: readonly string[]): Expression {
  const encoder = new TextEncoder()
  const all = [...new Set(list)].map((text) => encoder.encode(text)).sort((a, b) => Buffer.compare(a, b))
  /** The texts from index `from` to `to`, which agree in the first `depth` bytes. */
  function behind(from: number, to: number, depth: number): Expression {
    // A common prefix takes no recursive call per byte.
    let shared = depth
    while (shared < all[from].length && all[from][shared] === all[to - 1][shared]) shared++
    const parts: Expression[] = []
    let place = from
    if (all[from].length === shared) {
      parts.push(algebra.empty)
      place++
    }
    for (let next = place; place < to; place = next) {
      const byte = all[place][shared]
      while (next < to && all[next][shared] === byte) next++
      parts.push(algebra.sequence(algebra.bytes([byte, byte]), behind(place, next, shared + 1)))
    }
    const common = Array.from(all[from].subarray(depth, shared), (byte) => algebra.bytes([byte, byte]))
    return algebra.sequence(...common, algebra.choice(...parts))
  }
  return all.length === 0 ? algebra.nothing : behind(0, all.length, 0)
}

function decoded(pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return undefined
  }
}
