import { isDeepStrictEqual } from 'node:util'
import { containsWhole } from '../salient.ts'

/** How an answer is compared. `none`: what is asked for does not exist, and the right answer says so. */
export type AnswerType = 'text' | 'number' | 'date' | 'boolean' | 'list' | 'none'

/** The answer of a task. */
export interface ExpectedAnswer {
  type: AnswerType
  /** As the reference solution says it; a list joined by commas. */
  answer: string
  /** Other values of the result, which the answer must not list too. Default: none. */
  others?: readonly string[]
  /** Whether the items of a list have to be in this order. Default: false. */
  ordered?: boolean
}

/** What the expert says where nothing is found. */
export const noneAnswer = 'there is none'

const refusals =
  /\b(?:no|not|none|nothing|nobody|cannot|can't|could not|couldn't|doesn't|isn't|unknown|missing|n\/a|impossible|unavailable)\b/i

/**
 * Whether an answer has the expected value. Numbers are equal up to rounding to two or more decimals, dates up to their
 * notation, lists as sets unless they are ordered, texts up to case, quotes and white space. An answer may be a short sentence that contains the
 * value and none of the other values of the result. Other numbers may only stand before a verb or colon that leads to the value.
 *
 * @example
 * hasValue('The total is 1,250.', { type: 'number', answer: '1250' }) // true
 */
export function hasValue(given: string | null, expected: ExpectedAnswer): boolean {
  if (given === null) return false
  const answer = plain(given)
  const target = plain(expected.answer)
  const { others = [] } = expected
  // Where an answer is not the value alone, it is one short sentence around it.
  const isSentence = answer.length <= target.length + 100 && !given.trim().includes('\n')
  switch (expected.type) {
    case 'none':
      // An error of the server, said again, is no answer.
      return answer.length <= 100 && refusals.test(answer) && !/^\W*error\b/i.test(answer)
    case 'number': {
      if (answer === target) return true
      const wanted = Number(target)
      if (!isSentence || !Number.isFinite(wanted)) return false
      const numbers = numbersIn(answer)
      if (!numbers.some((number) => sameNumber(number, wanted))) return false
      const rest = numbers.filter((number) => !sameNumber(number, wanted))
      if (!isOneOffer(answer) || listsOther(answer, others)) return false
      const named = rest.length + withUnits(answer)
      return named === 0 || (named <= 2 && concludes(answer, wanted))
    }
    case 'boolean': {
      const says = /\b(?:true|yes)\b/i.test(answer)
      const denies = /\b(?:false|no|not)\b/i.test(answer)
      return isSentence && says !== denies && says === (target.toLowerCase() === 'true')
    }
    case 'list': {
      const items = itemsOf(given.replace(/^[^:]{0,60}:\s*/, ''))
      if (expected.ordered === true) return isDeepStrictEqual(items, itemsOf(expected.answer))
      const wanted = new Set(itemsOf(expected.answer))
      return (
        items.length === wanted.size &&
        items.every((item) => wanted.has(item)) &&
        new Set(items).size === items.length
      )
    }
    case 'date': {
      if (answer.toLowerCase() === target.toLowerCase()) return true
      const moment = momentOf(target)
      if (moment !== undefined && momentOf(answer) === moment) return true
      return isSentence && holdsOnce(answer, target) && !listsOther(answer, others)
    }
    case 'text': {
      if (answer === target) return true
      const [low, wanted] = [answer.toLowerCase(), target.toLowerCase()]
      // Case matters in codes and paths, and where it tells two values of the result apart.
      const codes = target.split(' ').filter(isCode)
      const loose =
        codes.every((code) => answer.includes(code)) &&
        !others.some((other) => plain(other).toLowerCase() === wanted)
      if (loose && low === wanted) return true
      const holds = loose ? holdsOnce(low, wanted) : holdsOnce(answer, target)
      return isSentence && holds && !listsOther(answer, others)
    }
  }
}

/** The type by which a value of a result is compared. */
export function typeOfValue(value: string | number | boolean): AnswerType {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  const text = value.trim()
  if (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return 'number'
  return momentOf(text) === undefined ? 'text' : 'date'
}

/** Whether a sentence has a value as words of its own, once, and offers nothing else: no "or 7", not several items. */
function holdsOnce(sentence: string, value: string): boolean {
  const [before, after, ...more] = sentence.split(value)
  if (after === undefined || more.length > 0 || value === '') return false
  const alone = /(?:^|[\s"'`(*])$/.test(before) && /^(?:[\s"'`)*.,;:!?]*$|["'`)*.,;:!?]*\s)/.test(after)
  return alone && isOneOffer(before + after)
}

function isOneOffer(rest: string): boolean {
  return !/\bor\b/i.test(rest) && (rest.match(/[,;|]/g) ?? []).length < 2
}

/** A path, or one word with digits beside letters or a capital inside. */
function isCode(text: string): boolean {
  return /^\S*\/\S*$/.test(text) || (/^\S+$/.test(text) && /\p{L}.*\d|\d.*\p{L}|\p{Ll}\p{Lu}/u.test(text))
}

function listsOther(answer: string, others: readonly string[]): boolean {
  return others.some((other) => containsWhole(answer, other))
}

function plain(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^["'`]+|(?<!["'`])["'`]+$/g, '')
    .replace(/\.$/, '')
    .trim()
}

function itemsOf(text: string): string[] {
  return text
    .replaceAll(/[^\S\n]+/g, ' ')
    .split(/\s*(?:[,;]|\n|\band\b)\s*/i)
    .map((item) => plain(item.replace(/^[-*]\s+/, '')).toLowerCase())
    .filter((item) => item !== '')
}

const spokenNumbers = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const spokenNumber = new RegExp(`\\b(?:${spokenNumbers.join('|')})\\b`, 'gi')

interface FoundNumber {
  value: number
  decimals: number
}

function numbersIn(text: string): FoundNumber[] {
  const digits = text
    .replace(/(?<=\d),(?=\d{3}\b)/g, '')
    .replace(spokenNumber, (word) => String(spokenNumbers.indexOf(word.toLowerCase())))
  return [
    ...digits.matchAll(/(?<![\p{L}\d.]|^-|\D-)-?\d+(?:\.(\d+))?(?:e[+-]?\d+)?(?![\p{L}\d]|\.\d)/giu),
  ].map(([whole, decimals = '']) => ({ value: Number(whole), decimals: decimals.length }))
}

/** "id: 3, " before another property. */
const firstProperty = /^[\w-]+: [^:,]+, (?=[\w-]+: )/

/**
 * Whether a sentence says other numbers first and ends with this one: "17 plus 4 is 21", "id 3, price: 8" or "id: 3, price: 8", but not "17, 4, 21" or
 * "21 is 17 plus 4".
 */
function concludes(answer: string, wanted: number): boolean {
  const byVerb = answer.split(/\b(?:is|are|was|were|equals?|makes?|gives?|comes to)\b|=/i)
  // A colon leads to a value only where no verb does: "Result: 17 plus 4 is 21".
  const parts = byVerb.length > 1 ? byVerb : answer.replace(firstProperty, '').split(': ')
  const [said, ...more] = numbersIn(parts.at(-1) ?? '')
  const isAlone = more.length === 0 && withUnits(parts.at(-1) ?? '') === 0
  return parts.length === 2 && said !== undefined && isAlone && sameNumber(said, wanted)
}

/** How many numbers have a unit or another letter behind them: "150ms". */
function withUnits(text: string): number {
  return (text.match(/\d\p{L}/gu) ?? []).length
}

/** Equal up to the last digits of binary arithmetic, or rounded to two or more decimals. */
function sameNumber({ value, decimals }: FoundNumber, wanted: number): boolean {
  if (Math.abs(value - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted))) return true
  return decimals >= 2 && Math.abs(value - wanted) <= 0.5000001 * 10 ** -decimals
}

const numericDate = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?Z?)?$/
const namedDate =
  /^(?:\w+day,? )?(?:(\d{1,2})(?:st|nd|rd|th)? ([A-Z][a-z]{2,8})|([A-Z][a-z]{2,8}) (\d{1,2})(?:st|nd|rd|th)?),? (\d{4})$/

/** Milliseconds of a date with or without time, in the usual notations; undefined for any other text. */
function momentOf(text: string): number | undefined {
  const [, year, month, day, hour = '0', minute = '0', second = '0'] = numericDate.exec(text) ?? []
  if (year !== undefined)
    return Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    )
  const named = namedDate.exec(text)
  if (named === null) return undefined
  const at = Date.parse(`${named[1] ?? named[4]} ${named[2] ?? named[3]} ${named[5]} UTC`)
  return Number.isNaN(at) ? undefined : at
}
