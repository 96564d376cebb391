import type { Random } from '../../src/engine/random/index.ts'
import { visibleLine } from '../../src/untrusted/visible-text.ts'

/** What a parser is given: a text, or bytes. */
export type Input = string | Uint8Array

/** How far an input came. */
export const stages = ['unreadable', 'read', 'of the right fields', 'accepted'] as const
export type Stage = 0 | 1 | 2 | 3

/** A parser of foreign bytes, and what it is attacked with. */
export interface FuzzParser {
  /** Unique, as on the command line of `replay.ts`. */
  name: string
  /** How often it is attacked, compared with others. Default: 1. Parsers that read files are slower. */
  share?: number
  /** Longest time for one input, in milliseconds of processor time. Default: that of `longestAllowed`. */
  longest?: number
  /** An input, mutated from valid ones. */
  make(random: Random): Input
  /**
   * Reads the input, and what is read as callers do. Throws for what it refuses.
   *
   * @param reach notes how far the input came: 1 JSON or the like, 2 its main fields have the right types, 3 accepted.
   */
  parse(input: Input, reach: (stage: Stage) => void): void | Promise<void>
  /** Errors with which it refuses, besides AgogeError. Default: none. */
  refuses?: (error: unknown) => boolean
}

/** A promise of a parser that was broken: what it gives back is not what was written. */
export class Mismatch extends Error {}

/** Throws if two plain values differ. Written and read again, a value is the same. */
export function mustEqual(given: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(given), JSON.stringify(expected)]
  if (a !== b) throw new Mismatch(`${what}: ${cut(a)} instead of ${cut(b)}`)
}

const cut = (text: string | undefined): string => (text ?? 'nothing').slice(0, 100)

/** The text of an input. */
export const textOf = (input: Input): string =>
  typeof input === 'string' ? input : Buffer.from(input).toString()

/** Characters of an input that are shown. */
const mostShown = 240

/** An input in a line: a text as it is, bytes in base64. */
export const shownInput = (input: Input): string =>
  visibleLine(typeof input === 'string' ? input : Buffer.from(input).toString('base64'), mostShown)

/** The bytes of an input. */
export const bytesOf = (input: Input): Uint8Array => (typeof input === 'string' ? Buffer.from(input) : input)

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses JSON. Undefined: it is none. */
export function jsonOf(input: Input): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(input)) as unknown }
  } catch {
    return undefined
  }
}
