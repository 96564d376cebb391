import { hash32 } from '../../../../engine/random/index.ts'
import type { Random } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { type Effect, describeArguments, type Replaced, type Style, type Thing } from './argument-words.ts'
import { type Asked, type AskedWords, askedWords } from './asked-words.ts'
import { type Computation, readComputation } from './computation.ts'
import { capital, inNumber, isPlural, listed, participle, withArticle } from './inflect.ts'
import { familiar, type PhraseSet, unseen } from './phrase-sets.ts'
import { describeTools, type ToolWords } from './tool-words.ts'

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

const details = ['with', 'whose', 'plain', 'as', 'colon'] as const
const namings = ['called', 'named', 'plain'] as const

/** Templates belong to splits: a shape is in one split only. All single words occur in training. */
function splitOf(shape: string): Task['split'] {
  const bucket = hash32('mcp-template', shape) % 8
  return bucket < 5 ? 'train' : bucket === 5 ? 'validation' : 'test'
}

/**
 * The shape of a request: its text without values, and with one word for all verbs and nouns of the tools. So equal
 * texts have one shape, and synonyms alone make no other.
 */
function shapeOf(
  text: string,
  speech: Speech,
  steps: readonly RequestStep[],
  asked: Asked | undefined,
): string {
  const values = steps.flatMap((step) => [
    ...plainValues(step.arguments),
    ...Object.values(step.references ?? {}),
    ...(step.condition === undefined ? [] : [step.condition]),
  ])
  const words = steps.flatMap(({ tool }) => {
    const { usualVerbs = [], usualObjects = [], phrase = '' } = speech.words.get(tool) ?? {}
    return [
      phrase,
      ...usualVerbs,
      ...usualVerbs.map(participle),
      ...usualObjects.flatMap((noun) => [noun, inNumber(noun, false)]),
    ]
  })
  const mask = (from: string, items: readonly string[], mark: string): string =>
    items
      .filter((item) => item !== '')
      .toSorted((a, b) => b.length - a.length)
      .reduce((all, item) => all.split(item).join(mark), from)
  const asking = asked === undefined ? [] : Object.values(asked).map(String)
  return mask(mask(text, [...values, ...asking], '#'), words, '~').replace(/\b(?:an?|the)\b/g, '^')
}

function plainValues(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(plainValues)
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(plainValues)
  return [String(value)]
}

/**
 * Writes the request of a task as a person would: what the steps should achieve and what is asked, in one of hundreds
 * of compositions of phrases. The shape of a composition (frames, their order, and how arguments are stated) belongs to
 * one split. `undefined` as what is asked means a task that only changes the state.
 *
 * @throws Error if no composition belongs to the split.
 */
export function renderRequest(
  speech: Speech,
  steps: readonly RequestStep[],
  asked: Asked | undefined,
  split: Task['split'],
  random: Random,
): string {
  const rare = split === 'unseen-wording'
  const frames = rare ? unseen : familiar
  const shown = steps.filter(({ silent }) => silent !== true)
  for (let attempt = 0; attempt < 200; attempt++) {
    const style: Style = {
      quotes: random.next() < 0.5,
      detail: random.pick(details),
      naming: random.pick(namings),
      bare: random.next() < 0.6,
      reversed: random.next() < 0.3,
    }
    const draw: Draw = { rare, frames, style, random }
    const text = compose(speech, shown, asked, draw)
    if (text === undefined || (!rare && splitOf(shapeOf(text, speech, shown, asked)) !== split)) continue
    return capital(
      text
        .replace(/\s+/g, ' ')
        .replace(/ ([,.:;?])/g, '$1')
        .trim(),
    )
      .replace(/(?<=[.?!] )[a-z]/g, (letter) => letter.toUpperCase())
      .replace(/\bi\b(?= (?:want|need|would|do|am|wonder))/g, 'I')
  }
  throw new Error('no composition of phrases found for the split')
}

interface Draw {
  rare: boolean
  frames: PhraseSet
  style: Style
  random: Random
}

function compose(
  speech: Speech,
  steps: readonly RequestStep[],
  asked: Asked | undefined,
  draw: Draw,
): string | undefined {
  const { frames, random } = draw
  if (asked === undefined)
    return `${opened(sequence(speech, steps, draw), draw)}${draw.random.pick(frames.ends)}`
  const last = steps[steps.length - 1]
  const before = steps.slice(0, -1)
  if (last === undefined) {
    // Nothing but silent steps: the question says it all.
    return question(askedWords(asked, draw.rare), draw)
  }
  const direct = directWords(speech, last, asked, draw)
  const lead = before.length === 0 ? '' : `${opened(sequence(speech, before, draw), draw)}. `
  if (direct !== undefined && random.next() < 0.6) {
    return `${lead}${question(direct, draw)}`
  }
  const { phrases, questions } = askedWords(asked, draw.rare)
  const body = sequence(speech, steps, draw)
  const form = random.int(3)
  if (form === 0 && questions.length > 0) {
    return `${opened(body, draw)}. ${draw.random.pick(questions)}?`
  }
  const said = draw.random.pick(phrases)
  if (form === 1 && !said.startsWith('its ')) {
    return body.declared ? undefined : `${askFor(said, draw)}: ${body.text}`
  }
  return `${opened(body, draw)} and ${draw.random.pick(frames.tells)}${said}`
}

/** Clauses of steps in a row. */
interface Sequence {
  text: string
  /** Begins with a sentence that is no imperative. */
  declared: boolean
}

function opened({ text, declared }: Sequence, draw: Draw): string {
  if (declared) return text
  const { openers } = draw.frames
  // "it is time to give me" is no English.
  const fits = /^(?:\w+ )?me\b|^\w+ me\b/.test(text)
    ? openers.filter((opener) => /^$|you $|please $|kindly /.test(opener))
    : openers
  return `${draw.random.pick(fits)}${text}`
}

function question({ phrases, questions }: AskedWords, draw: Draw): string {
  if (questions.length > 0 && draw.random.next() < 0.5) return `${draw.random.pick(questions)}?`
  const said = draw.random.pick(phrases.filter((phrase) => !phrase.startsWith('its ')))
  const text = askFor(said, draw)
  return /^(?:can|could|do|would) /.test(text) ? `${text}?` : text
}

/** "tell me how many there are", "i need the number". */
function askFor(said: string, draw: Draw): string {
  const { asks, nounAsks } = draw.frames
  const clause = /^(?:what|how|which|every|each)\b/.test(said)
  return `${draw.random.pick(clause ? asks : [...asks, ...nounAsks])}${said}`
}

function sequence(speech: Speech, steps: readonly RequestStep[], draw: Draw): Sequence {
  const clauses = steps.map((step) => clauseOf(speech, step, draw))
  const [first, ...rest] = clauses
  const joint = rest.length === 0 ? '' : draw.random.pick(draw.frames.joints)
  let text = first.text
  for (const [index, clause] of rest.entries()) {
    const plain = !clause.declared && !clauses[index].declared && clause.condition === undefined
    text += plain ? `${joint}${clause.text}` : `. ${clause.text}`
  }
  return { text, declared: first.declared || first.condition !== undefined }
}

interface Clause extends Sequence {
  condition: string | undefined
}

function clauseOf(speech: Speech, step: RequestStep, draw: Draw): Clause {
  const { condition, effect = 'reads' } = step
  const spoken = speakStep(speech, step, draw)
  const { imperative } = spoken
  if (condition !== undefined)
    return {
      text: condition === 'otherwise' ? `otherwise ${imperative}` : `if ${condition}, ${imperative}`,
      declared: false,
      condition,
    }
  const frames = effect === 'reads' ? [] : draw.frames.declared[effect]
  const fits = frames.filter(
    (frame) =>
      (spoken.single || !/\{verb\} it|\{done\}/.test(frame)) &&
      (spoken.noun !== '' || !/\{(?:a|the)\}/.test(frame)),
  )
  if (fits.length === 0 || draw.random.next() < 0.55) return { text: imperative, declared: false, condition }
  const text = draw.random
    .pick(fits)
    .replace('{a}', () => spoken.indefinite)
    .replace('{the}', () => spoken.definite)
    .replace('{verb} it', () => `${spoken.verb} ${spoken.many ? 'them' : 'it'}`)
    .replace('{done}', () => participle(spoken.verb))
    .replace('{do}', () => imperative)
  return {
    text: spoken.many ? inPlural(text, spoken.definite, spoken.indefinite) : text,
    declared: true,
    condition,
  }
}

/** "the entities A and B is no longer needed" with the verb in the plural. */
function inPlural(text: string, ...subjects: readonly string[]): string {
  for (const subject of subjects)
    for (const [one, many] of [
      ['is', 'are'],
      ['has', 'have'],
    ] as const)
      if (text.includes(`${subject} ${one} `))
        return text.replace(`${subject} ${one} `, `${subject} ${many} `)
  return text
}

/** A step in words. */
interface Spoken {
  imperative: string
  /** "the contact c1". */
  definite: string
  /** "a contact called Ada". */
  indefinite: string
  noun: string
  verb: string
  /** The verb is one word, so that "it" can stand behind it. */
  single: boolean
  many: boolean
  /** The arguments that the noun phrase states. */
  empty: boolean
  /** The noun is a plural that no argument names: "the nodes". */
  plural: boolean
  computation: Computation | undefined
}

function speakStep(speech: Speech, step: RequestStep, draw: Draw): Spoken {
  const { style, rare, random, frames } = draw
  const words = speech.words.get(step.tool)
  const spec = speech.specs.get(step.tool)
  if (words === undefined || spec === undefined) throw new Error(`no tool ${step.tool}`)
  const { effect = 'reads', references = {} } = step
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
    random.next() < 0.5
      ? words.phrase.replace(/^the /, '')
      : undefined
  const phrase = (some: readonly Thing[], determiner: 'a' | 'the'): string =>
    bare
      ? full === undefined
        ? nounPhrase({ ...only, noun: object }, 'the', isPlural(object))
        : [`the ${full}`, ...only.details].join(' ')
      : listed(some.map((thing) => nounPhrase(thing, determiner)))
  const article = effect === 'adds' ? 'a' : 'the'
  const definite = phrase(renamed, 'the')
  // "add a remark to the entity", but "there should be a remark for the entity".
  const indefinite = phrase(things(''), article)
  const computation =
    step.result === undefined ? undefined : readComputation(spec.name, words, step.arguments, step.result)
  const where =
    words.place !== undefined &&
    random.next() < 0.2 &&
    !definite.includes(words.place.split(' ').at(-1) ?? '')
      ? ` ${effect === 'removes' ? 'from' : effect === 'adds' && verb === 'add' ? 'to' : 'in'} ${words.place}`
      : ''
  const plain = `${verb} ${phrase(renamed, article)}${where}`
  const requests = rare ? computation?.rareRequests : computation?.requests
  return {
    imperative: requests === undefined ? plain : draw.random.pick(requests),
    definite,
    indefinite,
    noun: renamed[0].noun === '' ? (renamed[0].reference ?? '') : renamed[0].noun,
    verb,
    single: !verb.includes(' '),
    many: renamed.length > 1 || renamed[0].many,
    empty,
    plural: bare && isPlural(full === undefined ? object : full.split(' of ')[0]),
    computation,
  }
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

/** Questions about a call that name what it is about, without an imperative. Undefined if it has no noun for that. */
function directWords(speech: Speech, step: RequestStep, asked: Asked, draw: Draw): AskedWords | undefined {
  const words = speech.words.get(step.tool)
  if (words === undefined) return undefined
  const spoken = speakStep(speech, step, draw)
  const { computation, definite } = spoken
  if (computation !== undefined && (asked.form === 'whole' || asked.form === 'number')) {
    const phrases = draw.rare ? computation.rarePhrases : computation.phrases
    return {
      phrases,
      questions: phrases.map((phrase) => (/^(?:what|how|which)/.test(phrase) ? phrase : `what is ${phrase}`)),
    }
  }
  if (spoken.empty && !['whole', 'number', 'field', 'line', 'sentence'].includes(asked.form))
    return askedWords(asked, draw.rare)
  if (spoken.noun === '' || !words.asks) return undefined
  if (asked.form === 'whole' || asked.form === 'number') {
    const phrases = [definite]
    return { phrases, questions: phrases.map((phrase) => `what ${spoken.plural ? 'are' : 'is'} ${phrase}`) }
  }
  if (asked.form !== 'field' || spoken.plural) return undefined
  const { of } = asked
  return draw.rare
    ? { phrases: [`which ${of} ${definite} goes with`], questions: [`which ${of} goes with ${definite}`] }
    : {
        phrases: [`the ${of} of ${definite}`, `which ${of} ${definite} has`],
        questions: [
          `what is the ${of} of ${definite}`,
          `which ${of} does ${definite} have`,
          `for ${definite}, what is the ${of}`,
        ],
      }
}
