import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { isPlainObject } from '../salient.ts'
import type { Knowledge } from './knowledge.ts'
import { asksForText } from './known-records.ts'
import { asObject, resolveSchema } from './schema-parts.ts'
import { type Topic, topicOf } from './topics.ts'

/** The tool that arguments are made for. */
interface ToolContext {
  tool: string | undefined
  knowledge: Knowledge | undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Whether some property of an object, or of the items of its lists, asks for a text that is there already. */
export function wantsText(schema: JsonSchema, root: JsonSchema, depth = 0): boolean {
  return Object.entries(asObject(schema['properties'])).some(([name, property]) => {
    if (!isPlainObject(property)) return false
    if (asksForText(name, property['description'])) return true
    const items = property['items']
    return depth < 2 && isPlainObject(items) && wantsText(resolveSchema(items, root, name), root, depth + 1)
  })
}

/** Texts that are written for a call. A value of a record would be none, though a record may have fitting parts. */
const written = new Set<Topic | undefined>(['sql', 'expression', 'regex', 'glob', 'code', 'cron'])

export function isWritten(name: string, property: JsonSchema, context: ToolContext): boolean {
  return written.has(topicOfProperty(name, property, context))
}

/** Whether a call is a statement of SQL, which says all that is wanted: what else it takes says how the statement is run. */
export function isStatement(
  properties: Record<string, JsonSchema>,
  needed: ReadonlySet<unknown>,
  root: JsonSchema,
  context: ToolContext,
): boolean {
  return Object.entries(properties).some(
    ([name, property]) =>
      needed.has(name) && topicOfProperty(name, resolveSchema(property, root, name), context) === 'sql',
  )
}

function topicOfProperty(
  name: string,
  { description }: JsonSchema,
  { tool, knowledge }: ToolContext,
): Topic | undefined {
  const about = tool === undefined ? '' : knowledge?.about(tool)
  return topicOf(name, isText(description) ? description.slice(0, 500) : '', about)
}

/** Whether the paths of an object are those of files or of folders; undefined if it has none. */
export function pathsOf(
  properties: Record<string, JsonSchema>,
  root: JsonSchema,
  context: ToolContext,
): 'file' | 'directory' | undefined {
  const { tool, knowledge } = context
  if (tool === undefined || knowledge === undefined) return undefined
  const topics = Object.keys(properties)
    .slice(0, 20)
    .map((name) => {
      const property = resolveSchema(properties[name], root, name)
      const said = [property['description'], knowledge.hints(tool, name)?.said]
        .filter(isText)
        .join(' ')
        .slice(0, 500)
      return topicOf(name, said, knowledge.about(tool))
    })
  if (topics.includes('directory')) return 'directory'
  // What moves or describes paths takes both kinds.
  return topics.filter((topic) => topic === 'path').length === 1 &&
    /^\S*(?:read|write|edit|append|file)/i.test(knowledge.about(tool))
    ? 'file'
    : undefined
}
