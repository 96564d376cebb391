import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'
import { type Corrections, correctionsOf, saysFailure } from './error-hints.ts'
import type { Hints } from './hints.ts'
import { asObject, resolveSchema, typeOf, UnusableSchema } from './schema-parts.ts'

/** Where the value of one property came from: a topic, an example, a known record. */
export interface SourceUse {
  path: string
  source: string
}

interface Count {
  worked: number
  failed: number
}

/** What the calls of a server have taught about the arguments of its tools. */
export interface Knowledge {
  /** What error messages asked for, by the path of the property. */
  hints(tool: string, path: string): Hints | undefined
  /**
   * How much more often than by default a source is to be used: below 1 if it failed more often than it worked. Until the tool
   * itself has used it three times, calls of other tools with a property of the same name and description count too.
   */
  weight(tool: string, path: string, source: string): number
  /** Arguments of the configuration, or of calls that worked. */
  examples(tool: string): readonly PlainObject[]
  /** What a tool is about, in the words of its name, title and description. */
  about(tool: string): string
  /** Remembers where the values of these arguments came from. */
  note(args: PlainObject, uses: readonly SourceUse[]): void
  /**
   * Learns from a call's result. Does nothing after `settle`.
   *
   * @returns true if its error message taught something new.
   */
  learn(tool: string, args: PlainObject, result: { text: string; isError: boolean }): boolean
  /** From now on leaves out an optional property of a tool. */
  forbid(tool: string, path: string): void
  /** How many times an error message taught something new: while it grows, another try is worthwhile. */
  readonly taught: number
  /** Ends learning. From now on the same draws give the same arguments. */
  settle(): void
}

interface KnowledgeOptions {
  /** Name, description and schema of the tools. */
  tools: readonly {
    name: string
    title?: string | undefined
    description?: string | undefined
    inputSchema: JsonSchema
  }[]
  /** Example arguments by tool (`examples` of the `agoge` entry). Default: none. */
  examples?: Readonly<Record<string, readonly PlainObject[]>>
}

interface Attached {
  tool: string
  knowledge: Knowledge
}

/** What is known of a tool goes with its schema, so that everyone who draws arguments for the tool has it. */
const attached = new WeakMap<JsonSchema, Attached>()

/** What is known of the tool with this schema; undefined if nobody created a `Knowledge` of it. */
export function knowledgeOf(schema: JsonSchema): Attached | undefined {
  return attached.get(schema)
}

/** Corrections about one property. More would only replace each other. */
const mostCorrections = 20
const mostNames = 200
/** Uses of an optional property by a tool until those by other tools no longer count. */
const fewUses = 3

/**
 * Starts with what descriptions and the configuration say, and learns from each call until `settle`: sources of values
 * that worked are used more often, those that failed less, and what error messages ask for is heeded. `sampleArguments`
 * finds it by the tool's schema.
 *
 * @example
 * const knowledge = createKnowledge({ tools: [{ name: 'convert', inputSchema }] })
 * const args = sampleArguments(inputSchema, { random, words, known: [], reuse: false })
 * knowledge.learn('convert', args, { text: 'unit must be one of: km, mi', isError: true }) // true
 * // From now on `unit` is km or mi.
 */
export function createKnowledge({ tools, examples = {} }: KnowledgeOptions): Knowledge {
  const counts = new Map<string, Count>()
  const learnt = new Map<string, Hints>()
  const corrections = new Map<string, number>()
  const uses = new WeakMap<PlainObject, readonly SourceUse[]>()
  const paths = new Map<string, string[]>()
  let settled = false
  let taught = 0
  const key = (...parts: string[]): string => JSON.stringify(parts)
  const spec = (tool: string): KnowledgeOptions['tools'][number] | undefined =>
    tools.find(({ name }) => name === tool)
  const namesOf = (tool: string): string[] => {
    const known = paths.get(tool) ?? propertyPaths(spec(tool)?.inputSchema ?? {})
    paths.set(tool, known)
    return known
  }

  /** The same for properties of the same name and description in several tools; undefined for those without a description. */
  const shared = (tool: string, path: string, source: string): string | undefined => {
    const { description } = asObject(asObject(spec(tool)?.inputSchema['properties'])[path])
    return typeof description === 'string' ? key('', path, description, source) : undefined
  }
  const weigh = (count: Count): number => ((count.worked + 1) / (count.worked + count.failed + 1)) ** 2
  const add = (place: string, failed: boolean): void => {
    const { worked, failed: lost } = counts.get(place) ?? { worked: 0, failed: 0 }
    counts.set(place, failed ? { worked, failed: lost + 1 } : { worked: worked + 1, failed: lost })
  }

  /** Returns true if a correction says something that was not known. */
  function keep(tool: string, found: Corrections): boolean {
    let fresh = false
    for (const [path, hints] of found) {
      const place = key(tool, path)
      const before = learnt.get(place)
      const after = { ...before, ...hints }
      const times = corrections.get(place) ?? 0
      if (JSON.stringify(before) === JSON.stringify(after) || times >= mostCorrections) continue
      learnt.set(place, after)
      corrections.set(place, times + 1)
      fresh = true
    }
    return fresh
  }

  const knowledge: Knowledge = {
    hints: (tool, path) => learnt.get(key(tool, path)),
    weight(tool, path, source) {
      const own = counts.get(key(tool, path, source)) ?? { worked: 0, failed: 0 }
      if (source !== 'given' || own.worked + own.failed >= fewUses) return weigh(own)
      const place = shared(tool, path, source)
      return weigh((place === undefined ? undefined : counts.get(place)) ?? own)
    },
    examples: (tool) => (Object.hasOwn(examples, tool) ? examples[tool] : []),
    about(tool) {
      const { name = tool, title = '', description = '' } = spec(tool) ?? {}
      return `${name} ${title} ${description.slice(0, 1000)}`
    },
    note(args, list) {
      uses.set(args, list)
    },
    learn(tool, args, { text, isError }) {
      if (settled) return false
      const failed = isError || saysFailure(text, args)
      for (const { path, source } of uses.get(args) ?? []) {
        add(key(tool, path, source), failed)
        const place = source === 'given' ? shared(tool, path, source) : undefined
        if (place !== undefined) add(place, failed)
      }
      const fresh = failed && keep(tool, correctionsOf(text, args, namesOf(tool)))
      if (fresh) taught++
      return fresh
    },
    forbid(tool, path) {
      if (!settled && keep(tool, new Map([[path, { forbidden: true }]]))) taught++
    },
    get taught() {
      return taught
    },
    settle() {
      settled = true
    },
  }
  for (const { name, inputSchema } of tools) attached.set(inputSchema, { tool: name, knowledge })
  return knowledge
}

/** The properties of a schema, nested ones with their path (`filter.city`, `entities[].name`). */
function propertyPaths(root: JsonSchema): string[] {
  const found: string[] = []
  const visit = (given: unknown, path: string, depth: number): void => {
    if (!isPlainObject(given) || depth > 5 || found.length >= mostNames) return
    const schema = resolveSchema(given, root)
    if (typeOf(schema) === 'array') return visit(schema['items'], `${path}[]`, depth + 1)
    const properties = schema['properties']
    if (!isPlainObject(properties)) return
    for (const [name, property] of Object.entries(properties)) {
      if (found.length >= mostNames) return
      const place = path === '' ? name : `${path}.${name}`
      found.push(place)
      visit(property, place, depth + 1)
    }
  }
  try {
    visit(root, '', 0)
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error
  }
  return found
}
