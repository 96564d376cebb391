import type { ToolSpec } from '../../../tool/tool.ts'
import { tableServers } from './table-servers.ts'

/**
 * The structure of a tool's arguments without any name: `(n?,s,[s])` for two texts, of which one is in a list, and a number
 * that may be left out. s: text, n: number, b: boolean, e: choice.
 */
export const toolShape = ({ inputSchema }: Pick<ToolSpec, 'inputSchema'>): string =>
  objectShape(inputSchema, '()')

function objectShape(schema: unknown, [open, close]: string): string {
  const { properties, required } = asRecord(schema)
  const needed = new Set(Array.isArray(required) ? required : [])
  const parts = Object.entries(asRecord(properties)).map(
    ([name, property]) => `${shape(property)}${needed.has(name) ? '' : '?'}`,
  )
  return `${open}${parts.toSorted().join(',')}${close}`
}

function shape(given: unknown): string {
  const schema = asRecord(given)
  const choices = [schema['anyOf'], schema['oneOf']].find(Array.isArray)
  if (choices !== undefined) return shape(choices.find((one) => asRecord(one)['type'] !== 'null'))
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return 'e'
  const { type } = schema
  const name = Array.isArray(type) ? type.find((one) => one !== 'null') : type
  if (name === 'array') return `[${shape(schema['items'])}]`
  if (name === 'object') return objectShape(schema, '{}')
  return name === 'integer' || name === 'number' ? 'n' : name === 'boolean' ? 'b' : 's'
}

const serverShape = (shapes: readonly string[]): string => shapes.toSorted().join(' ')
let known: ReadonlySet<string> | undefined

/** Whether tools have, one by one, the argument structures of a server that models are judged on, whatever their names are. */
export function isTableShape(specs: readonly ToolSpec[]): boolean {
  known ??= new Set(Object.values(tableServers).map((tools) => serverShape(Object.values(tools))))
  return known.has(serverShape(specs.map(toolShape)))
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
