import { isDeepStrictEqual } from 'node:util'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { Task } from '../agent/types.ts'
import { valuesIn } from './values.ts'

/** What the expert did in a task, and what it left. */
export interface Reference {
  task: Task
  calls: readonly { name: string; arguments: Record<string, unknown>; text: string; isError: boolean }[]
  /** For each call, whether it changed the state. Undefined if the state is not shown. */
  changes: readonly (boolean | undefined)[]
  shown: boolean
  start: unknown
  end: unknown
  /** Paths of the state that differ between two episodes of the expert: generated ids and times. */
  unstable: ReadonlySet<string>
  answer: string
  /** The expert's reward. */
  reward: number
}

/** An independent check of an outcome: it knows the expert's, and nothing of the judge. */
export interface OutcomeCheck {
  /** `unclear`: it differs in a way that may be right too, or cannot be seen. Never counted as undone. */
  status: 'done' | 'undone' | 'unclear'
  reason: string
}

type Compared = 'same' | 'different' | 'unclear'
interface Comparison {
  is: Compared
  reason: string
}
const same: Comparison = { is: 'same', reason: 'as the expert' }

/** Whether the task takes any answer. */
export const takesAnyAnswer = ({ task, answer }: Pick<Reference, 'task' | 'answer'>): boolean =>
  task.freeAnswer ?? /^done\.?$/i.test(answer.trim())

/**
 * Compares an outcome with the expert's: the states value by value and type by type, and the answers. The task is `undone` if one
 * of them surely differs, `done` if both agree.
 *
 * @param seen values that the agent saw; an answer that also names others of them is hedged.
 */
export function checkOutcome(
  reference: Reference,
  outcome: { state: unknown; answer: string | null },
  seen: readonly string[] = [],
  hasTools = true,
): OutcomeCheck {
  const free = takesAnyAnswer(reference)
  const state = reference.shown
    ? compareStates(reference, outcome.state)
    : hasTools && free
      ? { is: 'unclear' as const, reason: 'the session does not show its state' }
      : hasTools && reference.changes.length > 0
        ? {
            is: 'unclear' as const,
            reason: 'the session does not show its state, only the answer was compared',
          }
        : same
  const answer = free ? same : compareAnswers(reference, outcome.answer, seen)
  const wrong = [state, answer].find(({ is }) => is === 'different')
  if (wrong !== undefined) return { status: 'undone', reason: wrong.reason }
  if (free && reference.shown && !isChanged(reference))
    return { status: 'undone', reason: 'the expert changes nothing and any answer is accepted' }
  const open = [state, answer].find(({ is }) => is === 'unclear')
  return open === undefined
    ? { status: 'done', reason: 'as the expert' }
    : { status: 'unclear', reason: open.reason }
}

const isChanged = ({ start, end, unstable }: Reference): boolean =>
  differenceOf(start, end, unstable) !== undefined

function compareStates(reference: Reference, found: unknown): Comparison {
  const { start, end, unstable, task } = reference
  const difference = differenceOf(end, found, unstable)
  if (difference === undefined) return same
  if (task.solutions === 'several') {
    const untouched = isChanged(reference) && differenceOf(start, found, unstable) === undefined
    return untouched
      ? { is: 'different', reason: 'the state is that of the start' }
      : { is: 'unclear', reason: 'the task has several solutions' }
  }
  if (!asksForOrder(task.prompt) && differenceOf(sorted(end), sorted(found), new Set()) === undefined)
    return { is: 'unclear', reason: 'only the order differs' }
  return { is: 'different', reason: difference }
}

/** The first difference of two states in words; undefined if there is none. */
export function differenceOf(
  wanted: unknown,
  found: unknown,
  unstable: ReadonlySet<string>,
): string | undefined {
  if (isDeepStrictEqual(wanted, found)) return undefined
  const [a, b] = [flat(wanted), flat(found)]
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    if (unstable.has(path) || Object.is(a.get(path), b.get(path))) continue
    const show = (state: Map<string, unknown>): string =>
      state.has(path) ? short(JSON.stringify(state.get(path)) ?? 'undefined') : 'absent'
    return `${path === '' ? 'the state' : path} is ${show(b)}, after the expert ${show(a)}`
  }
  return undefined
}

/** Paths at which two states differ. */
export function differingPaths(one: unknown, other: unknown): Set<string> {
  const [a, b] = [flat(one), flat(other)]
  return new Set([...a.keys(), ...b.keys()].filter((path) => !Object.is(a.get(path), b.get(path))))
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** Every plain value of a state by its path. Empty containers count, since they differ from absent ones. */
function flat(data: unknown, path = '', into = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof data !== 'object' || data === null) return into.set(path, data)
  if (data instanceof Date) return into.set(path, data.toISOString())
  const entries: [string, unknown][] =
    data instanceof Map
      ? [...data].map(([key, part]) => [String(key), part])
      : data instanceof Set
        ? [...data].map((part, at) => [`${at}`, part])
        : Object.entries(data)
  if (entries.length === 0) into.set(path, Array.isArray(data) ? '[]' : '{}')
  for (const [key, part] of entries) flat(part, path === '' ? key : `${path}.${key}`, into)
  return into
}

/** The same data with its lists sorted. */
function sorted(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || data instanceof Date) return data
  if (Array.isArray(data) || data instanceof Set)
    return [...(data as Iterable<unknown>)]
      .map((part) => sorted(part))
      .toSorted((a, b) => ((JSON.stringify(a) ?? '') < (JSON.stringify(b) ?? '') ? -1 : 1))
  const entries = data instanceof Map ? [...(data as Map<unknown, unknown>)] : Object.entries(data)
  return Object.fromEntries(entries.map(([key, part]) => [String(key), sorted(part)]))
}

const asksForOrder = (prompt: string): boolean =>
  /\b(order by|ordered by|order of|in order|in the order|sort\w*|first|last|oldest|newest|earliest|latest|highest|lowest|ascending|descending|alphabetical\w*|rank\w*|sequence|reverse\w*)\b/i.test(
    prompt,
  )

const refuses = (text: string): boolean =>
  /\b(cannot|can't|can not|unable|impossible|not possible|no such|there is no|none|nothing|not found|not enough)\b/i.test(
    text,
  )

/** The value in an answer: without surrounding quotes, and what stands after "Answer:" where the expert writes so. */
const bare = (text: string): string => text.trim().replace(/^["'`“*]+|(?<!["'`”*.\s])["'`”*.\s]+$/g, '')
/** The steps of a reply up to "Answer:", if it has them. */
const marker = /^[\s\S]*\banswer(?:\s+is)?\s*[:=]\s*/i

/** The names of what a value is of, and sometimes first of which record: "price: ", "name: Blue ink, price: ". */
const label = /^(?:[\p{L}_$][^:,\n]{0,40}: [^:,\n]+, )?[\p{L}_$][^:,\n]{0,40}: (?=\S)/u

/** What stands before the value of an expert's answer: the steps up to "Answer:", or the names of what it is of. */
export const leadOf = (answer: string): string => marker.exec(answer)?.[0] ?? label.exec(answer)?.[0] ?? ''

/** Compares the values of two answers. The expert may name what its value is of; a reply need not, but under another name it is unclear. */
function compareAnswers(reference: Reference, given: string | null, seen: readonly string[]): Comparison {
  const { answer } = reference
  const [lead = ''] = marker.test(answer) ? [] : (label.exec(answer) ?? [])
  if (lead === '') return compareValues(reference, given, seen)
  const own = label.exec(given ?? '')?.[0] ?? ''
  const value = { ...reference, answer: answer.slice(lead.length) }
  const compared = compareValues(value, (given ?? '').slice(own.length), seen)
  return compared.is === 'same' && own !== '' && looseForm(own) !== looseForm(lead)
    ? { is: 'unclear', reason: 'the value is said to be of something else' }
    : compared
}

function compareValues(
  { task, answer, calls }: Reference,
  given: string | null,
  seen: readonly string[],
): Comparison {
  const marked = marker.test(answer)
  const wanted = bare(answer.replace(marker, ''))
  // Where the expert writes steps before its answer, the last lines of a reply are the answer.
  const lines = wanted.split('\n').length
  const said = bare(
    !marked
      ? (given ?? '')
      : marker.test(given ?? '')
        ? (given ?? '').replace(marker, '')
        : (given ?? '').trim().split('\n').slice(-lines).join('\n'),
  )
  const different = (reason: string): Comparison => ({ is: 'different', reason })
  if (said === '') return different('the answer is empty')
  if (said === wanted || isSameData(said, wanted)) return same
  if (task.solutions === 'several') return { is: 'unclear', reason: 'the task has several solutions' }
  if (refuses(wanted) && refuses(said)) return same
  const wrong = different(
    `the answer is ${short(JSON.stringify(given))}, the expert's ${short(JSON.stringify(answer))}`,
  )
  const items = [wanted, said].map(itemsOf)
  if (isRounded(said, wanted) || isSameNumber(said, wanted))
    return { is: 'unclear', reason: 'the same number up to its last digits' }
  if (looseForm(said) === looseForm(wanted))
    // The case of a code matters, and every sign of a number. How an ordinary text is written may not.
    return items[0].some(isCode) ? wrong : { is: 'unclear', reason: 'only the case or the spaces differ' }
  if (items[0].length > 1) {
    const [own, other] = items.map((list) => list.map(looseForm))
    if (own.toSorted().join('\n') !== other.toSorted().join('\n')) return wrong
    const isSameOrder = own.join('\n') === other.join('\n')
    if (!isSameOrder && asksForOrder(task.prompt)) return wrong
    return {
      is: 'unclear',
      reason: isSameOrder ? 'only the form of the list differs' : 'only the order differs',
    }
  }
  if (!holdsWhole(said, wanted))
    return holdsWhole(wanted, said) && wanted.includes(' ')
      ? { is: 'unclear', reason: 'a part of the answer' }
      : wrong
  return compareSentence(said, wanted, task.prompt, [...shownBy(calls), ...seen])
    ? wrong
    : { is: 'unclear', reason: 'the answer says more than the value' }
}

/** Whether a sentence that holds the value also names others that it could be. */
function compareSentence(said: string, wanted: string, prompt: string, values: readonly string[]): boolean {
  const rest = said.replace(wanted, ' ')
  if (/^-?\d+(?:\.\d+)?$/.test(wanted)) {
    // A sentence may repeat the numbers of the request: "17 plus 4 is 21". A list or a choice may not.
    const isSentence = /[a-z=]/i.test(rest) && !/[,;|\n]|\bor\b/i.test(rest)
    const repeated = isSentence ? numbersOf(prompt) : []
    return numbersOf(rest).some((one) => !repeated.includes(one) && !isSameNumber(one, wanted))
  }
  const others = new Set(
    values.filter(
      (value) =>
        value.length > 1 && !wanted.includes(value) && !value.includes(wanted) && !holdsWhole(prompt, value),
    ),
  )
  const named = [...others].filter((value) => holdsWhole(rest, value))
  // Beside a code only another code of its form is a second answer; words may stand around it.
  return /\d/.test(wanted) ? named.some((value) => formOf(value) === formOf(wanted)) : named.length > 1
}

const itemsOf = (text: string): string[] =>
  text
    .split(/[,;\n]| and /)
    .map(bare)
    .filter(Boolean)

const looseForm = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A number, a path, or a word with digits or capitals inside: not a word of a language. */
const isCode = (text: string): boolean =>
  /^-?\d+(?:\.\d+)?$/.test(text) ||
  /^\S*\/\S+$/.test(text) ||
  (/^\S{4,}$/.test(text) && /\p{L}.*\d|\d.*\p{L}|\p{Ll}\p{Lu}/u.test(text))

const isSameNumber = (one: string, other: string): boolean =>
  Math.abs(Number(one) - Number(other)) <= 1e-9 * Math.abs(Number(other))

/** Whether a number was said with fewer decimals, but with two or more of them. */
function isRounded(said: string, wanted: string): boolean {
  const [, decimals = ''] = /^-?\d+\.(\d+)$/.exec(said) ?? []
  const difference = Math.abs(Number(said) - Number(wanted))
  return decimals.length >= 2 && difference <= 0.500_000_1 * 10 ** -decimals.length
}

const numbersOf = (text: string): string[] => text.match(/\d+(?:\.\d+)?/g) ?? []

const formOf = (value: string): string => value.replace(/\d+/g, '9').replace(/\p{L}+/gu, 'a')

function holdsWhole(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + value.length)]
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true
    if (value === '') return false
  }
  return false
}

function isSameData(a: string, b: string): boolean {
  if (/^-?\d+(?:\.\d+)?$/.test(a) && /^-?\d+(?:\.\d+)?$/.test(b)) return Number(a) === Number(b)
  if (!/^[[{]/.test(a) || !/^[[{]/.test(b)) return false
  try {
    return isDeepStrictEqual(parseForeignJson(a), parseForeignJson(b))
  } catch {
    return false
  }
}

/** The values in the results of calls. Errors show no values. */
export const shownBy = (calls: readonly { text: string; isError: boolean }[]): string[] => [
  ...new Set(calls.flatMap(({ text, isError }) => (isError ? [] : valuesIn(text, { keys: false })))),
]
