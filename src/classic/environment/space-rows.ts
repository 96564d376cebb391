import { AgogeError } from '../../error.ts'
import { explainMismatch } from './space-contains.ts'
import { describeSpace } from './space-describe.ts'
import { rowSize } from './space.ts'
import type { ArraySpace, BoxSpace, Member } from './space.ts'

/** A typed array of numbers. */
export type NumberArray = Float32Array | Float64Array | Int32Array | Uint8Array

/** A zeroed array of a box's kind of numbers. */
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
 * A fresh member out of a row of `rows`: a number for a discrete space, else a typed array.
 *
 * @throws AgogeError `not-in-space`, calling the row `name`, where the space has integers and an entry is none: it is not rounded. Gymnasium's
 *   `Box.contains` refuses it too.
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
 * Writes a member as a row of `rows`. Checks its kind and length and that no entry is NaN, not its bounds.
 * @throws AgogeError `shape-mismatch` or `not-a-number`, calling the value `name`.
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
