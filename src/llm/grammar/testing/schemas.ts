import * as fc from 'fast-check'
import type { GrammarCursor, TokenTexts } from '../cursor.ts'
import { textOf } from '../cursor.ts'

type Schema = Record<string, unknown>

const name = fc.constantFrom('a', 'b', 'path', 'é"')
const bounded = (type: string) =>
  fc.record(
    {
      type: fc.constant(type),
      minimum: fc.integer({ min: -30, max: 12 }),
      exclusiveMaximum: fc.integer({ min: 13, max: 120 }),
    },
    { requiredKeys: ['type'] },
  )

/** Random schemas with the features that grammars support. */
export const anySchema: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<Schema>(
      { type: 'string', maxLength: 6 },
      { type: 'boolean' },
      { type: 'null' },
      { type: 'string', pattern: '^[a-c]+\\d$', maxLength: 5 },
      { type: 'string', minLength: 2, maxLength: 3 },
      { enum: ['x', 1, null, { q: ['r'] }] },
      { const: 'yes' },
      { type: ['string', 'null'], maxLength: 3 },
      { type: 'object', additionalProperties: { type: 'integer' } },
    ),
    bounded('integer') as fc.Arbitrary<Schema>,
    bounded('number') as fc.Arbitrary<Schema>,
    fc
      .record({
        items: tie('schema'),
        minItems: fc.constantFrom(0, 1, 2),
        maxItems: fc.constantFrom(2, 3),
      })
      .map((rest) => ({ type: 'array', ...rest })),
    fc
      .uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), { selector: ([key]) => key, maxLength: 3 })
      .map((members) => ({
        type: 'object',
        properties: Object.fromEntries(members.map(([key, schema]) => [key, schema])),
        required: members.filter(([, , isNeeded]) => isNeeded).map(([key]) => key),
        additionalProperties: false,
      })),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf })),
  ),
})).schema

/** Appends allowed tokens until the text may end and `next` stops, or until it must end. */
export function pickFrom(
  cursor: GrammarCursor,
  texts: TokenTexts,
  most: number,
  next: () => number,
): { text: string; complete: boolean } {
  const parts: Uint8Array[] = []
  for (let left = most; left > 0 && !cursor.complete; left--) {
    if (cursor.accepting && next() % 4 === 0) break
    const mask = cursor.mask(left - 1)
    const allowed = Array.from(texts.markers, (_, id) => id).filter(
      (id) => ((mask[id >> 5] >> (id & 31)) & 1) === 1,
    )
    if (allowed.length === 0) break
    const token = allowed[next() % allowed.length]
    cursor.advance(token)
    parts.push(textOf(texts, token))
  }
  return { text: Buffer.concat(parts).toString(), complete: cursor.accepting }
}
