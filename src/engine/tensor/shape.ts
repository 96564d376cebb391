import { AgogeError } from '../../error.ts'
import type { Bindings, Dim, Shape, Tensor } from './node.ts'

/** A sum of monomials: sorted symbols joined by `*` (empty string: the constant term) -> coefficient. */
type Polynomial = Map<string, number>

function parse(dim: Dim): Polynomial {
  if (typeof dim === 'number') return new Map([['', dim]])
  const terms: Polynomial = new Map()
  for (const term of dim.replaceAll('-', '+-').split('+')) {
    if (term.trim() === '') continue
    let coefficient = 1
    const symbols: string[] = []
    for (const part of term.trim().split('*')) {
      const factor = part.trim()
      if (factor.startsWith('-') && Number.isNaN(Number(factor))) {
        coefficient = -coefficient
        symbols.push(factor.slice(1))
      } else if (factor !== '' && !Number.isNaN(Number(factor))) coefficient *= Number(factor)
      else symbols.push(factor)
    }
    const key = symbols.sort().join('*')
    terms.set(key, (terms.get(key) ?? 0) + coefficient)
  }
  return terms
}

function format(terms: Polynomial): Dim {
  const kept = [...terms].filter(([, coefficient]) => coefficient !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
  if (kept.length === 0) return 0
  if (kept.length === 1 && kept[0]?.[0] === '') return kept[0][1]
  return kept
    .map(([key, coefficient]) =>
      key === '' ? String(coefficient) : coefficient === 1 ? key : `${coefficient}*${key}`,
    )
    .join('+')
}

/** The canonical string of a dimension. Equal dimensions give equal strings. */
export function canonical(dim: Dim): Dim {
  return typeof dim === 'number' ? dim : format(parse(dim))
}

export function multiplyDims(dims: Shape): Dim {
  let product: Polynomial = new Map([['', 1]])
  for (const dim of dims) {
    const next: Polynomial = new Map()
    for (const [leftKey, left] of product)
      for (const [rightKey, right] of parse(dim)) {
        const key = [...leftKey.split('*'), ...rightKey.split('*')]
          .filter((symbol) => symbol !== '')
          .sort()
          .join('*')
        next.set(key, (next.get(key) ?? 0) + left * right)
      }
    product = next
  }
  return format(product)
}

export function addDims(a: Dim, b: Dim, sign: 1 | -1 = 1): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a + sign * b
  const terms = parse(a)
  for (const [key, coefficient] of parse(b)) terms.set(key, (terms.get(key) ?? 0) + sign * coefficient)
  return format(terms)
}

/** The symbols in a dimension. */
export function symbolsOf(dim: Dim): string[] {
  if (typeof dim === 'number') return []
  return [...new Set([...parse(dim).keys()].flatMap((key) => (key === '' ? [] : key.split('*'))))]
}

export function dimTerms(dim: Dim): { coefficient: number; symbols: string[] }[] {
  return [...parse(dim)].map(([key, coefficient]) => ({
    coefficient,
    symbols: key === '' ? [] : key.split('*'),
  }))
}

export function dimValue(dim: Dim, bindings: Bindings): number {
  if (typeof dim === 'number') return dim
  let total = 0
  for (const { coefficient, symbols } of dimTerms(dim)) {
    let product = coefficient
    for (const symbol of symbols) {
      const value = bindings.get(symbol)
      if (value === undefined)
        throw new AgogeError(`the size ${symbol} is not known from any input`, {
          code: 'unknown-size',
          given: dim,
          expected: `an input with a dimension that is exactly '${symbol}'`,
        })
      product *= value
    }
    total += product
  }
  return total
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis])
}

export function showShape(shape: Shape): string {
  return `[${shape.join(', ')}]`
}

/** An error that names the operator and the shapes of its inputs. */
export function shapeError(operator: string, inputs: readonly Tensor[], expected: string): AgogeError {
  const given = inputs.map((input) => `${input.dtype}${showShape(input.shape)}`).join(', ')
  return new AgogeError(`${operator}: the inputs ${given} do not fit`, {
    code: 'shape-mismatch',
    given,
    expected,
  })
}

/** NumPy broadcasting. A symbol matches itself and 1. */
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

/** For each element of `shape`, its offset by `strides` (0 along broadcast axes). */
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

/** Offsets into an input of shape `from`, for each element of the broadcast shape `to`. */
export function broadcastOffsets(from: readonly number[], to: readonly number[]): Int32Array {
  const own = stridesOf(from)
  const lead = to.length - from.length
  return offsets(
    to,
    to.map((_, axis) => (axis < lead || from[axis - lead] === 1 ? 0 : own[axis - lead])),
  )
}
