import type { Random } from '../../../../engine/random/index.ts'
import { fieldWords } from '../request/asked-words.ts'
import { choiceWords } from '../request/argument-words.ts'
import { inNumber } from '../request/inflect.ts'
import { nameWords } from '../request/name-words.ts'
import { selectedNoun } from '../request/sql-words.ts'
import { containsWhole, type PlainObject } from '../salient.ts'
import type { Question } from './questions.ts'
import {
  isNaming,
  isSayable,
  isUnique,
  readResult,
  saidOfRecord,
  sayableKeys,
  tableAt,
  tablesIn,
  valuesIn,
} from './tables.ts'
import type { Table } from './tables.ts'
import { typeOfValue } from './value.ts'

/** A call that returned records. */
export interface ListingCall {
  arguments: Readonly<PlainObject>
  /** Its result. */
  text: string
}

interface Join {
  from: Table
  to: Table
  /** A property of `from` that names a record of `to`, and the property of `to` that it names. */
  link: string
  key: string
}

/**
 * A question that takes two results: "what is the city of the customer of the order with the number 7?". The first result
 * shows which record of the second is meant; `link` says it as a demonstration does.
 *
 * @returns undefined if no record of the first result names one of the second.
 */
export function askJoined(
  first: ListingCall,
  second: ListingCall,
  ignore: readonly string[],
  random: Random,
): { question: Question; link: string } | undefined {
  const joins = tablesOf(first).flatMap((from) => tablesOf(second).flatMap((to) => joinsOf(from, to, ignore)))
  if (joins.length === 0) return undefined
  const { from, to, link, key } = random.pick(joins)
  // The list may show only some of the records, so the record is named by what is its own.
  const ways = sayableKeys(from, ignore).filter(
    (by) => by !== link && isUnique(from, by) && isOwnName(by, from.noun),
  )
  const linked = from.records.filter((record) => to.records.some((other) => isSame(other[key], record[link])))
  if (ways.length === 0 || linked.length === 0) return undefined
  const record = random.pick(linked)
  const wanted = record[link]
  const target = to.records.find((other) => isSame(other[key], wanted))
  const stated = valuesIn(record).join('\n')
  // What the first result shows already would need no second.
  const fields = sayableKeys(to, ignore).filter(
    (of) => of !== key && !containsWhole(stated, String(target?.[of])),
  )
  if (target === undefined || fields.length === 0) return undefined
  const by = random.pick(ways)
  const of = random.pick(fields)
  const answer = target[of]
  if (!isSayable(answer)) return undefined
  const meant = (text: string): PlainObject | undefined =>
    tableAt(text, to).find((other) => isSame(other[key], wanted))
  const question: Question = {
    asked: {
      form: 'joined',
      noun: from.noun,
      by: fieldWords(by, from.noun),
      value: choiceWords(String(record[by])),
      to: to.noun,
      of: fieldWords(of, to.noun),
    },
    property: of,
    by: {
      property: key,
      find: (text) => (tableAt(text, to).length < 2 ? undefined : String(wanted)),
    },
    expected: {
      type: typeOfValue(answer),
      answer: String(answer),
      others: valuesIn(to.records).filter(
        (item) => item.length > 1 && item !== String(wanted) && !containsWhole(String(answer), item),
      ),
    },
    find(text) {
      const again = meant(text)?.[of]
      return isSayable(again) ? String(again) : undefined
    },
  }
  return { question, link: saidOfRecord(record, by, link) }
}

function joinsOf(from: Table, to: Table, ignore: readonly string[]): Join[] {
  if (from.noun === to.noun) return []
  const keys = sayableKeys(to, ignore).filter((key) => isNaming(key) && isUnique(to, key))
  return sayableKeys(from, ignore).flatMap((link) =>
    keys.filter((key) => isReference(link, to.noun, key)).map((key) => ({ from, to, link, key })),
  )
}

/** Whether a property names a record of another sort: "customer_id" or "customer" for the "id" of a customer. */
function isReference(link: string, noun: string, key: string): boolean {
  const words = nameWords(link).join(' ')
  const head = noun.split(' ').at(-1) ?? ''
  return [noun, head].some((name) => words === name || words === `${name} ${nameWords(key).join(' ')}`)
}

/** Whether a property names the record itself, as "id" or "order_id" of an order, and not another one. */
function isOwnName(key: string, noun: string): boolean {
  const words = nameWords(key)
  return isNaming(key) && (words.length === 1 || words.slice(0, -1).join(' ') === noun)
}

const isSame = (a: unknown, b: unknown): boolean => isSayable(a) && isSayable(b) && String(a) === String(b)

function tablesOf({ arguments: args, text }: ListingCall): Table[] {
  return tablesIn(readResult(text), nounOfTable(args) ?? '').filter(({ records }) => records.length > 0)
}

/** What a row is called, by the table that a call names: in SQL after FROM, or in an argument such as `table`. */
function nounOfTable(args: Readonly<PlainObject>): string | undefined {
  const [noun] = Object.entries(args).flatMap(([name, value]) => {
    if (typeof value !== 'string') return []
    const named = /table|collection/i.test(name) ? inNumber(nameWords(value).join(' '), false) : undefined
    return selectedNoun(value) ?? named ?? []
  })
  return noun
}
