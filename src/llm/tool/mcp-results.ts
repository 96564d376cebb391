import type { CallToolResult } from '@modelcontextprotocol/client'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { defined } from '../../defined.ts'
import { limitedWork, type Work, WorkLimit } from '../../untrusted/linear-pattern.ts'
import { isRecord, type JsonSchema, schemaProblem } from '../../untrusted/schema-check.ts'
import { received, type Untrusted } from '../../untrusted/untrusted.ts'
import { isVisible, visibleLine } from '../../untrusted/visible-text.ts'
import type { ToolResult, ToolSpec } from './tool.ts'

/** A tool that the server lists but that cannot be called, and the reason. */
export interface UnusableTool {
  name: string
  reason: string
}

/** Tools that can be called, and others. */
export interface ListedTools {
  specs: ToolSpec[]
  unusable: UnusableTool[]
}

/** One page of `tools/list`. */
export interface ToolsPage {
  /** Each is checked alone, so that one wrong tool does not remove the others. */
  tools: Untrusted<ListedTools>
  count: number
  /** Goes back to the server, and nowhere else. */
  nextCursor?: string
}

/** Limit of steps for checking the schemas of one page. A hundred tools with a hundred properties need a quarter of it. */
const mostSteps = 1_000_000

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
      const specs: ToolSpec[] = []
      const unusable: UnusableTool[] = []
      const work = limitedWork(mostSteps)
      const patterns = new Set<string>()
      for (const [at, tool] of (result.tools as unknown[]).entries()) {
        const read = readTool(tool, at, (schema) => unusableSchema(schema, work, patterns))
        if ('reason' in read) unusable.push(read)
        else specs.push(read)
      }
      return {
        value: {
          tools: received({ specs, unusable }),
          count: result.tools.length,
          ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
        },
      }
    },
  },
}

/** Longest tool name that MCP allows. */
const longestName = 128
/** Characters of an unusable tool's name that are shown. */
const shownName = 64

/** Separates tools by name: a tool whose name cannot be shown is unusable, and its name is shortened or escaped. */
export function checkNames({ specs, unusable }: ListedTools): ListedTools {
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
  const unusable = sizeProblem(tool) ?? check(inputSchema)
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

/** Longest definition of a tool, as JSON, that is read. A model would not be shown a longer one either. */
const longestDefinition = 100_000

function sizeProblem(tool: Record<string, unknown>): string | undefined {
  try {
    const { length } = JSON.stringify(tool)
    if (length > longestDefinition)
      return `its definition has ${length} characters, and at most ${longestDefinition} are read`
  } catch (error) {
    // Nested too deep to be written: that is found where its schema is checked, and where it is redacted.
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
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

/** A result with a longer text is an error: nobody reads it. */
const longestResult = 1_000_000
/**
 * Longest text that is kept of a result; the rest is cut off. Hiding secrets in a longer one and searching it for values would hold up the
 * run, and a model is shown far less.
 */
const longestKept = 100_000
/** Kept until secrets are hidden, so that none is cut in two. */
const margin = 10_000
const mostItems = 10_000
/** Deepest nesting of structured content: later readers recurse. */
const mostNesting = 128

/**
 * Checks the result of `tools/call` and formats it as text for the policy. Text blocks and embedded text are joined by line
 * breaks; other content is named in brackets. If there is only structured content, the text is its JSON. A result that is too
 * long is an error that says so. The client library would look at each item in several ways, which takes seconds for a million.
 */
export const callResult: StandardSchemaV1<unknown, Untrusted<ToolResult>> = {
  '~standard': {
    version: 1,
    vendor: 'agoge',
    validate(result) {
      const problem = resultProblem(result)
      return problem === undefined
        ? { value: received(toToolResult(result as CallToolResult)) }
        : { issues: [{ message: problem }] }
    },
  },
}

function resultProblem(result: unknown): string | undefined {
  if (!isRecord(result)) return 'the result is no object'
  const { content = [], structuredContent, isError } = result
  if (!Array.isArray(content)) return '"content" is no list'
  if (isError !== undefined && typeof isError !== 'boolean') return '"isError" is neither true nor false'
  if (structuredContent !== undefined && !isRecord(structuredContent))
    return '"structuredContent" is no object'
  if (isDeep(structuredContent)) return `"structuredContent" is nested more than ${mostNesting} levels deep`
  const wrong = (content as unknown[]).findIndex((block) => !isBlock(block))
  return wrong < 0 ? undefined : `item ${wrong + 1} of "content" is not of the protocol`
}

function isBlock(block: unknown): boolean {
  if (!isRecord(block)) return false
  const { type, text, mimeType, resource, uri } = block
  switch (type) {
    case 'text':
      return typeof text === 'string'
    case 'image':
    case 'audio':
      return typeof mimeType === 'string'
    case 'resource':
      return (
        isRecord(resource) &&
        typeof resource.uri === 'string' &&
        [resource.text, resource.mimeType].every((part) => part === undefined || typeof part === 'string')
      )
    case 'resource_link':
      return typeof uri === 'string'
    default:
      // A later revision of the protocol may have more.
      return typeof type === 'string'
  }
}

function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= mostNesting; depth++) {
    level = level.flatMap((item): unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    )
    if (level.length === 0) return false
  }
  return true
}

/** A `CallToolResult` of the protocol as text. */
function toToolResult(result: CallToolResult): ToolResult {
  const { structuredContent, isError = false } = result
  // A server of an earlier revision may leave it out where there is structured content.
  const content: readonly Block[] = (result as { content?: CallToolResult['content'] }).content ?? []
  if (content.length > mostItems)
    return {
      text: `the result has ${content.length} items, and at most ${mostItems} are read`,
      isError: true,
    }
  const json = structuredContent === undefined ? '' : JSON.stringify(structuredContent)
  const text = content.length === 0 ? json : content.map(blockText).join('\n')
  const longest = Math.max(text.length, json.length)
  if (longest > longestResult) return tooLong(longest)
  const structured = json.length > longestKept ? undefined : structuredContent
  return { text: text.slice(0, longestKept + margin), isError, ...defined({ structured }) }
}

/** The result with the front of its text, if it is long. Secrets must be hidden in it already. */
export function cutResult(result: ToolResult): ToolResult {
  return result.text.length <= longestKept
    ? result
    : { ...result, text: `${result.text.slice(0, longestKept)}…` }
}

/** An error that the server reports as the result of a call. */
export function toErrorResult(message: string): Untrusted<ToolResult> {
  return received(
    message.length > longestResult
      ? tooLong(message.length)
      : { text: message.slice(0, longestKept + margin), isError: true },
  )
}

function tooLong(length: number): ToolResult {
  return { text: `the result has ${length} characters, and at most ${longestResult} are read`, isError: true }
}
