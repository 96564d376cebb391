import type { Random } from '../../../../engine/random/index.ts'
import type { Work } from '../../../../untrusted/linear-pattern.ts'
import type { PlainObject } from '../salient.ts'
import type { Knowledge, SourceUse } from './knowledge.ts'
import type { WantedStatement } from './sql.ts'
import type { SplitWords } from './words.ts'

export interface SampleContext {
  random: Random
  words: SplitWords
  /** Records known to exist in the state. With `reuse`, arguments refer to them if property names match. */
  known: readonly PlainObject[]
  /** Records made for this task. They are preferred over known ones that match equally well. Default: none. */
  recent?: readonly PlainObject[]
  reuse: boolean
  /**
   * The tool changes the record: half of the time only the identifying properties come from the record. Default: false.
   */
  changes?: boolean
  /** What a statement in a query language should do: only read, change something, or be this one. Default: any. */
  wants?: WantedStatement | undefined
  /** An optional property that is always set. */
  always?: string
}

/** The arguments of one call while they are made. */
export interface Making extends SampleContext {
  work: Work
  tool: string | undefined
  knowledge: Knowledge | undefined
  /** Where the values come from, for learning from the result of the call. */
  uses: SourceUse[]
}

/** A property whose value is made. */
export interface Place {
  /** Dotted path for messages. */
  path: string
  /** Nearest property name. */
  name: string
  depth: number
  /** The names of the properties of its object, its own among them. Default: none. */
  among?: readonly string[]
  /** The known record that the object around this place refers to. */
  outer?: PlainObject | undefined
}

/** How much more often than by default a source of the values at a path is used. */
export function weightOf({ knowledge, tool }: Making, path: string, source: string): number {
  return tool === undefined ? 1 : (knowledge?.weight(tool, path, source) ?? 1)
}

export const below = (place: Place, name: string): string =>
  place.path === '' ? name : `${place.path}.${name}`

/** The name of a value of a known record as a source. */
export function knownSource(value: unknown): string {
  const one: unknown = Array.isArray(value) ? value[0] : value
  return `known ${JSON.stringify(one)?.slice(0, 80)}`
}
