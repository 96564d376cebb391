import { addDims, canonical, dimTerms, multiplyDims } from '../dimension.ts'
import { makeNode } from '../node.ts'
import { canonicalShape, sameShape, shapeError, showShape } from '../shape.ts'
import type { Dim, Operator, Shape, Tensor } from '../types.ts'

export const reshapeOperator: Operator = {
  name: 'reshape',
  infer: ([x], attributes) => ({ shape: attributes.shape as Shape, dtype: x.dtype }),
  lower: (context, node, [x]) => {
    // 0 copies the size at the same position and one -1 is worked out: no arithmetic at run time
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

/** What one -1 in `shape` stands for, or undefined when it does not divide. */
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
 * The same values, row-major, in another shape. Sizes may be symbols and products of them; one may be -1.
 *
 * @throws AgogeError `shape-mismatch` when the sizes differ
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
