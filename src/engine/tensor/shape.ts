import { AgogeError } from '../../error.ts'
import { canonical } from './dimension.ts'
import type { Dim, Shape, Tensor } from './types.ts'

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis])
}

export function showShape(shape: Shape): string {
  return `[${shape.join(', ')}]`
}

/** An error that names the operator and the shapes it was given. */
export function shapeError(operator: string, inputs: readonly Tensor[], expected: string): AgogeError {
  const given = inputs.map((input) => `${input.dtype}${showShape(input.shape)}`).join(', ')
  return new AgogeError(`${operator}: the inputs ${given} do not fit`, {
    code: 'shape-mismatch',
    given,
    expected,
  })
}

/** NumPy broadcasting; a symbol fits itself and 1. */
export function broadcastShapes(operator: string, inputs: readonly Tensor[]): Shape {
  const rank = Math.max(0, ...inputs.map((input) => input.shape.length))
  const shape: Dim[] = []
  for (let axis = 0; axis < rank; axis++) {
    let dim: Dim = 1
    for (const input of inputs) {
      const own = input.shape[axis - rank + input.shape.length]
      if (own === undefined || own === 1 || own === dim) continue
      if (dim !== 1) throw shapeError(operator, inputs, 'shapes that broadcast (equal sizes, or 1)')
      dim = own
    }
    shape.push(dim)
  }
  return shape
}

export function normaliseAxis(operator: string, input: Tensor, axis: number): number {
  const result = axis < 0 ? axis + input.shape.length : axis
  if (!Number.isInteger(result) || result < 0 || result >= input.shape.length)
    throw shapeError(operator, [input], `an axis in the range of the rank, not ${axis}`)
  return result
}

export function canonicalShape(shape: Shape): Dim[] {
  return shape.map(canonical)
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1)
}

/** Row-major strides. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = Array.from({ length: shape.length }, () => 1)
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1]
  return strides
}

/** For each element of `shape`, the offset given by `strides` (0 along axes that are broadcast). */
export function offsets(shape: readonly number[], strides: readonly number[]): Int32Array {
  const size = sizeOf(shape)
  const result = new Int32Array(size)
  const index = new Int32Array(shape.length)
  let offset = 0
  for (let i = 0; i < size; i++) {
    result[i] = offset
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      offset += strides[axis]
      if (++index[axis] < shape[axis]) break
      offset -= strides[axis] * shape[axis]
      index[axis] = 0
    }
  }
  return result
}

/** Offsets into an input of shape `from` for each element of the broadcast shape `to`. */
export function broadcastOffsets(from: readonly number[], to: readonly number[]): Int32Array {
  const own = stridesOf(from)
  const lead = to.length - from.length
  return offsets(
    to,
    to.map((_, axis) => (axis < lead || from[axis - lead] === 1 ? 0 : own[axis - lead])),
  )
}
