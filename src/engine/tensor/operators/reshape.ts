import { type Dim, makeNode, type Operator, type Shape, type Tensor } from '../node.ts'
import {
  addDims,
  broadcastOffsets,
  canonical,
  canonicalShape,
  dimTerms,
  multiplyDims,
  offsets,
  sameShape,
  shapeError,
  showShape,
  sizeOf,
  stridesOf,
} from '../shape.ts'
import { allocate } from './elementwise.ts'

export const reshapeOperator: Operator = {
  name: 'reshape',
  infer: ([x], attributes) => ({ shape: attributes.shape as Shape, dtype: x.dtype }),
  lower: (context, node, [x]) => {
    // 0 copies the size at the same position, and one -1 is inferred, so this needs no arithmetic at run time.
    const source = node.inputs[0].shape
    const static_ = node.shape.map((dim, axis) =>
      typeof dim === 'number' ? dim : dim === source[axis] ? 0 : -1,
    )
    const known = static_.filter((dim) => dim === -1).length <= 1 && !node.shape.includes(0)
    return context.emit('Reshape', [x, known ? context.int64(static_) : context.shapeTensor(node.shape)])
  },
  evaluate: (_, [x], shape) => ({ data: x.data, shape }),
  gradient: (node, dy, t) => [t.reshape(dy, node.inputs[0].shape)],
}

/** The size that -1 in `shape` stands for, or undefined if it does not divide. */
function remainder(total: Dim, known: Dim): Dim | undefined {
  if (typeof total === 'number' && typeof known === 'number')
    return total % known === 0 ? total / known : undefined
  const [over, ...more] = dimTerms(total)
  const [under, ...rest] = dimTerms(known)
  if (more.length > 0 || rest.length > 0) {
    return addDims(total, known, -1) === 0 ? 1 : undefined
  }
  const symbols = [...over.symbols]
  for (const symbol of under.symbols) {
    const at = symbols.indexOf(symbol)
    if (at < 0) return undefined
    symbols.splice(at, 1)
  }
  if (over.coefficient % under.coefficient !== 0) return undefined
  return canonical([over.coefficient / under.coefficient, ...symbols].join('*'))
}

/**
 * The same values, row-major, in another shape. Sizes may be symbols and their products. One size may be -1.
 *
 * @throws AgogeError `shape-mismatch` if the number of values differs
 */
export function reshape(x: Tensor, shape: Shape): Tensor {
  const wanted = canonicalShape(shape)
  const open = wanted.indexOf(-1)
  const total = multiplyDims(x.shape)
  if (open >= 0) {
    const rest = remainder(total, multiplyDims(wanted.filter((_, axis) => axis !== open)))
    if (rest !== undefined) wanted[open] = rest
  }
  if (multiplyDims(wanted) !== total)
    throw shapeError('reshape', [x], `a shape of the same size, not ${showShape(shape)}`)
  return sameShape(wanted, x.shape) ? x : makeNode(reshapeOperator, [x], { shape: wanted })
}

export const transposeOperator: Operator = {
  name: 'transpose',
  infer: ([x], attributes) => {
    const permutation = attributes.permutation as readonly number[]
    if (permutation.length !== x.shape.length || new Set(permutation).size !== x.shape.length)
      throw shapeError('transpose', [x], `a permutation of its axes, not [${permutation.join(', ')}]`)
    return { shape: permutation.map((axis) => x.shape[axis]), dtype: x.dtype }
  },
  lower: (context, node, inputs) =>
    context.emit('Transpose', inputs, { perm: { ints: node.attributes.permutation as readonly number[] } }),
  evaluate: (node, [x], shape) => {
    const own = stridesOf(x.shape)
    const source = offsets(
      shape,
      (node.attributes.permutation as readonly number[]).map((axis) => own[axis]),
    )
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[source[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const inverse: number[] = []
    ;(node.attributes.permutation as readonly number[]).forEach(
      (axis, position) => (inverse[axis] = position),
    )
    return [t.transpose(dy, inverse)]
  },
}

/** Permutes axes. `permutation[i]` is the input axis that becomes axis i. Default: reversed. */
export function transpose(x: Tensor, permutation?: readonly number[]): Tensor {
  return makeNode(transposeOperator, [x], {
    permutation: permutation ?? x.shape.map((_, axis) => x.shape.length - 1 - axis),
  })
}

export const broadcastToOperator: Operator = {
  name: 'broadcastTo',
  infer: ([x], attributes) => {
    const shape = attributes.shape as Shape
    const lead = shape.length - x.shape.length
    if (lead < 0 || x.shape.some((dim, axis) => dim !== 1 && dim !== shape[axis + lead]))
      throw shapeError('broadcastTo', [x], `a shape that broadcasts to ${showShape(shape)}`)
    return { shape, dtype: x.dtype }
  },
  lower: (context, node, [x]) => context.emit('Expand', [x, context.shapeTensor(node.shape)]),
  evaluate: (node, [x], shape) => {
    const source = broadcastOffsets(x.shape, shape)
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[source[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => [t.sumTo(dy, node.inputs[0].shape)],
}

/** Broadcasts x to a shape: repeats it along leading axes and axes of size 1. */
export function broadcastTo(x: Tensor, shape: Shape): Tensor {
  const wanted = canonicalShape(shape)
  return sameShape(wanted, x.shape) ? x : makeNode(broadcastToOperator, [x], { shape: wanted })
}
