import { AgogeError } from '../error.ts'
import type { JsonSchema, ToolSpec } from './types.ts'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Looks up `#`, `#/$defs/name` and other JSON pointers inside the same schema; undefined where there is nothing. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let current: unknown = root
  const parts = decodeURIComponent(reference.slice(1)).split('/').slice(1)
  for (const part of parts) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(current)) current = current[Number(key)]
    else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key]
    else return undefined
  }
  return current
}

/** A schema's pattern as a regular expression, Unicode-aware where it can be; undefined where it is none. */
export function compilePattern(pattern: unknown): RegExp | undefined {
  if (typeof pattern !== 'string') return undefined
  // Patterns in the wild escape what Unicode mode does not let them escape.
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      continue
    }
  }
  return undefined
}

const single = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'] as const
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'] as const
const records = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/**
 * Refuses a tool whose input schema cannot be used: not an object schema, a reference that leads nowhere or
 * outside, a pattern that is no regular expression, a type that does not exist.
 *
 * @throws AgogeError (code `bad-tool-schema`) naming the tool and the place in its schema.
 */
export function checkToolSchema(tool: Pick<ToolSpec, 'name' | 'inputSchema'>): void {
  const root: unknown = tool.inputSchema
  const seen = new Set<unknown>()

  function refuse(at: string, problem: string, given: unknown, expected: string): never {
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

  function visit(schema: unknown, at: string): void {
    if (typeof schema === 'boolean' || seen.has(schema)) return
    if (!isRecord(schema)) refuse(at, 'there is no schema', schema, 'an object or a boolean')
    seen.add(schema)
    const { $ref, type, pattern, enum: choices, required } = schema
    if ($ref !== undefined) checkReference($ref, at)
    if (type !== undefined) {
      for (const name of Array.isArray(type) ? type : [type]) {
        if (!types.includes(name as string))
          refuse(`${at}/type`, 'the type is unknown', name, types.join(', '))
      }
    }
    if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0)) {
      refuse(`${at}/enum`, 'the choices are no list', choices, 'a list of at least one value')
    }
    if (
      required !== undefined &&
      !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
    ) {
      refuse(`${at}/required`, 'it is no list of names', required, 'a list of strings')
    }
    if (pattern !== undefined) {
      if (compilePattern(pattern) === undefined) {
        refuse(
          `${at}/pattern`,
          'the pattern is no regular expression',
          pattern,
          'an ECMAScript regular expression',
        )
      }
    }
    for (const key of single) if (isRecord(schema[key])) visit(schema[key], `${at}/${key}`)
    for (const key of lists) {
      const list = schema[key]
      if (Array.isArray(list)) list.forEach((item, i) => visit(item, `${at}/${key}/${i}`))
    }
    for (const key of records) {
      const record = schema[key]
      if (record === undefined) continue
      if (!isRecord(record)) refuse(`${at}/${key}`, 'it is no object', record, 'an object of schemas')
      for (const [name, item] of Object.entries(record)) visit(item, `${at}/${key}/${name}`)
    }
  }

  /** Follows a chain of bare references, which must lead to a schema and not in a circle. */
  function checkReference(reference: unknown, at: string): void {
    const chain = new Set<unknown>()
    let current = reference
    while (current !== undefined) {
      const target = typeof current === 'string' ? resolveReference(root as JsonSchema, current) : undefined
      if (target === undefined || chain.has(current)) {
        refuse(`${at}/$ref`, 'the reference leads nowhere', current, 'a pointer to a schema within this one')
      }
      chain.add(current)
      visit(target, current as string)
      current = isRecord(target) ? target.$ref : undefined
    }
  }

  if (!isRecord(root)) refuse('', 'there is no schema', root, 'a JSON Schema of an object')
  if (root.type !== undefined && root.type !== 'object') {
    refuse('/type', 'arguments are always an object', root.type, '"object"')
  }
  visit(root, '')
}
