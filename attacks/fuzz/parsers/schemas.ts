// Patterns and schemas of foreign tools and requests.
import type { Random } from '../../../src/engine/random/index.ts'
import { createRandom } from '../../../src/engine/random/index.ts'
import { toolSignatures } from '../../../src/llm/agent/chat-format/tool-signatures.ts'
import { fillArguments } from '../../../src/llm/audit/values.ts'
import { createKnowledge } from '../../../src/llm/environment/mcp/arguments/knowledge.ts'
import { sampleArguments } from '../../../src/llm/environment/mcp/arguments/sample-arguments.ts'
import { UnusableSchema } from '../../../src/llm/environment/mcp/arguments/schema-parts.ts'
import { wordsOf } from '../../../src/llm/environment/mcp/arguments/words.ts'
import { createGrammars, packTexts } from '../../../src/llm/grammar/cursor.ts'
import { deepestJson, nestingOf } from '../../../src/untrusted/foreign-json.ts'
import { limitedWork, readPattern, WorkLimit } from '../../../src/untrusted/linear-pattern.ts'
import { schemaProblem } from '../../../src/untrusted/schema-check.ts'
import { validateArguments } from '../../../src/untrusted/validate.ts'
import { makeJson } from '../mutate-json.ts'
import { makeText } from '../mutate-text.ts'
import { isRecord, jsonOf, Mismatch, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'

const patterns = {
  examples: [
    '^[a-z]+-\\d{4}$',
    '(?:a|b)*c',
    '^(?=.*\\d)[^\\s@]+@[\\w.-]+$',
    '\\p{L}+',
    'a{2,3}?b+?',
    '(?<year>\\d{4})-(?<!x)\\d\\d',
    '^$|^[\\u0041-\\u005a]{1,3}$',
    '\\bword\\b|\\B',
    '[^\\]\\-a-c]',
    '\\x41\\cA\\/\\.',
    '(a+)+$',
    '[\\d_-]*',
    '(?!no)yes|(?<=a)b',
  ],
  words: [
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '*',
    '+',
    '?',
    '|',
    '^',
    '$',
    '\\',
    '.',
    '-',
    '{1,3}',
    '{2,}',
    '(?:',
    '(?=',
    '(?!',
    '(?<=',
    '\\d',
    '\\w',
    '\\s',
    '\\b',
    '\\p{Lu}',
    '\\u{1F600}',
    '\\1',
    '[^',
    'a-z',
    ',',
  ],
}

const subjects = [
  '',
  'a',
  'ab',
  'abc',
  'word',
  'A',
  '2024-01',
  'a@b.c',
  'aaab',
  '\n',
  '😀',
  'é',
  '-',
  'ab ab',
  'yes',
  '\ud83d',
]
/** Without these, the engine of the language takes no long either. */
const slowNatively = /[+*}][^|]*[+*}][^|]*[+*}]/

const pattern: FuzzParser = {
  name: 'a pattern of a schema',
  share: 2,
  make: (random) => makeText(random, patterns),
  parse(input, reach) {
    const source = textOf(input)
    reach(1)
    const read = readPattern(source)
    if ('unusable' in read) {
      if (read.unusable !== 'the pattern is no regular expression') reach(2)
      return
    }
    reach(3)
    const engine = slowNatively.test(source) || source.length > 200 ? undefined : nativeOf(source)
    for (const subject of subjects) {
      const matches = read.test(subject, limitedWork(1_000_000))
      const native = engine?.test(subject)
      if (native !== undefined && native !== matches)
        throw new Mismatch(`${JSON.stringify(subject)}: ${String(matches)} instead of ${String(native)}`)
    }
  },
  refuses: (error) => error instanceof WorkLimit,
}

function nativeOf(source: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(source, flags)
    } catch {
      // The other way to read it.
    }
  return undefined
}

const schemas = {
  examples: [
    {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file, e.g. `a.txt`', minLength: 1 },
        count: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
        unit: { enum: ['km', 'mi'], description: 'one of km, mi' },
        tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, minItems: 1, maxItems: 3 },
      },
      required: ['path', 'count'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        filter: { $ref: '#/$defs/filter' },
        date: { type: 'string', format: 'date-time' },
        any: { anyOf: [{ type: 'null' }, { type: 'number', multipleOf: 0.5 }] },
        pair: { type: 'array', prefixItems: [{ const: 'a' }, { type: 'boolean' }], items: false },
      },
      required: ['filter'],
      $defs: { filter: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    },
    {
      type: 'object',
      allOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { not: { type: 'string' } } } },
      ],
      patternProperties: { '^x-': { type: 'string', maxLength: 5 } },
    },
    {
      type: 'object',
      properties: { query: { type: ['string', 'null'], description: 'SQL query to run, SELECT only' } },
    },
    { type: 'object', additionalProperties: { type: 'integer', exclusiveMinimum: 0 }, minProperties: 1 },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...'type properties required additionalProperties enum const items prefixItems minItems maxItems uniqueItems minLength'.split(
      ' ',
    ),
    ...'maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf not $ref $defs'.split(
      ' ',
    ),
    ...'#/$defs/filter # #/properties/a string integer number boolean array object null description default examples title'.split(
      ' ',
    ),
  ],
}

const argumentTexts = [
  '{}',
  '{"path":"a","count":3,"unit":"km","tags":["a"]}',
  '{"filter":{"city":"x"},"pair":["a",true]}',
  '{"a":"x","b":1,"x-y":"z"}',
]

/** A schema, and arguments for it on a second line. */
function makeSchema(random: Random): string {
  const args = makeJson(random, { examples: argumentTexts, words: ['path', 'count', 'filter', 'a', 'x-y'] })
  return `${makeJson(random, schemas)}\n${args}`
}

/** The schema and the arguments of an input. */
function partsOf(text: string): [string, string] {
  const at = text.lastIndexOf('\n')
  return at < 0 ? [text, '{}'] : [text.slice(0, at), text.slice(at + 1)]
}

const schema: FuzzParser = {
  name: 'a schema and arguments',
  share: 3,
  make: makeSchema,
  parse(input, reach) {
    const [schemaText, args] = partsOf(textOf(input))
    const read = jsonOf(schemaText)
    if (read === undefined) return
    reach(1)
    if (schemaProblem(read.value, limitedWork(1_000_000)) !== undefined || !isRecord(read.value)) return
    reach(2)
    const checked = jsonOf(args)
    if (checked !== undefined) validateArguments(read.value, checked.value)
    const tool = { name: 'bomb', description: 'Reads a file', inputSchema: read.value }
    toolSignatures([tool], () => false)
    fillArguments(read.value, { random: createRandom('fill'), values: ['a', '1'], like: { path: 'b.txt' } })
    createKnowledge({ tools: [tool], examples: { bomb: [{ path: 'a.txt' }] } })
    const random = createRandom('arguments')
    const known = [{ path: 'b.txt', city: 'Oslo', id: 7 }]
    for (let draw = 0; draw < 3; draw++) {
      const made = sampleArguments(read.value, { random, words: wordsOf('train'), known, reuse: draw > 0 })
      mustBePlain(made)
    }
    reach(3)
  },
  refuses: (error) => error instanceof WorkLimit || error instanceof UnusableSchema,
}

function mustBePlain(made: Record<string, unknown>): void {
  if (JSON.stringify(JSON.parse(JSON.stringify(made))) !== JSON.stringify(made))
    throw new Mismatch('arguments that are no JSON')
}

const vocabulary = packTexts(Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)))

const grammar: FuzzParser = {
  name: 'a grammar of a schema or pattern',
  share: 0.5,
  // It is compiled and sampled from in threads of their own.
  longest: 2000,
  make: (random) => (random.next() < 0.3 ? makeText(random, patterns) : makeJson(random, schemas)),
  parse(input, reach) {
    const text = textOf(input)
    // A request that is nested deeper is not read.
    if (nestingOf(text) > deepestJson) return
    const read = jsonOf(text)
    reach(read === undefined ? 1 : 2)
    const cursor = createGrammars(vocabulary).start(
      read !== undefined && isRecord(read.value) ? { schema: read.value } : { regex: text },
    )
    reach(3)
    const random = createRandom('grammar')
    const bytes: number[] = []
    for (let left = 400; left > 0 && !cursor.complete; left--) {
      const mask = cursor.mask(left)
      const allowed = Array.from({ length: 256 }, (_, id) => id).filter(
        (id) => (mask[id >> 5] >>> (id & 31)) & 1,
      )
      if (allowed.length === 0 || (cursor.accepting && random.next() < 0.3)) break
      const byte = random.pick(allowed)
      bytes.push(byte)
      cursor.advance(byte)
    }
    if (!cursor.accepting || read === undefined || !isRecord(read.value)) return
    const made = jsonOf(Uint8Array.from(bytes))
    if (made === undefined)
      throw new Mismatch(`a schema allows what is no JSON: ${Buffer.from(bytes).toString().slice(0, 80)}`)
  },
}

export const schemaParsers: readonly FuzzParser[] = [pattern, schema, grammar]
