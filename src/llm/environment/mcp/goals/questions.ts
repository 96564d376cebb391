import { defined } from '../../../../defined.ts'
import { createRandom, type Random } from '../../../../engine/random/index.ts'
import { choiceWords } from '../request/argument-words.ts'
import { type Asked, fieldWords } from '../request/asked-words.ts'
import { inNumber } from '../request/inflect.ts'
import { isNoun, nameWords } from '../request/name-words.ts'
import {
  chooseSalient,
  containsWhole,
  extractSalient,
  isPlainObject,
  jsonOfResult,
  otherValues,
  type PlainObject,
} from '../salient.ts'
import {
  isSayable,
  isUnique,
  readResult,
  sayableKeys,
  type Table,
  tableAt,
  tablesIn,
  valuesIn,
} from './tables.ts'
import { type ExpectedAnswer, hasValue, noneAnswer, typeOfValue } from './value.ts'

/** Forms of questions. `fact` is a value of the result itself: a field, a number, a line, or the whole text. */
export const questionForms = ['fact', 'which', 'all', 'most', 'count', 'count-where', 'missing'] as const
export type QuestionForm = (typeof questionForms)[number]

/** A question about the result of a call, with its answer. */
export interface Question {
  asked: Asked
  expected: ExpectedAnswer
  /** The property that is asked for, as the result writes it. Default: none. */
  property?: string
  /** The property by which a demonstration names the record first, and its value in a result of several records. Default: none. */
  by?: { property: string; find(text: string): string | undefined }
  /** The answer in another result of the same call. */
  find(text: string): string | undefined
}

export interface QuestionContext {
  /** What the request states already. Answers are not taken from it. */
  stated: string
  /** What a record is called if the result does not say: the object of the tool. */
  noun: string
  random: Random
  ignore: readonly string[]
  /** A name that occurs nowhere, for what does not exist. */
  strange: string
  /** The property by which the request asks for the records to be ordered. Default: none. */
  orderedBy?: string | undefined
}

/** A question of this form about a result as the policy sees it; undefined if the result has no room for one. */
export function askAbout(text: string, form: QuestionForm, context: QuestionContext): Question | undefined {
  if (form === 'fact') return askFact(text, context)
  const value = readResult(text)
  const tables = tablesIn(value, context.noun)
  return tables.length === 0 ? undefined : askTable(context.random.pick(tables), value, form, context)
}

/**
 * The answer in a result as a demonstration says it: first which record it is about, then the property, as the result writes them
 * ("name: Blue ink, price: 12"). A small model finds a value much more often after it has said what stands before it.
 */
export function saidAnswer(question: Question, text: string): string {
  const { property, by, expected } = question
  const answer = question.find(text) ?? ''
  if (property === undefined) return answer
  const known = by?.find(text)
  const named = `${property}: ${answer}`
  const ways =
    by === undefined || known === undefined ? [named] : [`${by.property}: ${known}, ${named}`, named]
  return ways.find((way) => hasValue(way, { ...expected, answer })) ?? answer
}

/** Whether a task can ask for something in a result. */
export function isAskable(text: string, ignore: readonly string[]): boolean {
  if (chooseSalient(text, '', createRandom(0), ignore) !== undefined) return true
  const context = { stated: '', noun: '', random: createRandom(0), ignore, strange: '' }
  return (['fact', 'which', 'all', 'most'] as const).some(
    (form) => askAbout(text, form, context) !== undefined,
  )
}

function askFact(text: string, context: QuestionContext): Question | undefined {
  const { stated, random, ignore } = context
  const value = readResult(text)
  if (isPlainObject(value) && jsonOfResult(text) === undefined) return askLine(value, context)
  // A short text is asked for with its unit: "in 2 years".
  const number = value === undefined && text.length > 24 ? onlyNumber(text, stated) : undefined
  if (number !== undefined)
    return {
      asked: { form: 'number' },
      expected: { type: 'number', answer: number },
      find: (other) => onlyNumber(other, stated),
    }
  const { noun } = context
  const salient = chooseSalient(text, stated, random, ignore)
  const answer = salient === undefined ? undefined : extractSalient(text, salient)
  if (
    salient === undefined ||
    answer === undefined ||
    (salient.kind === 'field' && isInAnyRecord(salient.path, value, stated))
  ) {
    // A list: a property of one of its records.
    const tables = tablesIn(value, noun)
    return tables.length === 0 ? undefined : askTable(random.pick(tables), value, 'which', context)
  }
  // What the request says already is no question.
  if (salient.kind === 'field' && containsWhole(stated, answer)) return undefined
  const asked = (): Asked => {
    if (salient.kind === 'whole') return { form: typeOfValue(answer) === 'number' ? 'number' : 'whole' }
    if (salient.kind !== 'field') return { form: salient.kind, which: salient.which }
    const words = nameWords(String(salient.path.findLast((step) => typeof step === 'string'))).join(' ')
    return { form: 'field', of: typeof salient.path.at(-1) === 'number' ? inNumber(words, false) : words }
  }
  const property =
    salient.kind === 'field' ? String(salient.path.findLast((step) => typeof step === 'string')) : undefined
  return {
    asked: asked(),
    ...defined({ property }),
    expected: { type: typeOfValue(answer), answer, others: otherValues(text, answer, ignore) },
    find: (other) => extractSalient(other, salient),
  }
}

/** Whether a field is that of one of several records in a list, which the request does not name. */
function isInAnyRecord(path: readonly (string | number)[], value: unknown, stated: string): boolean {
  const at = path.findIndex((step) => typeof step === 'number')
  let [list, record] = [value, value]
  for (const step of path.slice(0, at + 1))
    [list, record] = [record, (record as Record<string | number, unknown>)[step]]
  if (at < 0 || !isPlainObject(record) || (list as unknown[]).length === 1) return false
  return (
    !isNoun(String(path.findLast((step) => typeof step === 'string'))) ||
    !valuesIn(record).some((item) => containsWhole(stated, item))
  )
}

/** Asks for one line of a text of lines such as "Temperature: 20". */
function askLine(value: PlainObject, { stated, random, ignore }: QuestionContext): Question | undefined {
  const keys = Object.keys(value).filter(
    (key) =>
      isNoun(key) &&
      isSayable(value[key]) &&
      !ignore.includes(key) &&
      !containsWhole(stated, String(value[key])),
  )
  if (keys.length === 0) return undefined
  const key = random.pick(keys)
  const answer = String(value[key])
  return {
    asked: { form: 'field', of: nameWords(key).join(' ') },
    property: key,
    expected: {
      type: typeOfValue(answer),
      answer,
      others: valuesIn(value).filter((item) => item.length > 1 && !containsWhole(answer, item)),
    },
    find(other) {
      const again = readResult(other)
      return isPlainObject(again) && isSayable(again[key]) ? String(again[key]) : undefined
    },
  }
}

/** The only number of a short text that the request does not state. */
function onlyNumber(text: string, stated: string): string | undefined {
  if (text.length > 200 || text.includes('\n') || /\d{4}-\d\d-\d\d|\d\d:\d\d/.test(text)) return undefined
  const pattern = /(?<![\p{L}\d.,-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\p{L}\d]|[.,:/-]\d)/giu
  const found = [...text.matchAll(pattern)].map(([number]) => number)
  const fresh = found.filter((number) => !containsWhole(stated, number))
  if (new Set(fresh).size === 1) return fresh[0]
  return found.length === 1 && found[0] === text.trim() ? found[0] : undefined
}

function askTable(
  table: Table,
  value: unknown,
  form: Exclude<QuestionForm, 'fact'>,
  { stated, random, ignore, strange, orderedBy }: QuestionContext,
): Question | undefined {
  const { records, noun } = table
  const keys = sayableKeys(table, ignore)
  const unique = keys.filter((key) => isUnique(table, key) && typeof records[0][key] !== 'boolean')
  const words = (key: string): string => fieldWords(key, noun)
  const fresh = (key: string, record: PlainObject): boolean => !containsWhole(stated, String(record[key]))
  switch (form) {
    case 'count':
      return {
        asked: { form, noun },
        expected: { type: 'number', answer: String(records.length) },
        find: (text) => String(tableAt(text, table).length),
      }
    case 'count-where': {
      const by = pickFrom(
        keys.filter((key) => records.length > 1 && !isUnique(table, key)),
        random,
      )
      if (by === undefined) return undefined
      const wanted = random.pick(records)[by]
      const count = (some: readonly PlainObject[]): string =>
        String(some.filter((record) => record[by] === wanted).length)
      return {
        asked: { form, noun, by: words(by), value: said(wanted) },
        expected: { type: 'number', answer: count(records) },
        find: (text) => count(tableAt(text, table)),
      }
    }
    case 'all': {
      const single = unique.filter(
        (key) => !records.some((record) => /\band\b|[,;]/.test(String(record[key]))),
      )
      const of = pickFrom(single, random)
      if (of === undefined || records.length < 2 || records.length > 4) return undefined
      // Among equal values, and by values that are not shown, several orders may be right.
      const isOnlyOrder =
        orderedBy === of || (orderedBy !== undefined && orderedBy in records[0] && isUnique(table, orderedBy))
      if (orderedBy !== undefined && !isOnlyOrder) return undefined
      const list = (some: readonly PlainObject[]): string =>
        some.map((record) => String(record[of])).join(', ')
      return {
        asked: { form, noun, of: words(of) },
        property: of,
        expected: { type: 'list', answer: list(records), ...(isOnlyOrder && { ordered: true }) },
        find: (text) => list(tableAt(text, table)),
      }
    }
    case 'which': {
      const by = pickFrom(unique, random)
      if (by === undefined) return undefined
      const record = random.pick(records)
      const of = pickFrom(
        keys.filter((key) => key !== by && fresh(key, record) && record[key] !== record[by]),
        random,
      )
      if (of === undefined) return undefined
      const asked: Asked = { form, noun, of: words(of), by: words(by), value: said(record[by]) }
      return askOne(table, value, asked, of, (some) => some.find((other) => other[by] === record[by]), by)
    }
    case 'missing': {
      const by = pickFrom(
        unique.filter((key) => typeof records[0][key] === 'string'),
        random,
      )
      const of = pickFrom(
        keys.filter((key) => key !== by),
        random,
      )
      if (by === undefined || of === undefined || JSON.stringify(value).includes(strange)) return undefined
      return {
        asked: { form, noun, of: words(of), by: words(by), value: strange },
        expected: { type: 'none', answer: noneAnswer },
        find: () => noneAnswer,
      }
    }
    case 'most':
      return askMost(table, value, unique, { stated, random, ignore })
  }
}

/** Asks for the record with the highest or lowest number, or the longest or shortest list. */
function askMost(
  table: Table,
  value: unknown,
  unique: readonly string[],
  { stated, random, ignore }: Pick<QuestionContext, 'stated' | 'random' | 'ignore'>,
): Question | undefined {
  const { records, noun } = table
  const sized = Object.keys(records[0]).filter(
    (key) =>
      !ignore.includes(key) &&
      records.every((record) => Array.isArray(record[key]) || typeof record[key] === 'number'),
  )
  const by = pickFrom(sized, random)
  const of = pickFrom(
    unique.filter((key) => key !== by && !containsWhole(stated, String(records[0][key]))),
    random,
  )
  if (by === undefined || of === undefined || records.length < 2) return undefined
  const top = random.next() < 0.6
  const size = ({ [by]: item }: PlainObject): number =>
    (Array.isArray(item) ? item.length : Number(item)) * (top ? 1 : -1)
  const best = (some: readonly PlainObject[]): PlainObject | undefined =>
    some.toSorted((a, b) => size(b) - size(a))[0]
  const [first, second] = records.map(size).toSorted((a, b) => b - a)
  if (first === second) return undefined
  const counted = Array.isArray(records[0][by])
  const asked: Asked = {
    form: top ? 'most' : 'least',
    noun,
    of: fieldWords(of, noun),
    by: fieldWords(by, noun),
    counted,
  }
  return askOne(table, value, asked, of, best, counted ? undefined : by)
}

/** A question for one property of one record. An answer may say first what the record's property `by` is. */
function askOne(
  table: Table,
  value: unknown,
  asked: Asked,
  of: string,
  choose: (records: readonly PlainObject[]) => PlainObject | undefined,
  by?: string,
): Question | undefined {
  const chosen = choose(table.records)
  const found = chosen?.[of]
  if (!isSayable(found)) return undefined
  const answer = String(found)
  const stated = by === undefined ? undefined : String(chosen?.[by])
  const others = valuesIn(value).filter(
    (item) => item.length > 1 && item !== stated && !containsWhole(answer, item),
  )
  const saidOf = (records: readonly PlainObject[], key: string): string | undefined => {
    const again = choose(records)?.[key]
    return isSayable(again) ? String(again) : undefined
  }
  return {
    asked,
    property: of,
    ...(by !== undefined && {
      by: {
        property: by,
        find(text) {
          const records = tableAt(text, table)
          return records.length < 2 ? undefined : saidOf(records, by)
        },
      },
    }),
    expected: { type: typeOfValue(found), answer, others },
    find: (text) => saidOf(tableAt(text, table), of),
  }
}

function pickFrom<T>(items: readonly T[], random: Random): T | undefined {
  return items.length === 0 ? undefined : random.pick(items)
}

function said(value: unknown): string {
  return choiceWords(String(value))
}
