import type { CallToolResult } from '@modelcontextprotocol/client'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { defined } from '../../defined.ts'
import { limitedWork, type Work, WorkLimit } from '../../untrusted/linear-pattern.ts'
import { isRecord, type JsonSchema, schemaProblem } from '../../untrusted/schema-check.ts'
import { isVisible, visibleLine } from '../../untrusted/visible-text.ts'
import type { ToolResult, ToolSpec } from './tool.ts'

/** A tool that the server lists but that cannot be called, and the reason. */
export interface UnusableTool {
  name: string
  reason: string
}

/** One page of `tools/list`. Each tool is checked alone, so that one wrong tool does not remove the others. */
export interface ToolsPage {
  specs: ToolSpec[]
  unusable: UnusableTool[]
  nextCursor?: string
}

/**
 * Limit of steps for checking the schemas of one page. A hundred tools with hundreds of properties need less than a
 * tenth of it.
 */
const mostSteps = 2_000_000

/**
 * Checks the result of `tools/list`, tool by tool. The client library would refuse all tools of a server because of one
 * invalid schema.
 */
export const toolsPage: StandardSchemaV1<unknown, ToolsPage> = {
  '~standard': {
    version: 1,
    vendor: 'agoge',
    validate(result) {
      if (!isRecord(result) || !Array.isArray(result.tools))
        return { issues: [{ message: 'the answer has no list "tools"' }] }
      const { nextCursor } = result
      const page: ToolsPage = {
        specs: [],
        unusable: [],
        ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
      }
      const work = limitedWork(mostSteps)
      const patterns = new Set<string>()
      for (const [at, tool] of (result.tools as unknown[]).entries()) {
        const read = readTool(tool, at, (schema) => unusableSchema(schema, work, patterns))
        if ('reason' in read) page.unusable.push(read)
        else page.specs.push(read)
      }
      return { value: page }
    },
  },
}

/** Longest tool name that MCP allows. */
const longestName = 128
/** Characters of an unusable tool's name that are shown. */
const shownName = 64

/** Separates tools by name: a tool whose name cannot be shown is unusable, and its name is shortened or escaped. */
export function checkNames({
  specs,
  unusable,
}: Omit<ToolsPage, 'nextCursor'>): Omit<ToolsPage, 'nextCursor'> {
  const wrong = specs.flatMap(({ name }): UnusableTool[] => {
    if (name.length > longestName)
      return [{ name, reason: `its name has ${name.length} characters, and MCP allows ${longestName}` }]
    return isVisible(name) ? [] : [{ name, reason: 'its name has characters that cannot be seen' }]
  })
  const names = new Set(wrong.map(({ name }) => name))
  return {
    specs: specs.filter(({ name }) => !names.has(name)),
    unusable: [...unusable, ...wrong].map(({ name, reason }) => ({
      name: visibleLine(name, shownName),
      reason,
    })),
  }
}

const schemaTypes = ['array', 'boolean', 'integer', 'null', 'number', 'string']

function readTool(
  tool: unknown,
  at: number,
  check: (schema: JsonSchema) => string | undefined,
): ToolSpec | UnusableTool {
  if (!isRecord(tool)) return { name: `number ${at + 1}`, reason: 'it is no object' }
  const { name, description, inputSchema, outputSchema, annotations } = tool
  if (typeof name !== 'string' || name === '') return { name: `number ${at + 1}`, reason: 'it has no name' }
  if (!isRecord(inputSchema)) return { name, reason: 'it has no "inputSchema", which must be an object' }
  if (inputSchema.type !== 'object') {
    const type = schemaTypes.find((name) => name === inputSchema.type)
    const given =
      inputSchema.type === undefined ? 'missing' : type === undefined ? 'something else' : `"${type}"`
    return { name, reason: `"inputSchema.type" must be "object", and is ${given}` }
  }
  const unusable = check(inputSchema)
  if (unusable !== undefined) return { name, reason: unusable }
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema,
    ...(isRecord(outputSchema) ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations: readAnnotations(annotations) } : {}),
  }
}

/** The reason why calls cannot be checked against a schema, or undefined if they can. */
function unusableSchema(schema: JsonSchema, work: Work, patterns: Set<string>): string | undefined {
  try {
    const found = schemaProblem(schema, work, patterns)
    if (found === undefined) return undefined
    // The value is not quoted because it may contain a secret. The path is shortened because the server decides its
    // length.
    const place = found.at.length > 200 ? 'deep inside' : `at ${JSON.stringify(found.at || '#')} of`
    return `${found.problem} (${place} its "inputSchema")`
  } catch (error) {
    if (!(error instanceof WorkLimit)) throw error
    return `its "inputSchema" cannot be checked: with those before it, ${error.message}`
  }
}

type Annotations = NonNullable<ToolSpec['annotations']>

function readAnnotations(given: Record<string, unknown>): Annotations {
  const annotations: Annotations = {}
  for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const) {
    const value = given[hint]
    if (typeof value === 'boolean') annotations[hint] = value
  }
  return annotations
}

type Block = CallToolResult['content'][number]

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}]`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[resource ${block.resource.uri}${block.resource.mimeType === undefined ? '' : ` ${block.resource.mimeType}`}]`
    case 'resource_link':
      return `[resource ${block.uri}]`
    default:
      return `[${String((block as { type: unknown }).type)}]`
  }
}

/**
 * Formats a tool's result as text for the policy. Text blocks and embedded text are joined by line breaks; other
 * content is named in brackets. If there is only structured content, the text is its JSON.
 *
 * @param result a `CallToolResult` of the protocol. Its type is written out because declarations must not import types
 * of the MCP SDK, which need those of Node.
 */
export function toToolResult(result: {
  content?: readonly unknown[]
  structuredContent?: ToolResult['structured']
  isError?: boolean | undefined
}): ToolResult {
  const content = (result.content ?? []) as readonly Block[]
  const structured = result.structuredContent
  const text =
    content.length === 0 && structured !== undefined
      ? JSON.stringify(structured)
      : content.map(blockText).join('\n')
  return { text, isError: result.isError === true, ...defined({ structured }) }
}
