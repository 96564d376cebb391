import { AgogeError } from '../../error.ts'
import {
  explainMismatch,
  type ArraySpace,
  box,
  type BoxSpace,
  describeSpace,
  type Member,
  rowSize,
  type Space,
} from './space.ts'

/** A typed array of numbers. */
export type NumberArray = Float32Array | Float64Array | Int32Array | Uint8Array

/** A zeroed array of the dtype of a box. */
export function boxArray(space: BoxSpace, length = space.low.length): Member<BoxSpace> {
  switch (space.dtype) {
    case 'float32':
      return new Float32Array(length)
    case 'float64':
      return new Float64Array(length)
    case 'int32':
      return new Int32Array(length)
    case 'uint8':
      return new Uint8Array(length)
  }
}

/**
 * Reads a row of `rows` as a fresh member: a number for a discrete space, otherwise a typed array.
 *
 * @param name names the row in errors
 * @throws AgogeError `not-in-space` if the space has integers and an entry is not an integer. Entries are not
 * rounded; Gymnasium's `Box.contains` refuses such a value too.
 */
export function readRow<S extends ArraySpace>(
  space: S,
  rows: ArrayLike<number>,
  offset = 0,
  name = 'the row',
): Member<S> {
  const read = (): Member<ArraySpace> => {
    if (space.type === 'discrete') return rows[offset]
    const length = rowSize(space)
    const member =
      space.type === 'box'
        ? boxArray(space)
        : space.type === 'multi-binary'
          ? new Uint8Array(length)
          : new Int32Array(length)
    const isFloat = member instanceof Float32Array || member instanceof Float64Array
    for (let k = 0; k < length; k++) {
      member[k] = rows[offset + k]
      if (isFloat || member[k] === rows[offset + k]) continue
      throw notInSpace(space, rows[offset + k], `${name}[${k}]`)
    }
    return member
  }
  return read() as Member<S>
}

/**
 * Writes a member as a row of `rows`. Checks its kind, its length and that no entry is NaN. Does not check
 * bounds.
 *
 * @throws AgogeError `shape-mismatch` or `not-a-number`. `name` names the value.
 */
export function writeRow(
  space: ArraySpace,
  value: unknown,
  rows: NumberArray,
  offset = 0,
  name = 'the value',
): void {
  const size = rowSize(space)
  if (typeof value === 'number' && size === 1) {
    if (Number.isNaN(value)) throw notANumber(space, value, name)
    rows[offset] = value
    return
  }
  const row = value as ArrayLike<number>
  const isArray = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
  if (!isArray || row.length !== size || (space.type === 'discrete' && typeof value !== 'number')) {
    throw new AgogeError(
      explainMismatch(space, value, name) ?? `${name} is no row of ${describeSpace(space)}`,
      {
        code: 'shape-mismatch',
        given: value,
        expected: describeSpace(space),
      },
    )
  }
  for (let k = 0; k < size; k++) {
    if (typeof row[k] !== 'number' || Number.isNaN(row[k])) throw notANumber(space, row[k], `${name}[${k}]`)
    rows[offset + k] = row[k]
  }
}

function notANumber(space: ArraySpace, given: unknown, name: string): AgogeError {
  return new AgogeError(`${name} is ${String(given)}`, {
    code: 'not-a-number',
    given,
    expected: `a number, in a member of ${describeSpace(space)}`,
  })
}

function notInSpace(space: ArraySpace, value: number, name: string): AgogeError {
  return new AgogeError(`${name} is ${value}, expected an integer of ${describeSpace(space)}`, {
    code: 'not-in-space',
    given: value,
    expected: describeSpace(space),
    hint: 'Round it first, or give the space another dtype',
  })
}

/**
 * The length of the flat form of a member, as in Gymnasium. Discrete choices are one-hot. A text is the index
 * of each character, padded to `maxLength` with the number of characters of the space. Parts of tuples and
 * dicts are concatenated.
 *
 * @throws AgogeError `no-flat-size` for sequences, whose length is not fixed
 */
export function flatSize(space: Space): number {
  switch (space.type) {
    case 'box':
      return space.low.length
    case 'discrete':
    case 'multi-binary':
      return space.n
    case 'multi-discrete':
      return space.counts.reduce((sum, n) => sum + n, 0)
    case 'text':
      return space.maxLength
    case 'tuple':
    case 'dict':
      return parts(space).reduce((sum, [, part]) => sum + flatSize(part), 0)
    case 'sequence':
      throw noFlatSize(space)
  }
}

/** The box that contains the flat forms of all members of a space. */
export function flatSpace(space: Space): BoxSpace {
  if (space.type === 'box') return { ...space, shape: [space.low.length] }
  const low: number[] = []
  const high: number[] = []
  const add = (part: Space): void => {
    if (part.type === 'tuple' || part.type === 'dict') for (const [, inner] of parts(part)) add(inner)
    else if (part.type === 'box') {
      low.push(...part.low)
      high.push(...part.high)
    } else {
      const top = part.type === 'text' ? Array.from(part.characters).length : 1
      for (let k = flatSize(part); k > 0; k--) {
        low.push(0)
        high.push(top)
      }
    }
  }
  add(space)
  return box([low.length], low, high)
}

/**
 * Writes the flat form of a member to `out` from `offset` on. Returns `out`. Only a Float64Array stores doubles
 * exactly.
 *
 * @throws AgogeError `not-in-space` if the value is not a member
 */
export function flatten<T extends NumberArray = Float32Array<ArrayBuffer>>(
  space: Space,
  value: unknown,
  out: T = new Float32Array(flatSize(space)) as NumberArray as T,
  offset = 0,
): T {
  const why = explainMismatch(space, value)
  if (why !== undefined)
    throw new AgogeError(why, { code: 'not-in-space', given: value, expected: describeSpace(space) })
  writeFlat(space, value, out, offset)
  return out
}

function writeFlat(space: Space, value: unknown, out: NumberArray, offset: number): void {
  switch (space.type) {
    case 'box':
    case 'multi-binary':
      out.set(value as ArrayLike<number>, offset)
      return
    case 'discrete':
      out.fill(0, offset, offset + space.n)
      out[offset + (value as number) - space.start] = 1
      return
    case 'multi-discrete': {
      let at = offset
      space.counts.forEach((n, k) => {
        out.fill(0, at, at + n)
        out[at + (value as ArrayLike<number>)[k]] = 1
        at += n
      })
      return
    }
    case 'text': {
      const characters = Array.from(space.characters)
      out.fill(characters.length, offset, offset + space.maxLength)
      Array.from(value as string).forEach((character, k) => {
        out[offset + k] = characters.indexOf(character)
      })
      return
    }
    case 'tuple':
    case 'dict': {
      let at = offset
      for (const [key, part] of parts(space)) {
        writeFlat(part, (value as Record<string, unknown>)[key], out, at)
        at += flatSize(part)
      }
      return
    }
    case 'sequence':
      throw noFlatSize(space)
  }
}

/**
 * Reads the member whose flat form starts at `offset`. For one-hot parts it takes the index of the greatest
 * entry, so scores work too.
 */
export function unflatten<S extends Space>(space: S, flat: ArrayLike<number>, offset = 0): Member<S> {
  return readFlat(space, flat, offset) as Member<S>
}

function readFlat(space: Space, flat: ArrayLike<number>, offset: number): unknown {
  switch (space.type) {
    case 'box':
    case 'multi-binary': {
      const member = space.type === 'box' ? boxArray(space) : new Uint8Array(space.n)
      for (let k = 0; k < member.length; k++) member[k] = flat[offset + k]
      return member
    }
    case 'discrete':
      return space.start + greatest(flat, offset, space.n)
    case 'multi-discrete': {
      let at = offset
      return Int32Array.from(space.counts, (n) => {
        at += n
        return greatest(flat, at - n, n)
      })
    }
    case 'text': {
      const characters = Array.from(space.characters)
      const chosen = Array.from({ length: space.maxLength }, (_, k) => characters[flat[offset + k]] ?? '')
      return chosen.join('')
    }
    case 'tuple':
    case 'dict': {
      let at = offset
      const members = parts(space).map(([key, part]): [string, unknown] => {
        at += flatSize(part)
        return [key, readFlat(part, flat, at - flatSize(part))]
      })
      return space.type === 'tuple' ? members.map(([, member]) => member) : Object.fromEntries(members)
    }
    case 'sequence':
      throw noFlatSize(space)
  }
}

const parts = (space: Extract<Space, { type: 'tuple' | 'dict' }>): [string, Space][] =>
  Object.entries(space.spaces)

function greatest(flat: ArrayLike<number>, from: number, n: number): number {
  let best = 0
  for (let k = 1; k < n; k++) if (flat[from + k] > flat[from + best]) best = k
  return best
}

function noFlatSize(space: Space): AgogeError {
  return new AgogeError('a sequence has no flat form, since its length is not fixed', {
    code: 'no-flat-size',
    given: describeSpace(space),
    expected: 'box, discrete, multi-discrete, multi-binary or text spaces, or tuples and dicts of them',
  })
}
