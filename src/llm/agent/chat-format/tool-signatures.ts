import { type JsonSchema, resolveReference } from '../../../untrusted/schema-check.ts'
import type { ToolSpec } from '../../tool/tool.ts'

/** How much of each tool a prompt says. */
interface Detail {
  /** Most characters of a description. */
  description: number
  /** Whether `: string` is written. */
  strings: boolean
  /** Whether optional arguments are listed. */
  optional: boolean
  arguments: boolean
  /** Most choices of an enum. */
  choices: number
}

/** From the most detailed to the shortest. */
const details: readonly Detail[] = [
  { description: 100, strings: true, optional: true, arguments: true, choices: 12 },
  { description: 60, strings: true, optional: true, arguments: true, choices: 8 },
  { description: 36, strings: false, optional: true, arguments: true, choices: 6 },
  { description: 0, strings: false, optional: true, arguments: true, choices: 4 },
  { description: 0, strings: false, optional: false, arguments: true, choices: 3 },
  { description: 0, strings: false, optional: false, arguments: false, choices: 0 },
]

/**
 * One line for a tool: `add_note(title: string, tags?: string[]) Adds a note`.
 *
 * @example
 * toolSignature({ name: 'ping', inputSchema: { type: 'object' } }) // 'ping()'
 */
export function toolSignature(tool: ToolSpec, detail: Detail = details[0]): string {
  const { name, description = '', inputSchema } = tool
  const said = firstSentence(description, detail.description)
  const inner = detail.arguments ? propertiesText(inputSchema, inputSchema, detail, 0) : ''
  const args = detail.arguments ? `(${inner})` : ''
  return `${name}${args}${said === '' ? '' : ` ${said}`}`
}

/**
 * The tools of a prompt, one per line after the line "Tools:", with as much detail as `fits` accepts. If even the bare
 * names do not fit, the last tools are left out and the last line says how many.
 */
export function toolSignatures(tools: readonly ToolSpec[], fits: (text: string) => boolean): string {
  const write = (lines: readonly string[]): string => ['Tools:', ...lines].join('\n')
  for (const detail of details) {
    const text = write(tools.map((tool) => toolSignature(tool, detail)))
    if (fits(text)) return text
  }
  const names = tools.map(({ name }) => name)
  for (let count = names.length - 1; count > 0; count -= 1) {
    const text = write([...names.slice(0, count), `and ${names.length - count} more`])
    if (fits(text)) return text
  }
  return ''
}

/** The first sentence without its full stop, cut at a word. */
function firstSentence(text: string, most: number): string {
  const [first] = text.trim().split(/\n|(?<=[.!?])\s/)
  const sentence = first.replace(/\s+/g, ' ').replace(/[.:]$/, '')
  if (sentence.length <= most) return sentence
  const cut = sentence.slice(0, most + 1)
  const space = cut.lastIndexOf(' ')
  return space <= 0 ? '' : cut.slice(0, space).replace(/[,;:]$/, '')
}

const deepest = 4

function propertiesText(given: unknown, root: JsonSchema, detail: Detail, depth: number): string {
  const schema = resolved(given, root)
  const { properties, required } = schema
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(asRecord(properties))
    .filter(([name]) => detail.optional || needed.has(name))
    .map(([name, property]) => {
      const type = typeText(property, root, detail, depth)
      const mark = needed.has(name) ? '' : '?'
      return type === 'string' && !detail.strings ? `${name}${mark}` : `${name}${mark}: ${type}`
    })
    .join(', ')
}

function typeText(given: unknown, root: JsonSchema, detail: Detail, depth: number): string {
  const schema = resolved(given, root)
  const { type, items, format } = schema
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : []
  if (choices.length > 0) return choicesText(choices, detail.choices)
  const name = Array.isArray(type) ? type.find((one) => one !== 'null') : type
  if (name === 'array' || (name === undefined && items !== undefined)) {
    const inner = items === undefined || depth >= deepest ? 'any' : typeText(items, root, detail, depth + 1)
    return inner.includes('|') && !inner.endsWith('}') ? `(${inner})[]` : `${inner}[]`
  }
  if (name === 'object' || schema['properties'] !== undefined) {
    const inner = depth >= deepest ? '' : propertiesText(schema, root, detail, depth + 1)
    return inner === '' ? 'object' : `{${inner}}`
  }
  if (name === 'string' && typeof format === 'string' && /^(?:date|date-time|time|email|uri)$/.test(format))
    return format
  return typeof name === 'string' ? name : 'any'
}

function choicesText(choices: readonly unknown[], most: number): string {
  const shown = choices.slice(0, Math.max(most, 1)).map((choice) => {
    return typeof choice === 'string' && /^[\w.-]+$/.test(choice) ? choice : JSON.stringify(choice)
  })
  return [...shown, ...(choices.length > shown.length ? ['...'] : [])].join('|')
}

/** Follows local references, and takes the first alternative that is not null. */
function resolved(given: unknown, root: JsonSchema): Record<string, unknown> {
  let schema = asRecord(given)
  for (let steps = 0; steps < 8; steps += 1) {
    const { $ref, anyOf, oneOf, allOf } = schema
    const choices = [anyOf, oneOf, allOf].find(Array.isArray)
    if (typeof $ref === 'string') schema = asRecord(resolveReference(root, $ref))
    else if (choices !== undefined && schema['properties'] === undefined) {
      const usable = choices.find((choice) => asRecord(choice)['type'] !== 'null')
      if (usable === undefined) return schema
      schema = asRecord(usable)
    } else return schema
  }
  return {}
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
