import { statementStart } from '../arguments/sql.ts'
import { hash32 } from '../../../../engine/random/index.ts'
import type { Random } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import type { Style } from './argument-words.ts'
import { type Asked, type AskedWords, askedWords, isAre } from './asked-words.ts'
import { capital, inNumber, participle } from './inflect.ts'
import { familiar, unseen } from './phrase-sets.ts'
import { sqlValues } from './sql-words.ts'
import { type Draw, type RequestStep, speakStep, type Speech } from './step-words.ts'

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
  const text = String(value)
  return statementStart.test(text) ? [text, ...sqlValues(text)] : [text]
}

/**
 * Writes the request of a task as a person would: what the steps should achieve and what is asked, in one of hundreds
 * of compositions of phrases. The shape of a composition (frames, their order, and how arguments are stated) belongs to
 * one split. `undefined` as what is asked means a task that only changes the state.
 *
 * @param isRare whether a request with unseen wording has synonyms that training never uses, besides sentences that it never uses.
 * @returns undefined if no composition of many draws belongs to the split: some questions can be put in only a few shapes.
 */
export function renderRequest(
  speech: Speech,
  steps: readonly RequestStep[],
  asked: Asked | undefined,
  split: Task['split'],
  random: Random,
  isRare = false,
): string | undefined {
  const isUnseen = split === 'unseen-paraphrase'
  const frames = isUnseen ? unseen : familiar
  const shown = steps.filter(({ silent }) => silent !== true)
  for (let attempt = 0; attempt < 200; attempt++) {
    const style: Style = {
      quotes: random.next() < 0.5,
      detail: random.pick(details),
      naming: random.pick(namings),
      bare: random.next() < 0.6,
      reversed: random.next() < 0.3,
    }
    const asksValue = asked !== undefined && ['whole', 'number', 'line', 'sentence'].includes(asked.form)
    const draw: Draw = { rare: isUnseen && isRare, unseen: isUnseen, frames, style, random, asksValue }
    const text = compose(speech, shown, asked, draw)
    if (text === undefined || (!isUnseen && splitOf(shapeOf(text, speech, shown, asked)) !== split)) continue
    return capital(
      text
        .replace(/\s+/g, ' ')
        .replace(/ ([,.:;?])/g, '$1')
        .trim(),
    )
      .replace(/(?<=[.?!] )[a-z]/g, (letter) => letter.toUpperCase())
      .replace(/\bi\b(?= (?:want|need|would|do|am|wonder|must|have|made|will))/g, 'I')
  }
  return undefined
}

function compose(
  speech: Speech,
  steps: readonly RequestStep[],
  asked: Asked | undefined,
  draw: Draw,
): string | undefined {
  const { frames, random } = draw
  if (asked === undefined) {
    const end = draw.random.pick(frames.ends)
    const text = opened(sequence(speech, steps, draw), draw, end.startsWith(' and '))
    if (/\bplease\b/i.test(text) && /\bplease\b/i.test(end)) return text
    return `${text}${end}${isQuestion(text) && /^(?:, please)?$/.test(end) && random.next() < 0.5 ? '?' : ''}`
  }
  const last = steps[steps.length - 1]
  const before = steps.slice(0, -1)
  if (last === undefined) {
    // Nothing but silent steps: the question says it all.
    return question(askedWords(asked, draw.unseen), draw)
  }
  const direct = directWords(speech, last, asked, draw)
  const lead = before.length === 0 ? '' : `${opened(sequence(speech, before, draw), draw)}. `
  if (direct !== undefined && random.next() < 0.6) {
    return `${lead}${question(direct, draw)}`
  }
  const { phrases, questions } = askedWords(asked, draw.unseen)
  const body = sequence(speech, steps, draw)
  const form = random.int(3)
  if (form === 0 && questions.length > 0) {
    return `${opened(body, draw)}. ${draw.random.pick(questions)}?`
  }
  const said = draw.random.pick(phrases)
  if (form === 1 && !said.startsWith('its ')) {
    return body.declared ? undefined : `${askFor(said, draw)}: ${body.text}`
  }
  return `${opened(body, draw, true)} and ${draw.random.pick(frames.tells)}${said}`
}

/** Clauses of steps in a row. */
interface Sequence {
  text: string
  /** Begins with a sentence that is no imperative. */
  declared: boolean
}

/** Openers after which the speaker acts. */
const ownAct =
  /^(?:i|we) (?:want|need|have|would like) to $|^(?:the plan|the idea|what i want|all i need) is to $/

/** @param continued whether "and tell me" follows, so that the one who is asked must act. */
function opened({ text, declared }: Sequence, draw: Draw, continued = false): string {
  if (declared) return text
  const openers = draw.frames.openers.filter((opener) => !continued || !ownAct.test(opener))
  // "it is time to give me" is no English.
  const fits = /^(?:\w+ )?me\b|^\w+ me\b/.test(text)
    ? openers.filter((opener) =>
        /^$|(?:can|could|would|will|want|need|like) you $|please $|kindly /.test(opener),
      )
    : openers
  return `${draw.random.pick(fits)}${text}`
}

function question({ phrases, questions }: AskedWords, draw: Draw): string {
  if (questions.length > 0 && draw.random.next() < 0.5) return `${draw.random.pick(questions)}?`
  const said = draw.random.pick(phrases.filter((phrase) => !phrase.startsWith('its ')))
  const text = askFor(said, draw)
  return isQuestion(text) ? `${text}?` : text
}

/** Whether a request of one sentence begins as a question. */
function isQuestion(text: string): boolean {
  return (
    /^(?:(?:hi|good morning), )?(?:can|could|do(?! not)|would|will|is it) /.test(text) && !/[.:;] /.test(text)
  )
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
  const { condition } = step
  const spoken = speakStep(speech, step, draw)
  const { imperative, effect } = spoken
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
  // What is said of rows is a request of its own: "there should be delete the orders" is no English.
  const whole = spoken.computation !== undefined
  if (whole || fits.length === 0 || draw.random.next() < 0.55)
    return { text: imperative, declared: false, condition }
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

/** Questions about a call that name what it is about, without an imperative. Undefined if it has no noun for that. */
function directWords(speech: Speech, step: RequestStep, asked: Asked, draw: Draw): AskedWords | undefined {
  const words = speech.words.get(step.tool)
  if (words === undefined) return undefined
  const spoken = speakStep(speech, step, draw)
  const { computation, definite } = spoken
  const phrases = draw.rare ? computation?.rarePhrases : computation?.phrases
  if (phrases?.length === 0) return undefined
  // The one value of an aggregate is what the statement is about.
  const isAll = asked.form === 'field' && /^(?:result|total)$/.test(asked.of)
  if (phrases !== undefined && (asked.form === 'whole' || asked.form === 'number' || isAll)) {
    return {
      phrases,
      questions: phrases.map((phrase) =>
        /^(?:what|how|which)/.test(phrase)
          ? phrase
          : `what ${isAre(phrase.split(/ (?:of|with|whose|that|from|in) /)[0])} ${phrase}`,
      ),
    }
  }
  if (spoken.empty && !['whole', 'number', 'field', 'line', 'sentence'].includes(asked.form))
    return askedWords(asked, draw.unseen)
  if (spoken.noun === '' || !words.asks || computation !== undefined) return undefined
  if (asked.form === 'whole' || asked.form === 'number') {
    const phrases = [definite]
    return { phrases, questions: phrases.map((phrase) => `what ${spoken.plural ? 'are' : 'is'} ${phrase}`) }
  }
  if (asked.form !== 'field' || spoken.plural) return undefined
  const { of } = asked
  return draw.unseen
    ? { phrases: [`which ${of} ${definite} goes with`], questions: [`which ${of} goes with ${definite}`] }
    : {
        phrases: [`the ${of} of ${definite}`, `which ${of} ${definite} has`],
        questions: [
          `what ${isAre(of)} the ${of} of ${definite}`,
          `which ${of} does ${definite} have`,
          `for ${definite}, what ${isAre(of)} the ${of}`,
        ],
      }
}
