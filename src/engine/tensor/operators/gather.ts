import { makeNode, type Operator, type Tensor } from '../node.ts'
import { normaliseAxis, sameShape, shapeError, sizeOf } from '../shape.ts'
import { allocate } from './elementwise.ts'

const gatherOperator: Operator = {
  name: 'gather',
  infer: (inputs, attributes) => {
    const [x, indices] = inputs
    const axis = attributes.axis as number
    if (indices.dtype !== 'int32') throw shapeError('gather', inputs, 'int32 indices')
    return {
      shape: [...x.shape.slice(0, axis), ...indices.shape, ...x.shape.slice(axis + 1)],
      dtype: x.dtype,
    }
  },
  lower: (context, node, inputs) =>
    context.emit('Gather', inputs, { axis: { int: node.attributes.axis as number } }),
  evaluate: (node, [x, indices], shape) => {
    const axis = node.attributes.axis as number
    const data = allocate(node.dtype, sizeOf(shape))
    const inner = sizeOf(x.shape.slice(axis + 1))
    const outer = sizeOf(x.shape.slice(0, axis))
    let at = 0
    for (let block = 0; block < outer; block++)
      for (const index of indices.data) {
        const from = (block * x.shape[axis] + index) * inner
        for (let i = 0; i < inner; i++) data[at++] = x.data[from + i]
      }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [x, indices] = node.inputs
    const axis = node.attributes.axis as number
    const flat = t.reshape(indices, [-1])
    // Moves the axis to the front, scatters rows, and moves it back.
    const joined = t.reshape(dy, [...x.shape.slice(0, axis), flat.shape[0], ...x.shape.slice(axis + 1)])
    if (axis === 0) return [t.scatterRows(t.zeros(x.shape), flat, joined), undefined]
    const front = [axis, ...x.shape.map((_, at) => at).filter((at) => at !== axis)]
    const back = x.shape.map((_, at) => front.indexOf(at))
    const rows = t.transpose(joined, front)
    return [t.transpose(t.scatterRows(t.zeros(front.map((at) => x.shape[at])), flat, rows), back), undefined]
  },
}

/**
 * Adds rows to `base` at indices. Rows with equal indices add up. Does not use ONNX's ScatterND, which is a
 * data race on equal indices (wrong in 42 of 50 runs with two threads), but ScatterElements.
 */
export const scatterRowsOperator: Operator = {
  name: 'scatterRows',
  infer: (inputs) => {
    const [base, indices, rows] = inputs
    if (indices.dtype !== 'int32' || !sameShape(rows.shape, [...indices.shape, ...base.shape.slice(1)]))
      throw shapeError('scatterRows', inputs, 'base [V, ...], int32 indices [N], rows [N, ...]')
    return { shape: base.shape, dtype: base.dtype }
  },
  lower: (context, node, [base, indices, rows]) => {
    const spread = node.inputs[2].shape.map((dim, axis) => (axis === 0 ? dim : 1))
    const column = context.emit('Reshape', [indices, context.int64([-1, ...spread.slice(1).map(() => 1)])])
    const full = context.emit('Expand', [column, context.shapeTensor(node.inputs[2].shape)])
    return context.emit('ScatterElements', [base, full, rows], {
      axis: { int: 0 },
      reduction: { string: 'add' },
    })
  },
  evaluate: (_, [base, indices, rows], shape) => {
    const data = base.data.slice()
    const width = sizeOf(shape.slice(1))
    indices.data.forEach((index, row) => {
      for (let i = 0; i < width; i++) data[index * width + i] += rows.data[row * width + i]
    })
    return { data, shape }
  },
  gradient: (node, dy, t) => [dy, undefined, t.gather(dy, node.inputs[1])],
}

export function scatterRows(base: Tensor, indices: Tensor, rows: Tensor): Tensor {
  return makeNode(scatterRowsOperator, [base, indices, rows])
}

/**
 * Rows of x by index along an axis (an embedding for axis 0).
 *
 * @param indices int32 of any shape, each in [0, size of the axis)
 * @returns x's shape with the axis replaced by the shape of the indices
 */
export function gather(x: Tensor, indices: Tensor, axis = 0): Tensor {
  return makeNode(gatherOperator, [x, indices], { axis: normaliseAxis('gather', x, axis) })
}

const fits = (x: Tensor, indices: Tensor) =>
  indices.dtype === 'int32' && x.shape.length > 0 && sameShape(indices.shape, x.shape.slice(0, -1))

const takeAlongOperator: Operator = {
  name: 'takeAlong',
  infer: (inputs) => {
    const [x, indices] = inputs
    if (!fits(x, indices)) throw shapeError('takeAlong', inputs, 'x [..., V] and int32 indices [...]')
    return { shape: indices.shape, dtype: x.dtype }
  },
  lower: (context, node, [x, indices]) => {
    const last = context.int64([-1])
    const column = context.emit('Unsqueeze', [indices, last])
    const taken = context.emit('GatherElements', [x, column], {
      axis: { int: node.inputs[0].shape.length - 1 },
    })
    return context.emit('Squeeze', [taken, last])
  },
  evaluate: (node, [x, indices], shape) => {
    const width = x.shape.at(-1)!
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[i * width + indices.data[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [x, indices] = node.inputs
    return [t.scatterAlong(t.zeros(x.shape), indices, dy), undefined]
  },
}

/** Adds one value to each row of base [..., V], at the index of the row. */
export const scatterAlongOperator: Operator = {
  name: 'scatterAlong',
  infer: (inputs) => {
    const [base, indices, values] = inputs
    if (!fits(base, indices) || !sameShape(values.shape, indices.shape))
      throw shapeError('scatterAlong', inputs, 'base [..., V], int32 indices [...] and values [...]')
    return { shape: base.shape, dtype: base.dtype }
  },
  lower: (context, node, [base, indices, values]) => {
    const last = context.int64([-1])
    const columns = [indices, values].map((name) => context.emit('Unsqueeze', [name, last]))
    return context.emit('ScatterElements', [base, ...columns], {
      axis: { int: node.shape.length - 1 },
      reduction: { string: 'add' },
    })
  },
  evaluate: (_, [base, indices, values], shape) => {
    const data = base.data.slice()
    const width = shape.at(-1)!
    indices.data.forEach((index, row) => {
      data[row * width + index] += values.data[row]
    })
    return { data, shape }
  },
  gradient: (node, dy, t) => [dy, undefined, t.takeAlong(dy, node.inputs[1])],
}

export function scatterAlong(base: Tensor, indices: Tensor, values: Tensor): Tensor {
  return makeNode(scatterAlongOperator, [base, indices, values])
}

/**
 * One value of each row: x[..., indices[...]].
 *
 * @param x [..., V]
 * @param indices int32 [...], each in [0, V)
 * @returns [...]
 */
export function takeAlong(x: Tensor, indices: Tensor): Tensor {
  return makeNode(takeAlongOperator, [x, indices])
}
