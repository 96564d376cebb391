// Hostile pairs of schema and value, each checked in a process of its own. Alone: json-schema.ts CHECKER PAIR.
import { fileURLToPath } from 'node:url'
import { validateArguments } from '../../src/untrusted/validate.ts'
import { attempt, inProcess, loadLibrary } from './measure.ts'

const limitSeconds = 10

type Schema = Record<string, unknown>
type Check = (schema: Schema, value: unknown) => unknown

const checkers: Record<string, () => Promise<Check>> = {
  ours: async () => (schema, value) => validateArguments(schema, value) ?? 'valid',
  '@cfworker/json-schema': async () => {
    type Validator = new (
      schema: Schema,
      draft: string,
    ) => { validate: (value: unknown) => { valid: boolean } }
    const { Validator } = await loadLibrary<{ Validator: Validator }>('@cfworker/json-schema')
    return (schema, value) => word(new Validator(schema, '2020-12').validate(value).valid)
  },
  ajv: async () => {
    type Ajv = new (options: object) => { compile: (schema: Schema) => (value: unknown) => boolean }
    const { Ajv2020 } = await loadLibrary<{ Ajv2020: Ajv }>('ajv/dist/2020.js')
    return (schema, value) => word(new Ajv2020({ strict: false }).compile(schema)(value))
  },
  'json-schema-library': async () => {
    type Compile = (schema: Schema) => { validate: (value: unknown) => { valid: boolean } }
    const { compileSchema } = await loadLibrary<{ compileSchema: Compile }>('json-schema-library')
    return (schema, value) => word(compileSchema(schema).validate(value).valid)
  },
  '@hyperjump/json-schema': async () => {
    interface Library {
      registerSchema: (schema: Schema, uri: string, draft: string) => void
      validate: (uri: string, value: unknown) => Promise<{ valid: boolean }>
    }
    const { registerSchema, validate } = await loadLibrary<Library>('@hyperjump/json-schema/draft-2020-12')
    return async (schema, value) => {
      registerSchema(schema, 'https://example.org/s', 'https://json-schema.org/draft/2020-12/schema')
      return word((await validate('https://example.org/s', value)).valid)
    }
  },
  '@exodus/schemasafe': async () => {
    type Make = (schema: Schema, options: object) => (value: unknown) => boolean
    const { validator } = await loadLibrary<{ validator: Make }>('@exodus/schemasafe')
    // The checks of the library's own against hostile schemas.
    return (schema, value) => word(validator(schema, { complexityChecks: true })(value))
  },
}

const word = (isValid: boolean): string => (isValid ? 'valid' : 'invalid')

const object = (property: Schema, rest: Schema = {}): Schema => ({
  type: 'object',
  properties: { a: property },
  ...rest,
})
const pattern = (source: string, text: string) => ({
  schema: object({ type: 'string', pattern: source }),
  value: { a: text },
})

const pairs: Record<string, () => { schema: Schema; value: unknown }> = {
  'pattern ^(a+)+$': () => pattern('^(a+)+$', `${'a'.repeat(40)}!`),
  'pattern ^(a|a?)+$': () => pattern('^(a|a?)+$', `${'a'.repeat(40)}!`),
  'pattern \\s*\\s*\\s*\\s*x': () => pattern('\\s*\\s*\\s*\\s*x', ' '.repeat(5_000)),
  'references that double 40 times': () => {
    const twice = (i: number): Schema => ({
      allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }],
    })
    const $defs = Object.fromEntries(
      Array.from({ length: 41 }, (_, i) => [`d${i}`, i === 0 ? { type: 'string' } : twice(i)]),
    )
    return { schema: object({ $ref: '#/$defs/d40' }, { $defs }), value: { a: 'x' } }
  },
  'a reference to itself': () => {
    const $defs = { loop: { $ref: '#/$defs/loop' } }
    return { schema: object({ $ref: '#/$defs/loop' }, { $defs }), value: { a: 'x' } }
  },
  '100,000 unique items': () => ({
    schema: object({ type: 'array', uniqueItems: true }),
    value: { a: Array.from({ length: 100_000 }, (_, i) => ({ i })) },
  }),
  'a value 50,000 deep': () => {
    let value: Schema = {}
    for (let i = 0; i < 50_000; i++) value = { a: value }
    return { schema: object({ $ref: '#' }), value }
  },
  'an enum of 20,000 and 2,000 items': () => ({
    schema: object({
      type: 'array',
      items: { enum: Array.from({ length: 20_000 }, (_, i) => ({ i, text: 'same' })) },
    }),
    value: { a: Array.from({ length: 2_000 }, () => ({ i: 19_999, text: 'same' })) },
  }),
}

/** Prints what each checker answers for each pair. */
export async function compare(): Promise<void> {
  const script = fileURLToPath(import.meta.url)
  for (const checker of Object.keys(checkers)) {
    const answers = Object.keys(pairs).map(async (pair) => ({
      pair,
      line: await inProcess(script, [checker, pair], limitSeconds),
    }))
    const found = await Promise.all(answers)
    for (const { pair, line } of found) console.log(`  ${checker}: ${pair}: ${line}`)
    const count = (pattern: RegExp): number => found.filter(({ line }) => pattern.test(line)).length
    console.log(
      `${checker}: of ${found.length}, ${count(/^no answer/)} hang, ${count(/Maximum call stack|^the process ended/)} overflow, ${count(/^throws Error/)} refused`,
    )
  }
}

const [script, checker, pair] = process.argv.slice(1)
if (script === fileURLToPath(import.meta.url)) {
  const check = await checkers[checker]()
  const { schema, value } = pairs[pair]()
  console.log(await attempt(async () => String(await check(schema, value)).slice(0, 60)))
  process.exit(0)
}
