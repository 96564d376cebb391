import { broadcastOffsets, multiplyDims, sameShape, shapeError, sizeOf } from '../shape.ts'
import { makeNode } from '../node.ts'
import type { Dim, Operator, Shape, Tensor, Value } from '../node.ts'
import { allocate } from './elementwise.ts'
import { AgogeError } from '../../../error.ts'

interface MatmulOptions {
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

/**
 * Largest code of a weight. CPUs without VNNI add two products of an unsigned and a signed byte in 16 bits, and
 * 2 * 255 * 64 still fits. So sums of codes are exact and equal on every machine.
 */
const mostWeightCode = 64
/** Largest distance of the codes of activations from `zero`. */
const mostCode = 127
const zero = 128
/** The scale of the codes in a row whose largest number is 1. */
const step = Math.fround(1 / mostCode)
/** The divisor for rows of zeros. */
const tiny = 1e-30

const quantisedMatmulOperator: Operator = {
  name: 'quantisedMatmul',
  infer: (inputs) => {
    const [x, codes, scales] = inputs
    const [rows, inner] = x.shape
    const fits =
      x.dtype === 'float32' &&
      codes.dtype === 'int8' &&
      scales.dtype === 'float32' &&
      [x, codes].every(({ shape }) => shape.length === 2) &&
      scales.shape.length === 1 &&
      codes.shape[0] === inner &&
      codes.shape[1] === scales.shape[0]
    if (!fits)
      throw shapeError('quantisedMatmul', inputs, 'float32 [rows, in], int8 [in, out] and float32 [out]')
    return { shape: [rows, scales.shape[0]], dtype: 'float32' }
  },
  lower: (context, _, [x, codes, scales]) => {
    if (context.device !== 'cpu')
      throw new AgogeError('Products of int8 cannot be computed there', {
        code: 'unsupported-device',
        given: context.device,
        expected: 'cpu',
        hint: 'AGOGE_DEVICE=cpu, or weights in float32',
      })
    const number = (value: number): string => context.initializer(Float32Array.of(value), [], 'float32')
    const emit: typeof context.emit = (...what) => context.emit(...what)
    const magnitudes = emit('ReduceMax', [emit('Abs', [x]), context.int64([-1])])
    const most = emit('Max', [magnitudes, number(tiny)])
    // Each row has its own scale, so the result of a row does not depend on the others. Scaling all rows first
    // makes quantising one pass.
    const zeroPoint = emit('Cast', [number(zero)], { to: { int: uint8Type } })
    const quantised = emit('QuantizeLinear', [emit('Div', [x, most]), number(step), zeroPoint])
    const product = emit(
      'MatMulIntegerToFloat',
      [quantised, codes, number(step), scales, zeroPoint],
      {},
      'com.microsoft',
    )
    return emit('Mul', [product, most])
  },
  evaluate: (_, [x, codes, scales], shape) => {
    const [rows, columns] = shape
    const inner = x.shape[1]
    const data = allocate('float32', sizeOf(shape))
    const row = new Float64Array(inner)
    for (let r = 0; r < rows; r++) {
      let most = tiny
      for (let i = 0; i < inner; i++) most = Math.max(most, Math.abs(x.data[r * inner + i]))
      for (let i = 0; i < inner; i++)
        row[i] = halfToEven(Math.fround(Math.fround(x.data[r * inner + i] / most) / step))
      for (let column = 0; column < columns; column++) {
        let sum = 0
        for (let i = 0; i < inner; i++) sum += row[i] * codes.data[i * columns + column]
        data[r * columns + column] = sum * step * most * scales.data[column]
      }
    }
    return { data, shape }
  },
  gradient: (node) => {
    throw new AgogeError('Nothing learns through quantised weights', {
      code: 'no-gradient',
      given: `quantisedMatmul of [${node.inputs[0].shape.join(', ')}]`,
      expected: 'operators of float32',
      hint: 'Train with matmul of the weights in float32; quantise for sampling',
    })
  },
}

/** ONNX's code of this type, which only this operator uses. */
const uint8Type = 2

function halfToEven(x: number): number {
  const rounded = Math.round(x)
  return rounded - x === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}

/**
 * Multiplies x by 8-bit weights. Each row of x is quantised symmetrically when it is multiplied: its largest
 * magnitude is code 127, halves round to even. Sums of codes are exact. Runs only on the CPU and has no
 * gradient.
 *
 * @param x float32 [rows, in]
 * @param codes int8 [in, out], as computed by `quantiseMatrix`
 * @param scales float32 [out], which multiply the codes of each column
 * @returns float32 [rows, out]
 */
export function quantisedMatmul(x: Tensor, codes: Tensor, scales: Tensor): Tensor {
  return makeNode(quantisedMatmulOperator, [x, codes, scales])
}

/** Size of the tiles for transposing. A tile stays in the L1 cache. */
const tile = 64

/**
 * Quantises a matrix to 8 bits for `quantisedMatmul`, symmetrically for each output: matrix[o, i] is
 * approximately codes[i, o] * scales[o], with an error of at most half a scale. A row with NaN or infinity has
 * a scale of NaN or infinity.
 *
 * @param matrix [out, in], row-major
 * @param codes [in, out], from -64 to 64; written
 * @param scales [out], the largest magnitude of each row / 64; written
 */
export function quantiseMatrix(matrix: Float32Array, codes: Int8Array, scales: Float32Array): void {
  const outputs = scales.length
  const inner = matrix.length / outputs
  const factors = new Float32Array(tile)
  for (let start = 0; start < outputs; start += tile) {
    const end = Math.min(outputs, start + tile)
    for (let row = start; row < end; row++) {
      const most = largest(matrix, row * inner, (row + 1) * inner)
      scales[row] = most / mostWeightCode
      factors[row - start] = most > 0 ? mostWeightCode / most : 0
    }
    for (let first = 0; first < inner; first += tile) {
      const last = Math.min(inner, first + tile)
      for (let row = start; row < end; row++) {
        const factor = factors[row - start]
        const from = row * inner
        // Rounds to nearest: the truncated number is positive.
        for (let i = first; i < last; i++)
          codes[i * outputs + row] = ((matrix[from + i] * factor + 128.5) | 0) - 128
      }
    }
  }
}

/** The largest magnitude, or NaN if an entry is NaN. */
function largest(matrix: Float32Array, from: number, to: number): number {
  let most = 0
  for (let i = from; i < to; i++) {
    const size = Math.abs(matrix[i])
    if (!(size <= most)) most = size
    if (most !== most) break
  }
  return most
}
