import { between, chance, distinct, pick } from '../draw.ts'
import { lexiconWord, synonymsOf } from '../lexicon.ts'
import { drawFields, type Field } from './fields.ts'
import { drawNoun } from './records.ts'
import {
  type Arguments,
  type Component,
  makeTool,
  many,
  recordText,
  type ServerTool,
  some,
  type Style,
  writtenText,
} from './server.ts'

/**
 * Tools of any verb and any thing, which have nothing to do with each other: what a model must read in their descriptions, since no
 * kind of server that it knows tells it.
 */
export const singleTools: Component = (style) => {
  const { d } = style
  const verbs = distinct(between(d, 1, 4), () => lexiconWord(d, 'verb'))
  return verbs.map((verb) => singleTool(style, verb))
}

function singleTool(style: Style, verb: string): ServerTool {
  const { d } = style
  const noun = drawNoun(style)
  const plain = chance(d, 0.5)
  const fields = drawFields(d, between(d, 1, 4), [noun])
  const keyOf = (field: Field): string => style.key(field.words)
  const optional = fields.filter((_, index) => index > 0 && chance(d, 0.35))
  const reads = chance(d, 0.4)
  const found = drawFields(d, between(d, 1, 4), [noun, ...fields.map(({ words }) => words)])
  const valuesOf = (drawn: readonly Field[]): Arguments =>
    Object.fromEntries(drawn.map((field) => [keyOf(field), field.draw()]))
  return makeTool(style, {
    action: {
      names: [verb],
      said: synonymsOf('verb', verb, 'train'),
      unseen: synonymsOf('verb', verb, 'probe'),
    },
    effect: reads ? 'reads' : pick(d, ['changes', 'adds'] as const),
    object: plain ? noun : many(noun),
    noun,
    about: aboutOf(style, plain ? some(noun) : many(noun), fields),
    properties: Object.fromEntries(fields.map((field) => [keyOf(field), field.schema])),
    optional: optional.map(keyOf),
    draw: () => valuesOf(fields.filter((field) => !optional.includes(field) || chance(d, 0.5))),
    run: (args) =>
      reads ? recordText(style, valuesOf(found)) : writtenText(style, args, `The ${noun} is dealt with`),
  })
}

/** What the description says behind its verb: "a parcel", "a parcel to a city", "a parcel, with its price". */
function aboutOf({ d }: Style, thing: string, fields: readonly Field[]): string {
  const { words } = pick(d, fields)
  return pick(d, [thing, thing, `${thing} by its ${words}`, `${thing} with the ${words} given`])
}
