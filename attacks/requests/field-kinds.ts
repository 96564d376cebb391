// Wrong types and values for the fields of a body.
import type { Attempt, Kind, KindContext } from './kinds.ts'
import { listOf, post } from './kinds.ts'
import { legal, refused } from './judge.ts'
import type { Expected } from './judge.ts'

/** A value of every sort, as JSON. */
export const values = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '1.5',
  '1e308',
  '1e999',
  '-1e999',
  '123456789012345678901234567890',
  '""',
  '"x"',
  '"\\u0000"',
  '"-1"',
  '[]',
  '[null]',
  '[[]]',
  '["x"]',
  '{}',
  '{"a":1}',
  `"${'x'.repeat(100_000)}"`,
]
export const texts = ['""', '"x"', '"\\u0000"', '"-1"']
export const flags = ['true', 'false']
/** Too long for the window of every model here. */
export const longText = values.at(-1)!

/** A field, by the path to it, and the values that are legal there. All others are refused by its name. */
export interface Field {
  /** Names and list places: `messages.0.role`. */
  at: string
  legal?: readonly string[]
  /** Values of which both would be right. */
  either?: readonly string[]
  /** What a refusal names. Default: the last name of the path. */
  names?: RegExp
  /** Statuses of a refusal. Default: 400. */
  status?: readonly number[]
}

/** Every field of a body with a value of every sort. */
export function fieldsOf(
  name: string,
  path: string,
  make: (context: KindContext) => Readonly<Record<string, unknown>>,
  fields: readonly Field[],
): Kind {
  return listOf(name, (context) => {
    const body = make(context)
    return fields.flatMap((field) =>
      values.map((value): Attempt => ({
        what: `${field.at}: ${value.slice(0, 40)}`,
        expected: expectedOf(field, value),
        asked: post(path, withValue(body, field.at, value)),
      })),
    )
  })
}

function expectedOf(field: Field, value: string): Expected {
  const { at, legal: right = [], either: open = [], names, status = [400] } = field
  if (right.includes(value) || right.includes('*')) return legal()
  if (open.includes(value)) return { status: [200, ...status] }
  const last = at.split('.').findLast((part) => !/^\d+$/.test(part)) ?? at
  return refused(names ?? new RegExp(last), ...status)
}

/** The JSON of a body in which one value is replaced by a text, which need not be a number that JavaScript has. */
export function withValue(body: Readonly<Record<string, unknown>>, at: string, value: string): string {
  const copy = structuredClone(body) as Record<string, unknown>
  const parts = at.split('.')
  let place = copy
  for (const part of parts.slice(0, -1)) place = (place[part] ??= {}) as Record<string, unknown>
  place[parts.at(-1)!] = mark
  return JSON.stringify(copy).replace(JSON.stringify(mark), () => value)
}

const mark = 'THE VALUE'
