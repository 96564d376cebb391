import { badAnswerError } from './errors.ts'

export type Fields = Record<string, unknown>

/** Reads what a server answered, so that a wrong answer is named where it comes in. */
export interface AnswerReader {
  fields(value: unknown, what: string): Fields
  text(fields: Fields, name: string): string
  list(fields: Fields, name: string): unknown[]
  /** Finite numbers. */
  numbers(fields: Fields, name: string): number[]
}

export function createAnswerReader(host: string, path: string): AnswerReader {
  const wrong = (what: string, given: unknown) => badAnswerError(host, path, what, given)
  const list = (fields: Fields, name: string): unknown[] => {
    const value = fields[name]
    if (Array.isArray(value)) return value as unknown[]
    throw wrong(`no list "${name}"`, fields)
  }
  return {
    fields(value, what) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
      throw wrong(`no ${what}`, value)
    },
    text(fields, name) {
      const value = fields[name]
      if (typeof value === 'string' && value !== '') return value
      // Early versions of the protocol number their requests.
      if (typeof value === 'number') return String(value)
      throw wrong(`no "${name}"`, fields)
    },
    list,
    numbers(fields, name) {
      const values = list(fields, name)
      if (values.every((value) => typeof value === 'number')) return values
      throw wrong(`something else than numbers in "${name}"`, fields)
    },
  }
}
