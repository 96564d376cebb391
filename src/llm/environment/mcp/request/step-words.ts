import type { Random } from '../../../../engine/random/index.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { type Effect, describeArguments, type Replaced, type Style, type Thing } from './argument-words.ts'
import { type Computation, readComputation } from './computation.ts'
import { inNumber, isPlural, listed, withArticle } from './inflect.ts'
import type { PhraseSet } from './phrase-sets.ts'
import { rowWords, sqlWords } from './sql-words.ts'
import { chosenAction, describeTools, type ToolWords } from './tool-words.ts'

/** One step of the request: a tool and its arguments. */
export interface RequestStep {
  tool: string
  arguments: Record<string, unknown>
  /** The argument that takes the previous result. */
  linked?: string
  /** Words for that value if it is a part of the result: "the temperature". Default: "the result" and the like. */
  linkWords?: string
  /** Words for what must be looked up first, by the argument that takes its value: "the contact whose email is x". */
  references?: Readonly<Record<string, string>>
  /** What the call did in the reference run. Default: reads. */
  effect?: Effect
  /** What the call returned, where the request depends on it. */
  result?: string
  /** A condition under which the step is done: "if there is a note called x". */
  condition?: string
  /** Not part of the request: the answer of the step is only needed for another. */
  silent?: boolean
}

/** The tools of a server in words. */
export interface Speech {
  specs: ReadonlyMap<string, ToolSpec>
  words: ReadonlyMap<string, ToolWords>
}

/** Reads how the tools of a server may be spoken of. */
export function speechOf(specs: readonly ToolSpec[]): Speech {
  return { specs: new Map(specs.map((spec) => [spec.name, spec])), words: describeTools(specs) }
}

export interface Draw {
  /** Synonyms that training never uses. */
  rare: boolean
  /** Sentences that training never uses. */
  unseen: boolean
  frames: PhraseSet
  style: Style
  random: Random
  /** The request asks for the whole result of its last call, or for a number or a line of it. */
  asksValue: boolean
}

/** A step in words. */
export interface Spoken {
  imperative: string
  /** "the contact c1". */
  definite: string
  /** "a contact called Ada". */
  indefinite: string
  noun: string
  verb: string
  effect: Effect
  /** The verb is one word, so that "it" can stand behind it. */
  single: boolean
  many: boolean
  /** The arguments that the noun phrase states. */
  empty: boolean
  /** The noun is a plural that no argument names: "the nodes". */
  plural: boolean
  computation: Computation | undefined
}

/** Verbs of things that are there afterwards, so that one may say that they should be there. An exported table was there before. */
const addingVerbs = new Set(
  'create add insert make register set put write save store append generate build post push publish book reserve schedule invite upload draw start assign'.split(
    ' ',
  ),
)

function spokenEffect(effect: Effect = 'reads', verb: string | undefined): Effect {
  return effect === 'adds' && verb !== undefined && !addingVerbs.has(verb) ? 'changes' : effect
}

/** Words for one step: what to do, and what with. */
export function speakStep(speech: Speech, given: RequestStep, draw: Draw): Spoken {
  const { style, rare, random, frames, asksValue } = draw
  const named = speech.words.get(given.tool)
  const spec = speech.specs.get(given.tool)
  if (named === undefined || spec === undefined) throw new Error(`no tool ${given.tool}`)
  const chosen = chosenAction(named, given.arguments)
  const words = chosen?.words ?? named
  const step = chosen === undefined ? given : { ...given, arguments: chosen.rest }
  const { references = {} } = step
  const effect = spokenEffect(step.effect, words.verb)
  const givesValue = effect === 'reads' && asksValue
  const verbs = rare && words.rareVerbs.length > 0 ? words.rareVerbs : words.usualVerbs
  const verb =
    verbs.length === 0
      ? rare
        ? 'retrieve'
        : random.pick(['get', 'give me', 'show me'])
      : pickVerb(verbs, random)
  const objects = rare && words.rareObjects.length > 0 ? words.rareObjects : words.usualObjects
  const object = random.next() < 0.6 && !rare ? words.object : random.pick(objects)
  const replaced: Replaced =
    step.linked === undefined ? {} : { [step.linked]: step.linkWords ?? draw.random.pick(frames.links) }
  const place = {
    noun: singularHead(words.object),
    effect,
    style,
    root: spec.inputSchema,
    replaced,
    references,
    verb: words.verb ?? '',
    givesValue,
  }
  const things = (verb: string): Thing[] =>
    describeArguments(step.arguments, spec.inputSchema, { ...place, verb }).map((thing) =>
      thing.noun === singularHead(words.object) ? { ...thing, noun: singularHead(object) } : thing,
    )
  const renamed = things(words.verb ?? '')
  const empty = Object.keys(step.arguments).length === 0
  const [only] = renamed
  // A thing that the arguments do not name keeps the number of the tool's own name: "list the contacts".
  const bare =
    (effect === 'reads' || empty) &&
    renamed.length === 1 &&
    only.name === '' &&
    only.values.length === 0 &&
    only.reference === undefined
  // The description may have a better noun phrase than the name: "the number of days".
  const full =
    bare &&
    effect === 'reads' &&
    words.phrase !== undefined &&
    (empty || !/\b(?:one|two|three|given|multiple|several|numbers)\b/.test(words.phrase)) &&
    (givesValue || random.next() < 0.5)
      ? words.phrase.replace(/^the /, '')
      : undefined
  const unqualified = (some: readonly Thing[], determiner: 'a' | 'the'): string =>
    bare
      ? full === undefined
        ? nounPhrase({ ...only, noun: object }, 'the', isPlural(object))
        : [`the ${full}`, ...only.details].join(' ')
      : listed(some.map((thing) => nounPhrase(thing, determiner)))
  const phrase = (some: readonly Thing[], determiner: 'a' | 'the'): string =>
    [unqualified(some, determiner), ...(words.qualifier === undefined ? [] : [words.qualifier])].join(' ')
  const article = effect === 'adds' ? 'a' : 'the'
  // "the value of the key k1", where the tool's name has no noun.
  const ofThing =
    effect === 'reads' && words.gives !== undefined && !renamed[0].many ? `the ${words.gives} of ` : ''
  const definite = `${ofThing}${phrase(renamed, 'the')}`
  // "add a remark to the entity", but "there should be a remark for the entity".
  const indefinite = phrase(things(''), article)
  const computation =
    statementOf(step.arguments, random) ??
    rowWords(step.arguments, effect, random, words.verb) ??
    (step.result === undefined ? undefined : readComputation(spec.name, words, step.arguments, step.result))
  const where =
    words.place !== undefined &&
    random.next() < 0.2 &&
    !definite.includes(words.place.split(' ').at(-1) ?? '')
      ? ` ${effect === 'removes' ? 'from' : effect === 'adds' && verb === 'add' ? 'to' : 'in'} ${words.place}`
      : ''
  const plain = `${verb} ${ofThing}${phrase(renamed, article)}${where}`
  const requests = rare ? computation?.rareRequests : computation?.requests
  return {
    imperative: requests === undefined ? plain : draw.random.pick(requests),
    definite,
    indefinite,
    noun: renamed[0].noun === '' ? (renamed[0].reference ?? '') : renamed[0].noun,
    verb,
    effect,
    single: !verb.includes(' '),
    many: renamed.length > 1 || renamed[0].many,
    empty,
    plural: bare && isPlural(full === undefined ? object : full.split(' of ')[0]),
    computation,
  }
}

/** The words of an argument that is a statement of SQL. Further arguments say how it is run, not what is wanted. */
function statementOf(args: Readonly<Record<string, unknown>>, random: Random): Computation | undefined {
  for (const value of Object.values(args)) {
    const words = typeof value === 'string' ? sqlWords(value, random) : undefined
    if (words !== undefined) return words
  }
  return undefined
}

/** The tool's own verb half of the time, else one of its synonyms. */
function pickVerb(verbs: readonly string[], random: Random): string {
  return random.next() < 0.5 ? verbs[0] : random.pick(verbs)
}

function singularHead(phrase: string): string {
  return phrase === '' ? '' : inNumber(phrase, false)
}

function nounPhrase(thing: Thing, determiner: 'a' | 'the', plural = thing.many): string {
  const details = thing.details.length === 0 ? '' : ` ${thing.details.join(' ')}`
  if (thing.reference !== undefined) return `${thing.reference}${details}`
  const values = listed(thing.values)
  if (thing.noun === '')
    return `${[thing.name, values].filter((part) => part !== '').join(' ')}${details}`.trim()
  const noun = inNumber(thing.noun, plural)
  const front = determiner === 'a' && !plural ? withArticle(noun) : `the ${noun}`
  const of = values === '' ? '' : ` of ${values}`
  return `${front}${thing.name === '' ? '' : ` ${thing.name}`}${of}${details}`
}
