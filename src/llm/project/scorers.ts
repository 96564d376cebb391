import { isDeepStrictEqual } from 'node:util'
import { AgogeError } from '../../error.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord, type JsonSchema } from '../../untrusted/schema-check.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import { type FileTask, fromFileTask } from '../environment/mcp/goals/task-file.ts'
import { hasValue, typeOfValue } from '../environment/mcp/goals/value.ts'
import type { Scorer } from './config.ts'

/** Settings of `answerMatches`. */
export interface AnswerMatchesOptions<Output> {
  /** The text of an output. Default: the output itself, or its `text`; any other value as JSON. */
  text?: (output: Output) => string
}

/**
 * Scores 1 if the answer has the value that the task expects under `expected.answer`, else 0. Numbers are equal up to rounding, dates up
 * to their notation, lists as sets, texts up to case and quotes; a short sentence around the value is right too. `null` if the task
 * expects no answer.
 *
 * @example answerMatches({ text: (output: { city: string }) => output.city })
 */
export function answerMatches<Output = unknown>({
  text = textOf,
}: AnswerMatchesOptions<Output> = {}): Scorer<Output> {
  return function answer({ given, output }) {
    const { answer: wanted, type = 'text', others, ordered = false } = fromFileTask(given, 0).expected
    if (wanted === null) return { value: null, reason: `the task ${given.id} has no expected answer` }
    return Number(hasValue(text(output), { type, answer: wanted, others, ordered }))
  }
}

/** The answer of an output as text: the output itself, or its `text`; any other value as JSON. */
export function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  if (typeof output === 'object' && output !== null && 'text' in output && typeof output.text === 'string')
    return output.text
  return JSON.stringify(output) ?? ''
}

/** Settings of `jsonMatches`. */
export interface JsonMatchesOptions<Output> {
  /** JSON Schema that the output has to fit; of zod: `z.toJSONSchema(schema)`. Default: any. */
  schema?: JsonSchema
  /** The value that is compared, such as `city` or `cities.0.name`. Default: the whole output. */
  path?: string
  /** What the value has to be. Default: `expected.answer` of the task; if it has none, only the schema counts. */
  equals?: (task: FileTask) => unknown
  /** The text of an output that is one. Default: as for `answerMatches`. */
  text?: (output: Output) => string
}

/**
 * Scores 1 if the output is JSON that fits the schema and has the expected value, else 0. The output is a value, or a text of JSON, also in a
 * fenced block. Objects and lists are equal whatever the order of their fields, and in the order of their items; a number, text or truth value is
 * compared as `answerMatches` does.
 *
 * @example jsonMatches({ path: 'city', schema: { type: 'object', required: ['city'] } })
 */
export function jsonMatches<Output = unknown>({
  schema = {},
  path,
  equals = ({ expected }: FileTask): unknown => expected?.answer,
  text = textOf,
}: JsonMatchesOptions<Output> = {}): Scorer<Output> {
  return function json({ given, output }) {
    const value = readJson(output, text)
    if (value === undefined) return { value: 0, parts: {}, reason: 'the output is no JSON' }
    const problem = validateArguments(schema, value)
    if (problem !== undefined) return { value: 0, parts: {}, reason: problem }
    const wanted = equals(given)
    if (wanted === undefined) return 1
    const found = (path?.split('.') ?? []).reduce<unknown>(fieldOf, value)
    return Number(isSameJson(found, wanted))
  }
}

function readJson<Output>(output: Output, text: (output: Output) => string): unknown {
  if (typeof output !== 'string' && !(isRecord(output) && typeof output['text'] === 'string'))
    return output ?? undefined
  const said = text(output)
  const [, block] = /```(?:json)?\s*\n([^]*?)\n\s*```/.exec(said) ?? []
  try {
    return parseForeignJson(block ?? said)
  } catch {
    return undefined
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  (isRecord(value) || Array.isArray(value)) && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

function isSameJson(found: unknown, wanted: unknown): boolean {
  return isPlain(found) && isPlain(wanted)
    ? hasValue(String(found), { type: typeOfValue(wanted), answer: String(wanted) })
    : isDeepStrictEqual(found, wanted)
}

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/**
 * Scores 1 if the state of the environment is the one that the task expects under `expected.state`, or that its reference leaves, else 0.
 *
 * @throws AgogeError `bad-config` (when it is called) if the config has no environment.
 * @example defineConfig({ ..., environment: mcp('memory', { sandbox: true }), score: stateEquals() })
 */
export function stateEquals<Output = unknown>(): Scorer<Output> {
  return function state({ given, judgement }) {
    if (judgement === undefined)
      throw new AgogeError('stateEquals() has no state to compare', {
        code: 'bad-config',
        given: 'a config without an environment',
        expected: "environment: mcp('NAME') or tools({ state, tools })",
      })
    const { state: share } = judgement.parts ?? {}
    if (judgement.value !== null && share !== undefined) return Number(share >= 1)
    return { value: null, reason: judgement.reason ?? `the task ${given.id} expects no state` }
  }
}

/**
 * Scores what the environment itself finds: the answer and the state that a task expects, as far as it expects them. The scorer for tasks of
 * `mcpTasks`, some of which ask a question while others change something.
 *
 * @throws AgogeError `bad-config` (when it is called) if the config has no environment.
 * @example defineConfig({ ..., environment: mcp('memory', { sandbox: true }), tasks: mcpTasks('memory'), score: taskSolved() })
 */
export function taskSolved<Output = unknown>(): Scorer<Output> {
  return function solved({ judgement }) {
    if (judgement !== undefined) return judgement
    throw new AgogeError('taskSolved() needs an environment', {
      code: 'bad-config',
      given: 'a config without an environment',
      expected: "environment: mcp('NAME')",
    })
  }
}
