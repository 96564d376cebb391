import type { ToolSpec } from '../../../tool/tool.ts'
import { requiredOf } from '../arguments/schema-parts.ts'
import { choosesAction } from '../profile/tool-verbs.ts'
import { baseForm, inNumber, isPlural, singular } from './inflect.ts'
import { askingVerbs, nouns, verbs } from './lexicon.ts'
import { nameWords } from './name-words.ts'

/** What a tool is called when people speak of it. */
export interface ToolWords {
  /** Base form of the verb; undefined if neither name nor description has one. */
  verb: string | undefined
  /** The verb and its synonyms that training uses. */
  usualVerbs: readonly string[]
  /** Synonyms that training never uses. */
  rareVerbs: readonly string[]
  /** What the verb acts on, without article, as in the name: "contact". Empty if the tool names nothing. */
  object: string
  /** Whether the object is one thing, whatever number its name has. */
  usualObjects: readonly string[]
  rareObjects: readonly string[]
  /** A longer noun phrase of the description, with its article: "the number of days in a month". */
  phrase: string | undefined
  /** What a reading tool gives of an object that only its arguments name: the "value" of a key. */
  gives: string | undefined
  /** Where it happens, from the description: "in the knowledge graph". */
  place: string | undefined
  /** Whether the tool gives something, so that a question fits: "what is the weather". */
  asks: boolean
  /** What tells the tool from another that is spoken of alike: "with sizes". */
  qualifier: string | undefined
  /** Other tools that are spoken of alike, and that nothing tells from this one. */
  alike: readonly string[]
}

/** Words that carry no meaning in the name of a tool. */
const empty = new Set(
  'tool tools api mcp manage the a an by using via with for of and data multiple all new one'.split(' '),
)

const prepositions = 'in from to for with of on at into about by within across against through over'.split(
  ' ',
)
const clauseEnds = new Set(
  `${prepositions.join(' ')} and or but using based that which when where if so then along including matching while depending as given provided via after before between`.split(
    ' ',
  ),
)

/** The words of the tools of a server. A synonym that means another of its tools or arguments is not used. */
export function describeTools(specs: readonly ToolSpec[]): ReadonlyMap<string, ToolWords> {
  const taken = new Set(
    specs.flatMap(({ name, inputSchema }) => [
      ...nameWords(name).map(singular),
      ...Object.keys(Object(inputSchema['properties'])).flatMap((key) => nameWords(key).map(singular)),
    ]),
  )
  const prefix = sharedPrefix(specs)
  const words = new Map(specs.map((spec) => [spec.name, describeTool(spec, taken, prefix)]))
  return new Map([...words].map(([name, one]) => [name, { ...one, ...apartFrom(name, words) }]))
}

/** `list_directory` and `list_directory_with_sizes` are both about listing a directory: the second says "with sizes". */
function apartFrom(
  name: string,
  words: ReadonlyMap<string, ToolWords>,
): Pick<ToolWords, 'qualifier' | 'alike'> {
  const own = words.get(name)!
  const twins = [...words].filter(
    ([other, { verb, object }]) =>
      other !== name && verb === own.verb && inNumber(object, false) === inNumber(own.object, false),
  )
  const qualifier = twins.length === 0 ? undefined : own.qualifier
  return {
    qualifier,
    alike: twins.filter(([, other]) => other.qualifier === qualifier).map(([other]) => other),
  }
}

/** The word that all names of three or more tools begin with, such as `pg` or `browser`: it names the server, not a thing. */
function sharedPrefix(specs: readonly ToolSpec[]): string | undefined {
  const names = specs.map(({ name }) => nameWords(name))
  const [first] = names[0] ?? []
  const shared = names.length > 2 && names.every((words) => words.length > 1 && words[0] === first)
  return shared && first !== undefined && !verbs.has(first) ? first : undefined
}

function describeTool(spec: ToolSpec, taken: ReadonlySet<string>, prefix: string | undefined): ToolWords {
  const full = nameWords(spec.name)
  const words = full[0] === prefix ? full.slice(1) : full
  const all = words.length > 1 && words.at(-1) === 'tool' ? words.slice(0, -1) : words
  const said = readDescription(spec.description ?? '')
  const at = all.findIndex((word) => verbs.has(word))
  // "lint code", "code lint": a verb at the front or at the end of a name. In the middle it is part of the object.
  const verb = at === 0 ? all[0] : at === all.length - 1 && at > 0 ? all[at] : said.verb
  const rest = verb === undefined || !all.includes(verb) ? all : all.filter((_, index) => index !== at)
  const named = rest.filter((word) => !empty.has(word) && !prepositions.includes(word))
  const same = verb !== undefined && named.length === 1 && named[0] === verb
  const own = same
    ? ''
    : beforePreposition(rest)
        .filter((word) => !empty.has(word))
        .join(' ')
  // "get" with a required key is about a key; "list", which "lists all keys", is about keys.
  const byArgument = own === '' ? requiredIdentifier(spec) : undefined
  const object =
    own !== '' ? own : (byArgument ?? (requiredOf(spec.inputSchema).length === 0 ? said.noun : '') ?? '')
  const entry = verb === undefined ? undefined : verbs.get(verb)
  const free = (others: readonly string[]): string[] =>
    others.filter((other) => other === verb || !taken.has(other))
  const objects = nounForms(object, taken)
  const asks = verb === undefined || askingVerbs.has(verb)
  return {
    verb,
    usualVerbs: verb === undefined ? [] : free(entry?.usual ?? [verb]),
    rareVerbs: free(entry?.rare ?? []),
    object,
    usualObjects: objects.usual,
    rareObjects: objects.rare,
    phrase: said.phrase,
    gives: asks && byArgument !== undefined && said.noun !== byArgument ? said.noun : undefined,
    place: said.place,
    asks,
    qualifier: /\b(?:with|without) .+$/.exec(rest.join(' '))?.[0],
    alike: [],
  }
}

/**
 * The words of a tool that does several things, one of which an argument chooses: `manage_users` with the operation
 * `create_role` is spoken of as "create a role".
 *
 * @returns the words, and the arguments without that one; undefined if no argument names an action.
 */
export function chosenAction(
  words: ToolWords,
  args: Readonly<Record<string, unknown>>,
): { words: ToolWords; rest: Record<string, unknown> } | undefined {
  const key = Object.keys(args).find(choosesAction)
  const value = key === undefined ? undefined : args[key]
  if (key === undefined || typeof value !== 'string') return undefined
  const [verb, ...object] = nameWords(value)
  const entry = verbs.get(verb)
  if (entry === undefined) return undefined
  const objects = object.length === 0 ? words : { object: object.join(' '), usualObjects: [object.join(' ')] }
  const { [key]: _, ...rest } = args
  return {
    words: {
      ...words,
      verb,
      usualVerbs: entry.usual,
      rareVerbs: entry.rare,
      object: objects.object,
      usualObjects: objects.usualObjects,
      rareObjects: [],
      phrase: undefined,
      gives: undefined,
      asks: askingVerbs.has(verb),
      qualifier: undefined,
      alike: [],
    },
    rest,
  }
}

/** The first required argument whose name says what kind of identifier it is: `key`, `path`. */
function requiredIdentifier({ inputSchema }: ToolSpec): string | undefined {
  return requiredOf(inputSchema)
    .map((name) => nameWords(String(name)).map(singular).join(' '))
    .find((name) => /^(?:key|path|code|symbol|slug|handle|url|file|file path|table)$/.test(name))
}

/** The words before the first preposition: "user by id" is about a user. All of them if that is nothing. */
function beforePreposition(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word, index) => index > 0 && prepositions.includes(word))
  return at > 0 ? words.slice(0, at) : words
}

/** Forms of a noun phrase with synonyms of its last word. */
export function nounForms(
  phrase: string,
  taken: ReadonlySet<string> = new Set(),
): { usual: string[]; rare: string[] } {
  const words = phrase.split(' ')
  const head = words.at(-1) ?? ''
  const many = isPlural(head)
  const entry = nouns.get(singular(head))
  if (entry === undefined || words.length > 1) return { usual: [phrase], rare: [] }
  const others = (list: readonly string[]): string[] =>
    list.filter((other) => !taken.has(other)).map((other) => (many ? inNumber(other, true) : other))
  return { usual: [phrase, ...others(entry.usual.slice(1))], rare: others(entry.rare) }
}

interface Said {
  verb: string | undefined
  /** One word for what the verb acts on, singular or plural as it is said. */
  noun: string | undefined
  phrase: string | undefined
  place: string | undefined
}

/** Verb, object and place of the first sentence of a description. */
function readDescription(text: string): Said {
  const [sentence] = text.split(/[.;:(\n]|, (?:helpful|useful|so that)/)
  const words = sentence
    .replace(
      /^(?:this tool|a tool|tool|use this tool|use this|allows you|lets you|used|the tool)\b(?: (?:that|which|to|for|can be used to|is used to))*/i,
      '',
    )
    .trim()
    .split(/\s+/)
    .filter((word) => /^[\p{L}\p{N}'/-]+,?$/u.test(word) && !/[a-z][A-Z]|_/.test(word))
    .map((word) => word.replace(/,$/, ''))
  if (words.length === 0) return { verb: undefined, noun: undefined, phrase: undefined, place: undefined }
  const first = words[0].toLowerCase()
  const base = [first, baseForm(first), first.replace(/ing$/, ''), first.replace(/ing$/, 'e')].find((word) =>
    verbs.has(word),
  )
  const after = base === undefined ? words : words.slice(1)
  const end = after.findIndex((word, index) => index > 0 && clauseEnds.has(word.toLowerCase()))
  const object = (end < 0 ? after : after.slice(0, end)).map(lowered)
  const rest = end < 0 ? [] : after.slice(end).map(lowered)
  const of = rest[0] === 'of' || rest[0] === 'in' ? rest : []
  const stop = of.findIndex(
    (word, index) => index > 0 && clauseEnds.has(word) && word !== 'of' && word !== 'in',
  )
  const tail = stop < 0 ? of : of.slice(0, stop)
  const whole = [...object, ...tail]
  const plain = /^(?:the|a|an)$/.test(object[0] ?? '') && whole.length <= 8 && object.length > 1
  const noun = object.at(-1)
  return {
    verb: base,
    noun:
      base !== undefined && noun !== undefined && /^[a-z]{3,}$/.test(noun) && nounLike(object)
        ? noun
        : undefined,
    phrase: plain ? whole.join(' ').replace(/^an? /, 'the ') : undefined,
    place: placeOf(rest),
  }
}

/** Up to four words without a verb form among them: "one or more keys", "redis keys". */
function nounLike(words: readonly string[]): boolean {
  return words.length <= 4 && !words.slice(1).some((word) => /(?:ing|ed)$/.test(word) || verbs.has(word))
}

/** "in the knowledge graph": a place with a definite article, up to five words. */
function placeOf(words: readonly string[]): string | undefined {
  const at = words.findIndex(
    (word, index) =>
      /^(?:in|from|on|to)$/.test(word) && words[index + 1] === 'the' && words.length > index + 2,
  )
  if (at < 0) return undefined
  const rest = words.slice(at + 2)
  const stop = rest.findIndex((word) => clauseEnds.has(word))
  const noun = stop < 0 ? rest : rest.slice(0, stop)
  return noun.length === 0 || noun.length > 3 ? undefined : `the ${noun.join(' ')}`
}

function lowered(word: string): string {
  return /^\p{Lu}{2,}/u.test(word) ? word : word.toLowerCase()
}
