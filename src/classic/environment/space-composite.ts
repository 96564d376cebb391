import type { DictSpace, SequenceSpace, Space, TextSpace, TupleSpace } from './space.ts'

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Strings of `minLength` (default 1) to `maxLength` characters, by default letters and digits. */
export const text = (
  maxLength: number,
  { minLength = 1, characters = alphanumeric }: { minLength?: number; characters?: string } = {},
): TextSpace => ({ type: 'text', minLength, maxLength, characters })

/** Lists whose i-th entry is a member of the i-th space. */
export const tuple = (...spaces: Space[]): TupleSpace => ({ type: 'tuple', spaces })

/** Objects whose entries are members of the spaces of the same names. */
export const dict = (spaces: Readonly<Record<string, Space>>): DictSpace => ({ type: 'dict', spaces })

/** Lists of any length of members of one space. */
export const sequence = (space: Space): SequenceSpace => ({ type: 'sequence', space })
