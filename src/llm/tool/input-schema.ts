import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { AgogeError } from '../../error.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import type { JsonSchema } from '../../untrusted/schema-check.ts'
import { validateArguments } from '../../untrusted/validate.ts'

export interface InputSchema {
  json: JsonSchema
  /** The value as the tool receives it (defaults and transformations applied), or the first problem in few words. */
  read(value: unknown): Promise<{ value: unknown } | { problem: string }>
}

type Standard = { '~standard': StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> }

function isStandard(schema: unknown): schema is Standard {
  const known = (typeof schema === 'object' || typeof schema === 'function') && schema !== null
  return known && '~standard' in schema && isRecord(schema['~standard'])
}

/**
 * Understands what stands in an `inputSchema`: any Standard Schema (zod, arktype, valibot with its JSON Schema
 * converter), the AI SDK's `jsonSchema()` objects, a function giving either, or plain JSON Schema.
 *
 * @throws AgogeError (code `bad-tool-schema`) naming the tool.
 */
export async function readInputSchema(tool: string, given: unknown): Promise<InputSchema> {
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
      // Earlier versions of zod 4 convert by a function of the package only.
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
