import { AgogeError } from '../../error.ts'
import { InfrastructureError } from './infrastructure-error.ts'
import { readInputSchema } from './input-schema.ts'
import type { InputSchema } from './input-schema.ts'
import { checkToolSchema } from '../../untrusted/schema-check.ts'
import type { Toolbox, ToolCallOptions, ToolResult, ToolSpec } from './types.ts'

/** A tool as the AI SDK's `tool()` makes it; written by hand, an object with these three fields is enough. */
export interface ToolLike {
  description?: string | undefined
  /** Any Standard Schema, the AI SDK's `jsonSchema()`, or plain JSON Schema. */
  inputSchema: object
  /** Gets arguments that fit the schema; the policy sees what it throws as an error of the tool. */
  execute?(
    input: never,
    options: { toolCallId: string; messages: never[]; abortSignal?: AbortSignal },
  ): unknown
  annotations?: ToolSpec['annotations']
}

/**
 * Tools of one's own code as a toolbox, by name.
 *
 * ```ts
 * const toolbox = await defineTools({
 *   add: {
 *     description: 'Adds two numbers.',
 *     inputSchema: z.object({ a: z.number(), b: z.number() }),
 *     execute: ({ a, b }: { a: number; b: number }) => a + b,
 *   },
 * })
 * ```
 *
 * Results become text: strings as they are, anything else as JSON. An `execute` that throws `InfrastructureError` says
 * that the environment broke, not the agent.
 *
 * @throws AgogeError where a tool has no `execute` or its schema cannot be used.
 */
export async function defineTools(tools: Record<string, ToolLike>): Promise<Toolbox> {
  const read = await readTools(tools)
  return { specs: read.specs, call: (...call) => callTool(read, ...call) }
}

/** Tools with their schemas read. */
export interface ReadTools {
  specs: ToolSpec[]
  entries: ReadonlyMap<string, { tool: ToolLike; schema: InputSchema }>
}

/** Reads and checks the schemas of tools. @throws AgogeError as `defineTools` does. */
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
      ...(tool.description === undefined ? {} : { description: tool.description }),
      inputSchema: schema.json,
      ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    }
    checkToolSchema(spec)
    entries.set(name, { tool, schema })
    specs.push(spec)
  }
  return { specs, entries }
}

/** Calls one of the tools; what its function throws becomes an error of the tool. */
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
      ...(options.signal === undefined ? {} : { abortSignal: options.signal }),
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

/** A tool may report progress as it goes (an async iterable); its last value is the result. */
async function lastOf(output: unknown): Promise<unknown> {
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
