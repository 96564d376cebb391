import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { checkToolSchema, isRecord, type JsonSchema } from '../../untrusted/schema-check.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import {
  InfrastructureError,
  type Toolbox,
  type ToolCallOptions,
  type ToolResult,
  type ToolSpec,
} from './tool.ts'

interface InputSchema {
  json: JsonSchema
  /** Returns the value that the tool receives, with defaults and transformations applied, or the first problem. */
  read(value: unknown): Promise<{ value: unknown } | { problem: string }>
}

type Standard = { '~standard': StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> }

function isStandard(schema: unknown): schema is Standard {
  const known = (typeof schema === 'object' || typeof schema === 'function') && schema !== null
  return known && '~standard' in schema && isRecord(schema['~standard'])
}

/**
 * Reads an `inputSchema`. It can be a Standard Schema (zod, arktype, valibot with its JSON Schema converter), an AI SDK
 * `jsonSchema()` object, a function that returns either, or plain JSON Schema.
 *
 * @throws AgogeError `bad-tool-schema`, with the name of the tool.
 */
async function readInputSchema(tool: string, given: unknown): Promise<InputSchema> {
  const schema: unknown = typeof given === 'function' && !isStandard(given) ? await given() : given
  if (isStandard(schema))
    return { json: await standardJson(tool, schema), read: (value) => readStandard(schema, value) }
  if (!isRecord(schema)) throw unusable(tool, given)
  const wrapped = 'jsonSchema' in schema
  const json: unknown = wrapped ? await schema.jsonSchema : schema
  if (!isRecord(json)) throw unusable(tool, json)
  const validate =
    wrapped && typeof schema.validate === 'function' ? (schema.validate as AiValidate) : undefined
  return {
    json,
    async read(value) {
      const problem = validateArguments(json, value)
      if (problem !== undefined) return { problem }
      const result = await validate?.(value)
      if (result === undefined) return { value }
      return result.success ? { value: result.value } : { problem: result.error.message }
    },
  }
}

type AiResult = { success: true; value: unknown } | { success: false; error: Error }
type AiValidate = (value: unknown) => AiResult | PromiseLike<AiResult>

async function standardJson(tool: string, schema: Standard): Promise<JsonSchema> {
  const { jsonSchema, vendor } = schema['~standard']
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' })
    if (vendor === 'zod') {
      // The first versions of zod 4 have no converter on the schema; only the package exports one.
      const { toJSONSchema } = await import('zod')
      return toJSONSchema(schema as never, { io: 'input' }) as JsonSchema
    }
  } catch (cause) {
    throw unusable(tool, vendor, cause)
  }
  throw unusable(tool, vendor)
}

async function readStandard(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown } | { problem: string }> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return { value: result.value }
  const issue = result.issues[0]
  const path = (issue?.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  const message = issue?.message ?? 'invalid arguments'
  return { problem: path === '' ? message : `"${path}": ${message}` }
}

function unusable(tool: string, given: unknown, cause?: unknown): AgogeError {
  return new AgogeError(`The inputSchema of tool "${tool}" cannot be used as JSON Schema.`, {
    code: 'bad-tool-schema',
    given,
    expected:
      'a Standard Schema that converts to JSON Schema (zod 4), jsonSchema() of the AI SDK, or JSON Schema',
    hint: 'With a schema library that has no converter, pass the JSON Schema itself.',
    cause,
  })
}

/** A tool in the shape of the AI SDK's `tool()`. An object with these fields also works. */
export interface ToolLike {
  description?: string | undefined
  /** A Standard Schema, an AI SDK `jsonSchema()` object, or plain JSON Schema. */
  inputSchema: object
  /** Receives arguments that match the schema. The policy sees a thrown error as an error of the tool. */
  execute?(
    input: never,
    options: { toolCallId: string; messages: never[]; abortSignal?: AbortSignal },
  ): unknown
  annotations?: ToolSpec['annotations']
}

/**
 * Makes a toolbox of functions.
 *
 * A string result is passed on as it is; any other result becomes JSON. If `execute` throws, the policy sees an error
 * of the tool. Throw `InfrastructureError` if the environment failed and the agent is not at fault.
 *
 * @returns the tools by name, with their schemas read.
 * @throws AgogeError `bad-tool` if a tool has no `execute`, `bad-tool-schema` if its schema cannot be used.
 * @example
 * const toolbox = await defineTools({
 *   add: {
 *     description: 'Adds two numbers.',
 *     inputSchema: z.object({ a: z.number(), b: z.number() }),
 *     execute: ({ a, b }: { a: number; b: number }) => a + b,
 *   },
 * })
 */
export async function defineTools(tools: Record<string, ToolLike>): Promise<Toolbox> {
  const read = await readTools(tools)
  return { specs: read.specs, call: (...call) => callTool(read, ...call) }
}

/** Tools whose schemas have been read. */
export interface ReadTools {
  specs: ToolSpec[]
  entries: ReadonlyMap<string, { tool: ToolLike; schema: InputSchema }>
}

/**
 * Reads and checks the schemas of tools.
 *
 * @throws AgogeError as `defineTools` does.
 */
export async function readTools(tools: Record<string, ToolLike>): Promise<ReadTools> {
  const entries = new Map<string, { tool: ToolLike; schema: InputSchema }>()
  const specs: ToolSpec[] = []
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool.execute !== 'function') {
      throw new AgogeError(`Tool "${name}" has no execute function.`, {
        code: 'bad-tool',
        given: Object.keys(tool).join(', '),
        expected: 'description, inputSchema and execute',
      })
    }
    const schema = await readInputSchema(name, tool.inputSchema)
    const spec: ToolSpec = {
      name,
      ...defined({ description: tool.description }),
      inputSchema: schema.json,
      ...defined({ annotations: tool.annotations }),
    }
    checkToolSchema(spec)
    entries.set(name, { tool, schema })
    specs.push(spec)
  }
  return { specs, entries }
}

/** Calls a tool. An error that its function throws becomes an error of the tool. */
export async function callTool(
  { entries }: ReadTools,
  name: string,
  args: Record<string, unknown>,
  options: ToolCallOptions = {},
): Promise<ToolResult> {
  options.signal?.throwIfAborted()
  const entry = entries.get(name)
  if (entry === undefined) return failure(`unknown tool ${name}`)
  const read = await entry.schema.read(args)
  if ('problem' in read) return failure(read.problem)
  try {
    const output = await entry.tool.execute?.(read.value as never, {
      toolCallId: options.id ?? name,
      messages: [],
      ...defined({ abortSignal: options.signal }),
    })
    return toResult(await lastOf(output))
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof InfrastructureError || AgogeError.isInstance(error)) throw error
    return failure(error instanceof Error ? error.message : String(error))
  }
}

function failure(problem: string): ToolResult {
  return { text: `error: ${problem}`, isError: true }
}

/** If a tool reports progress through an async iterable, its last value is the result. */
export async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return output
  let last: unknown
  for await (const value of output as AsyncIterable<unknown>) last = value
  return last
}

function toResult(output: unknown): ToolResult {
  if (typeof output === 'string') return { text: output, isError: false }
  if (output === undefined) return { text: '', isError: false }
  return { text: JSON.stringify(output) ?? '', isError: false, structured: output }
}
