import { broadcastOffsets, multiplyDims, sameShape, shapeError, sizeOf } from '../shape.ts'
import { type Dim, makeNode, type Operator, type Shape, type Tensor, type Value } from '../node.ts'
import { allocate } from './elementwise.ts'

export interface MatmulOptions {
  /** Swaps the last two axes of a first. */
  transposeA?: boolean
  /** Swaps the last two axes of b first. */
  transposeB?: boolean
}

function flags(node: Tensor): { a: boolean; b: boolean; scale: number } {
  const { transposeA, transposeB, scale } = node.attributes
  return { a: transposeA === true, b: transposeB === true, scale: (scale as number | undefined) ?? 1 }
}

/** [rows, columns] after the optional swap. */
function matrix<T>(shape: readonly T[], swapped: boolean): [T, T] {
  const [rows, columns] = shape.slice(-2)
  return swapped ? [columns, rows] : [rows, columns]
}

function batchShape(inputs: readonly Tensor[]): Shape {
  const [a, b] = inputs.map((input) => input.shape.slice(0, -2))
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, axis): Dim => {
    const left = a[axis - rank + a.length] ?? 1
    const right = b[axis - rank + b.length] ?? 1
    if (left !== right && left !== 1 && right !== 1)
      throw shapeError('matmul', inputs, 'leading axes that broadcast')
    return left === 1 ? right : left
  })
}

export const matmulOperator: Operator = {
  name: 'matmul',
  infer: (inputs, attributes) => {
    const [a, b] = inputs
    if (a.shape.length < 2 || b.shape.length < 2 || a.dtype !== 'float32' || b.dtype !== 'float32')
      throw shapeError('matmul', inputs, 'two float32 tensors of rank 2 or more')
    const [rows, inner] = matrix(a.shape, attributes.transposeA === true)
    const [other, columns] = matrix(b.shape, attributes.transposeB === true)
    if (inner !== other)
      throw shapeError('matmul', inputs, `equal inner sizes, not ${inner} and ${other} (after transposes)`)
    return { shape: [...batchShape(inputs), rows, columns], dtype: 'float32' }
  },
  lower: (context, node, inputs) => {
    const { a, b, scale } = flags(node)
    if (!a && !b && scale === 1) return context.emit('MatMul', inputs)
    return context.emit(
      'FusedMatMul',
      inputs,
      { transA: { int: a ? 1 : 0 }, transB: { int: b ? 1 : 0 }, alpha: { float: scale } },
      'com.microsoft',
    )
  },
  evaluate: (node, [a, b], shape) => {
    const swap = flags(node)
    const data = allocate('float32', sizeOf(shape))
    const [rows, inner] = matrix(a.shape, swap.a)
    const columns = shape.at(-1)!
    const batch = shape.slice(0, -2)
    const offset = (value: Value) => broadcastOffsets(value.shape.slice(0, -2), batch)
    const [left, right] = [offset(a), offset(b)]
    const [aRow, aInner] = swap.a ? [1, rows] : [inner, 1]
    const [bInner, bColumn] = swap.b ? [1, inner] : [columns, 1]
    for (let n = 0, out = 0; n < left.length; n++)
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++) {
          const atA = left[n] * rows * inner + i * aRow
          const atB = right[n] * inner * columns + j * bColumn
          let total = 0
          for (let k = 0; k < inner; k++) total += a.data[atA + k * aInner] * b.data[atB + k * bInner]
          data[out++] = total * swap.scale
        }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [a, b] = node.inputs
    const swap = flags(node)
    const product = (x: Tensor, y: Tensor, transposeA: boolean, transposeB: boolean) =>
      makeNode(matmulOperator, [x, y], { transposeA, transposeB, scale: swap.scale })
    const da = swap.a ? product(b, dy, swap.b, true) : product(dy, b, false, !swap.b)
    let db: Tensor
    if (b.shape.length === 2 && a.shape.length > 2 && !swap.a) {
      // One product over all rows, instead of a batch of products and a sum.
      const rows = multiplyDims(a.shape.slice(0, -1))
      const [flatA, flatDy] = [a, dy].map((x) => t.reshape(x, [rows, x.shape.at(-1)!]))
      db = swap.b ? product(flatDy, flatA, true, false) : product(flatA, flatDy, true, false)
    } else db = swap.b ? product(dy, a, true, swap.a) : product(a, dy, !swap.a, false)
    return [
      sameShape(da.shape, a.shape) ? da : t.sumTo(da, a.shape),
      sameShape(db.shape, b.shape) ? db : t.sumTo(db, b.shape),
    ]
  },
}

/**
 * Matrix product over the last two axes. Leading axes broadcast.
 *
 * @param a [..., m, k] ([..., k, m] with transposeA)
 * @param b [..., k, n] ([..., n, k] with transposeB)
 * @returns [..., m, n]
 */
export function matmul(a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  return makeNode(matmulOperator, [a, b], {
    transposeA: options.transposeA ?? false,
    transposeB: options.transposeB ?? false,
    scale: 1,
  })
}
