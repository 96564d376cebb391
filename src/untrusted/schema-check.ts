import { AgogeError } from '../error.ts'
import { limitedWork, readingSteps, readPattern } from './linear-pattern.ts'
import type { Work } from './linear-pattern.ts'

/** JSON Schema (draft 2020-12 or 7) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown }

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Resolves `#`, `#/$defs/name` and other JSON pointers in the same schema; undefined if the target does not exist. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  let current: unknown = root
  for (const part of decoded(reference.slice(1))?.split('/').slice(1) ?? [undefined]) {
    if (part === undefined) return undefined
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(current)) current = current[Number(key)]
    else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

function decoded(pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return undefined
  }
}

const single = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'] as const
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'] as const
const records = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const descending = new Set<string>([...single, ...lists, ...records])
const combining = new Set(['$ref', 'not', 'anyOf', 'oneOf', 'allOf'])
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** Most steps to check the schema of one tool: values in the schema, and steps of its patterns' automata. */
const mostSteps = 1_000_000
/** What the parts of a schema cost, compared with another value: a schema, an object, a step of a pattern's automaton. */
const stepsOfSchema = 20
const stepsOfObject = 3
const stepsOfState = 2
/** Deepest nesting of objects and lists. */
const mostNesting = 128
/** Longest chain of references and combinators at the same value. */
const mostHops = 128

/** The first fault of a schema: place, problem, and what is expected. */
export interface SchemaProblem {
  at: string
  problem: string
  given: unknown
  expected: string
}

/**
 * Refuses a tool with an unusable input schema: not an object schema, an invalid, external or circular reference, a
 * pattern that is invalid or cannot be matched in linear time, or an unknown type.
 *
 * @throws AgogeError `bad-tool-schema` naming the tool and the place in its schema; WorkLimit for a schema that is too
 * large.
 */
export function checkToolSchema(tool: { name: string; inputSchema: JsonSchema }): void {
  const found = schemaProblem(tool.inputSchema, limitedWork(mostSteps))
  if (found === undefined) return
  const { at, problem, given, expected } = found
  throw new AgogeError(
    `The input schema of tool "${tool.name}" cannot be used: at ${at || '#'}, ${problem}.`,
    {
      code: 'bad-tool-schema',
      given,
      expected,
      hint: 'Correct the schema in the server, or leave this tool out.',
    },
  )
}

/**
 * The first fault of a tool's input schema; undefined if it is usable. Patterns already in `patterns` cost no further
 * steps; those of this schema are added.
 *
 * @throws WorkLimit if the check exceeds the steps of `work`.
 */
export function schemaProblem(
  root: unknown,
  work: Work,
  patterns = new Set<string>(),
): SchemaProblem | undefined {
  if (!isRecord(root)) {
    return { at: '', problem: 'there is no schema', given: root, expected: 'a JSON Schema of an object' }
  }
  if (root.type !== undefined && root.type !== 'object') {
    const problem = 'arguments are always an object'
    return { at: '/type', problem, given: root.type, expected: '"object"' }
  }
  return nestingProblem(root, work) ?? partProblem(root, work, patterns) ?? circleProblem(root)
}

/** Limits the depth, because later readers of a schema may recurse. */
function nestingProblem(root: JsonSchema, work: Work): SchemaProblem | undefined {
  const seen = new Set<unknown>()
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostNesting) {
      const expected = `objects and lists of at most ${mostNesting} levels`
      return { at: '', problem: 'it is nested too deep', given: `more than ${mostNesting} levels`, expected }
    }
    const next: unknown[] = []
    for (const value of level) {
      work.spend(1)
      if (typeof value !== 'object' || value === null || seen.has(value)) continue
      work.spend(stepsOfObject)
      seen.add(value)
      for (const item of Object.values(value)) next.push(item)
    }
    level = next
  }
  return undefined
}

interface Part {
  schema: unknown
  at: string
}

/** The subschemas of a schema. A value that should be an object of schemas but is not counts as a part too. */
function partsOf(schema: Record<string, unknown>, at: string): readonly Part[] {
  if (!Object.keys(schema).some((key) => descending.has(key))) return []
  const parts: Part[] = []
  for (const key of single) if (isRecord(schema[key])) parts.push({ schema: schema[key], at: `${at}/${key}` })
  for (const key of lists) {
    const list = schema[key]
    if (!Array.isArray(list)) continue
    for (const [i, item] of list.entries()) parts.push({ schema: item, at: `${at}/${key}/${i}` })
  }
  for (const key of records) {
    const record = schema[key]
    if (record === undefined) continue
    if (!isRecord(record)) parts.push({ schema: record, at: `${at}/${key}` })
    else
      for (const [name, item] of Object.entries(record))
        parts.push({ schema: item, at: `${at}/${key}/${name}` })
  }
  return parts
}

function partProblem(root: JsonSchema, work: Work, patterns: Set<string>): SchemaProblem | undefined {
  const seen = new Set<unknown>()
  const open: Part[] = [{ schema: root, at: '' }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { schema, at } = part
    work.spend(stepsOfSchema)
    if (typeof schema === 'boolean' || seen.has(schema)) continue
    if (!isRecord(schema)) {
      return { at, problem: 'there is no schema', given: schema, expected: 'an object or a boolean' }
    }
    seen.add(schema)
    const found = ownProblem(schema, at, work, patterns)
    if (found !== undefined) return found
    const { $ref } = schema
    if ($ref !== undefined) {
      if (typeof $ref === 'string') work.spend($ref.length)
      const target = typeof $ref === 'string' ? resolveReference(root, $ref) : undefined
      if (target === undefined) {
        const expected = 'a pointer to a schema within this one'
        return { at: `${at}/$ref`, problem: 'the reference leads nowhere', given: $ref, expected }
      }
      open.push({ schema: target, at: $ref as string })
    }
    for (const inner of partsOf(schema, at).toReversed()) open.push(inner)
  }
  return undefined
}

/** Problems of the keywords of one schema, without its parts. */
function ownProblem(
  schema: Record<string, unknown>,
  at: string,
  work: Work,
  patterns: Set<string>,
): SchemaProblem | undefined {
  const { type, pattern, patternProperties, enum: choices, required } = schema
  for (const name of Array.isArray(type) ? type : type === undefined ? [] : [type]) {
    if (types.includes(name as string)) continue
    return { at: `${at}/type`, problem: 'the type is unknown', given: name, expected: types.join(', ') }
  }
  if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0)) {
    const expected = 'a list of at least one value'
    return { at: `${at}/enum`, problem: 'the choices are no list', given: choices, expected }
  }
  // In draft 3 a property itself declared whether it was required; servers still do that.
  const isList = Array.isArray(required) && required.every((name) => typeof name === 'string')
  if (required !== undefined && typeof required !== 'boolean' && !isList) {
    const problem = 'it is no list of names'
    return { at: `${at}/required`, problem, given: required, expected: 'a list of strings' }
  }
  if (pattern !== undefined) {
    const found = patternProblem(pattern, `${at}/pattern`, work, patterns)
    if (found !== undefined) return found
  }
  for (const name of isRecord(patternProperties) ? Object.keys(patternProperties) : []) {
    const found = patternProblem(name, `${at}/patternProperties`, work, patterns)
    if (found !== undefined) return found
  }
  return undefined
}

function patternProblem(
  source: unknown,
  at: string,
  work: Work,
  patterns: Set<string>,
): SchemaProblem | undefined {
  const expected = 'an ECMAScript regular expression without references to groups'
  if (typeof source !== 'string') return { at, problem: 'the pattern is no text', given: source, expected }
  if (!patterns.has(source)) work.spend(readingSteps(source))
  const pattern = readPattern(source)
  // Finding out that a pattern cannot be used is work too.
  if (!patterns.has(source)) work.spend(stepsOfState * pattern.size)
  if ('unusable' in pattern) return { at, problem: pattern.unusable, given: source, expected }
  patterns.add(source)
  return undefined
}

/**
 * Refuses references and combinators that form a cycle without descending into the value: nothing can be checked
 * against `{ anyOf: [{ $ref: '#' }] }`.
 */
function circleProblem(root: JsonSchema): SchemaProblem | undefined {
  const heights = new Map<unknown, number>()
  const active = new Set<unknown>()
  let problem: SchemaProblem | undefined

  function height({ schema, at }: Part): number {
    if (!isRecord(schema) || problem !== undefined) return 0
    if (!Object.keys(schema).some((key) => combining.has(key))) return 1
    const known = heights.get(schema)
    if (known !== undefined) return known
    if (active.has(schema) || active.size > mostHops) {
      const expected = `a schema that is reached in at most ${mostHops} steps`
      const what = active.has(schema) ? 'it leads back to where it stands' : 'it leads on and on'
      problem = { at, problem: what, given: schema.$ref ?? Object.keys(schema).join(', '), expected }
      return 0
    }
    active.add(schema)
    let most = 0
    for (const part of alternativesOf(root, schema, at)) most = Math.max(most, height(part))
    active.delete(schema)
    heights.set(schema, most + 1)
    if (most >= mostHops) {
      const expected = `at most ${mostHops} references and combinators one after the other`
      problem ??= { at, problem: 'it leads on and on', given: schema.$ref, expected }
    }
    return most + 1
  }

  const seen = new Set<unknown>()
  const open: Part[] = [{ schema: root, at: '' }]
  for (let part = open.pop(); part !== undefined && problem === undefined; part = open.pop()) {
    if (!isRecord(part.schema) || seen.has(part.schema)) continue
    seen.add(part.schema)
    height(part)
    for (const inner of partsOf(part.schema, part.at)) open.push(inner)
  }
  return problem
}

/** The schemas that apply to the same value. */
function alternativesOf(root: JsonSchema, schema: Record<string, unknown>, at: string): Part[] {
  const { $ref, not } = schema
  const parts: Part[] = []
  if (typeof $ref === 'string') parts.push({ schema: resolveReference(root, $ref), at: $ref })
  if (not !== undefined) parts.push({ schema: not, at: `${at}/not` })
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
    const list = schema[key]
    if (!Array.isArray(list)) continue
    for (const [i, item] of list.entries()) parts.push({ schema: item, at: `${at}/${key}/${i}` })
  }
  return parts
}
